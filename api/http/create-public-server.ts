import type { RequestListener, Server, ServerResponse } from 'node:http';
import { Roster } from '#core/roster.ts';
import { forgetAnswer } from './broken-request.ts';
import { createHttpServer, listen, type ServerOptions } from './create-http-server.ts';

export interface PublicServer {
  /** Resolves with the port. */
  listen(port: number, host: string): Promise<number>;
  openRequests(): number;
  draining(): boolean;
  /**
   * No new connections, `connection: close` on every answer from now on, idle connections closed. Resolves
   * when no request is open; running streams may take as long as they take.
   */
  beginDrain(): Promise<void>;
  /** Cuts what is still open: the end of a drain that took too long. */
  destroy(): void;
}

export function createPublicServer(listener: RequestListener, options: ServerOptions): PublicServer {
  const open = new Roster<ServerResponse>();
  let drained: Promise<void> | null = null;
  let allClosed: () => void = () => undefined;

  // One function for all requests: a closure per request costs a fifth more CPU (garbage).
  function onClose(this: ServerResponse): void {
    open.delete(this);
    forgetAnswer(this);
    if (drained === null) return;
    if (open.size === 0) allClosed();
    // An answer whose head went out before the drain left its connection open.
    setImmediate(closeIdle);
  }
  const server: Server = createHttpServer((req, res) => {
    open.add(res);
    res.on('close', onClose);
    if (drained !== null) res.shouldKeepAlive = false;
    listener(req, res);
  }, options);
  const closeIdle = () => server.closeIdleConnections();

  return {
    listen: (port, host) => listen(server, port, host),
    openRequests: () => open.size,
    draining: () => drained !== null,
    beginDrain() {
      if (drained !== null) return drained;
      drained = new Promise((resolve) => {
        allClosed = resolve;
      });
      for (const res of open) if (!res.headersSent) res.shouldKeepAlive = false;
      server.close();
      closeIdle();
      if (open.size === 0) allClosed();
      return drained;
    },
    destroy: () => server.closeAllConnections(),
  };
}
