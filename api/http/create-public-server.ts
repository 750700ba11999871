import type { RequestListener, Server, ServerResponse } from 'node:http';
import { MINUTE_MS, SECOND_MS, systemClock } from '#core/clock.ts';
import { closeAfterAnswer, endUnreceived, forgetAnswer } from './broken-request.ts';
import { connectionsOf, createHttpServer, listen, type ServerOptions } from './create-http-server.ts';

/**
 * Time for a request that arrived after the notice of a shutdown, counted from the end of everything that
 * was open then. No client can keep a process alive.
 */
const LAST_REQUESTS_MS = 10 * SECOND_MS;
/**
 * Time for the answers to those. They are not calls, and a client that reads a file slowly can ask another
 * process for the rest.
 */
const LAST_ANSWERS_MS = MINUTE_MS;

export interface PublicServer {
  /** Resolves with the port. */
  listen(port: number, host: string): Promise<number>;
  openRequests(): number;
  draining(): boolean;
  /** From now on every answer closes its connection; whoever comes late is still served. */
  beginDrain(): void;
  /**
   * Resolves when no request is open, and nobody is listened to any more; what was open already may take as long as it takes.
   * Whoever came later has a short time from then on to send the rest of a request: else one who sends bodies byte by byte,
   * each before the last has ended, would keep the process from its end; and a minute more to read the answer. Idle
   * connections are closed only then: a request may be on its way on any of them.
   */
  endDrain(): Promise<void>;
  /** Cuts what is still open: the end of a drain that took too long. */
  destroy(): void;
}

export interface PublicServerOptions extends ServerOptions {
  lastRequestsMs?: number;
  lastAnswersMs?: number;
}

export function createPublicServer(listener: RequestListener, options: PublicServerOptions): PublicServer {
  const { lastRequestsMs = LAST_REQUESTS_MS, lastAnswersMs = LAST_ANSWERS_MS } = options;
  const open = countRequests();
  /** Requests that came after `endDrain`. */
  const late = countRequests();
  let draining = false;
  let drained: Promise<void> | null = null;

  const server: Server = createHttpServer((req, res) => {
    (drained === null ? open : late).add(res);
    if (draining) res.shouldKeepAlive = false;
    listener(req, res);
  }, options);
  const connections = connectionsOf(server);

  /** Nobody is listened to any more; resolves when those who came late have their answers. */
  async function endLate(): Promise<void> {
    server.close();
    if (late.count() > 0) {
      // Time and again: Node has stopped to look at its time-outs, and a head may be completed at any time.
      const look = () => {
        for (const socket of connections) endUnreceived(socket, options);
        timer = systemClock.setTimer(SECOND_MS, look);
      };
      let timer = systemClock.setTimer(lastRequestsMs, look);
      const cut = systemClock.setTimer(lastRequestsMs + lastAnswersMs, () => server.closeAllConnections());
      await late.none();
      timer.cancel();
      cut.cancel();
    }
    // An answer whose head went out before the drain left its connection open.
    setImmediate(() => server.closeIdleConnections());
  }

  return {
    listen: (port, host) => listen(server, port, host),
    openRequests: () => open.count() + late.count(),
    draining: () => draining,
    beginDrain() {
      draining = true;
      connections.forEach(closeAfterAnswer);
    },
    endDrain() {
      this.beginDrain();
      drained ??= open.none().then(endLate);
      return drained;
    },
    destroy: () => server.closeAllConnections(),
  };
}

/** Requests are counted and not listed: a place in a list would cost each as much as finding its route. */
function countRequests() {
  let count = 0;
  let onNone: () => void = () => undefined;
  // One function for all requests: a closure per request costs a fifth more CPU (garbage).
  function onClose(this: ServerResponse): void {
    count -= 1;
    endAnswer(this);
    if (count === 0) onNone();
  }
  return {
    add(res: ServerResponse): void {
      count += 1;
      res.on('close', onClose);
    },
    count: () => count,
    /** Resolves once no request is open. */
    none: (): Promise<void> =>
      new Promise((resolve) => {
        onNone = resolve;
        if (count === 0) resolve();
      }),
  };
}

/** Ended before its turn has come, and not by its connection's end: whoever waits for it would wait for ever. */
function endAnswer(res: ServerResponse): void {
  forgetAnswer(res);
  if (res.socket === null && !res.writableFinished) res.once('socket', (socket) => socket.destroy());
}
