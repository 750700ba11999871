import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { SECOND_MS, systemClock } from '#core/clock.ts';
import { CONNECTIONS_MAX, HEADERS_BYTES, KEEP_ALIVE_MS, STALLED_READER_MS } from '#core/limits.ts';
import {
  type AnswerIds,
  answerBrokenRequest,
  awaitsUs,
  hostFault,
  noteAnswer,
  refuseExpectation,
  refuseHost,
  refuseTunnel,
} from './broken-request.ts';
import { type ConnectionLimit, limitConnections } from './connection-limit.ts';

export interface ServerLimits {
  headersBytes: number;
  /** From the first byte of a request to the end of its headers. */
  headersTimeoutMs: number;
  /** From the first byte of a request to the last of its body. */
  requestTimeoutMs: number;
  keepAliveMs: number;
  /** A reader that takes nothing of what waits for it for so long has gone. */
  stalledReaderMs: number;
  /** How often Node checks the timeouts of headers and requests. */
  connectionsCheckMs: number;
  connectionsMax: number;
}

export interface ServerOptions extends Partial<ServerLimits>, AnswerIds {
  /** Default: an address may have any number of connections. */
  connectionLimit?: Pick<ConnectionLimit, 'admit'>;
}

const defaultLimits: ServerLimits = {
  headersBytes: HEADERS_BYTES,
  headersTimeoutMs: 10 * SECOND_MS,
  requestTimeoutMs: 30 * SECOND_MS,
  keepAliveMs: KEEP_ALIVE_MS,
  stalledReaderMs: STALLED_READER_MS,
  connectionsCheckMs: 5 * SECOND_MS,
  connectionsMax: CONNECTIONS_MAX,
};

/**
 * A server that bounds what a client may take of it, and answers even a broken request in our error shape.
 */
export function createHttpServer(listener: RequestListener, options: ServerOptions): Server {
  const bounds = { ...defaultLimits, ...options };
  const server = createServer({
    maxHeaderSize: bounds.headersBytes,
    headersTimeout: bounds.headersTimeoutMs,
    requestTimeout: bounds.requestTimeoutMs,
    keepAliveTimeout: bounds.keepAliveMs,
    connectionsCheckingInterval: bounds.connectionsCheckMs,
    // Never lenient: a request that two parsers read differently can smuggle a second one.
    insecureHTTPParser: false,
    // Required all the same, with an answer of ours.
    requireHostHeader: false,
  });
  server.maxConnections = bounds.connectionsMax;
  if (options.connectionLimit !== undefined) limitConnections(server, options.connectionLimit);
  cutStalledReaders(server, bounds.stalledReaderMs, bounds.connectionsCheckMs);
  const serve = (req: IncomingMessage, res: ServerResponse) => {
    noteAnswer(req, res);
    if (req.url?.startsWith('/') === false) req.url = originForm(req.url);
    const fault = hostFault(req);
    if (fault === null) listener(req, res);
    else refuseHost(res, fault, options);
  };
  server.on('request', serve);
  // Node would tell the client to go on before anybody looked at its key; `readBody` does it.
  server.on('checkContinue', serve);
  server.on('checkExpectation', (_req, res) => refuseExpectation(res, options));
  server.on('connect', (_req, socket) => refuseTunnel(socket, options));
  server.on('clientError', (error, socket) => answerBrokenRequest(error, socket, options));
  return server;
}

/** RFC 9112, 3.2.2: a server takes the whole address, too, as proxies are asked. Each route reads a path. */
const originForm = (target: string): string => target.replace(/^https?:\/\/[^/?#]*(?=\/)/i, '');

/** Resolves with the port: another than asked for when that was 0. */
export async function listen(server: Server, port: number, host: string): Promise<number> {
  // Rejects with an error of the server, too.
  await once(server.listen(port, host), 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}

/**
 * Cuts who takes nothing of what waits for it: else ten thousand readers of nothing, by one link to a file or without any
 * key, would keep every connection for ever. Node times a connection only from the look that found something waiting there:
 * timed from its first byte, each request would cost several timers.
 */
function cutStalledReaders(server: Server, stalledReaderMs: number, lookEveryMs: number): void {
  const connections = connectionsOf(server);
  const look = () => {
    for (const socket of connections) {
      const isTimed = Boolean(socket.timeout);
      if (socket.writableLength > 0 && !isTimed) socket.setTimeout(stalledReaderMs);
    }
    timer = systemClock.setTimer(lookEveryMs, look);
  };
  let timer = { cancel: () => {} };
  server.once('listening', look);
  server.once('close', () => timer.cancel());
  // Idle ones end here, too, by Node's time between two requests.
  server.on('timeout', (socket) => {
    if (awaitsUs(socket)) socket.setTimeout(0);
    else socket.destroy();
  });
}

/** Those that are open at any time: Node tells of each that comes, and lists none. */
export function connectionsOf(server: Server): ReadonlySet<Socket> {
  const connections = new Set<Socket>();
  server.on('connection', (socket) => {
    // A connection that was refused is never served.
    if (socket.destroyed) return;
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  return connections;
}
