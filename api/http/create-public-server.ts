import type { RequestListener, Server, ServerResponse } from 'node:http';
import { closeAfterAnswer, forgetAnswer } from './broken-request.ts';
import { connectionsOf } from './connections-of.ts';
import { createHttpServer, listen, type ServerOptions } from './create-http-server.ts';

export interface PublicServer {
  /** Resolves with the port. */
  listen(port: number, host: string): Promise<number>;
  openRequests(): number;
  draining(): boolean;
  /** From now on every answer closes its connection; whoever comes late is still served. */
  beginDrain(): void;
  /**
   * Resolves when no request is open, and nobody is listened to any more; running streams may take as long as they take.
   * Idle connections are closed only then: a request may be on its way on any of them.
   */
  endDrain(): Promise<void>;
  /** Cuts what is still open: the end of a drain that took too long. */
  destroy(): void;
}

export function createPublicServer(listener: RequestListener, options: ServerOptions): PublicServer {
  // Counted, not listed: a place in a list would cost each as much as finding its route.
  let open = 0;
  let draining = false;
  let drained: Promise<void> | null = null;
  let allClosed: () => void = () => undefined;

  // One function for all requests: a closure per request costs a fifth more CPU (garbage).
  function onClose(this: ServerResponse): void {
    open -= 1;
    forgetAnswer(this);
    if (drained !== null && open === 0) allClosed();
  }
  const server: Server = createHttpServer((req, res) => {
    open += 1;
    res.on('close', onClose);
    if (draining) res.shouldKeepAlive = false;
    listener(req, res);
  }, options);
  const connections = connectionsOf(server);

  return {
    listen: (port, host) => listen(server, port, host),
    openRequests: () => open,
    draining: () => draining,
    beginDrain() {
      draining = true;
      connections.forEach(closeAfterAnswer);
    },
    endDrain() {
      this.beginDrain();
      drained ??= new Promise<void>((resolve) => {
        allClosed = () => {
          server.close();
          // An answer whose head went out before the drain left its connection open.
          setImmediate(() => server.closeIdleConnections());
          resolve();
        };
        if (open === 0) allClosed();
      });
      return drained;
    },
    destroy: () => server.closeAllConnections(),
  };
}
