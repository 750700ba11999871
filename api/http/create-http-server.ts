import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { SECOND_MS } from '#core/clock.ts';
import { CONNECTIONS_MAX, HEADERS_BYTES, KEEP_ALIVE_MS, STALLED_READER_MS } from '#core/limits.ts';
import {
  type AnswerIds,
  answerBrokenRequest,
  lacksHost,
  noteAnswer,
  refuseExpectation,
  refuseMissingHost,
  refuseTunnel,
} from './broken-request.ts';
import { type ConnectionLimit, limitConnections } from './connection-limit.ts';
import { cutStalledReaders } from './cut-stalled-readers.ts';

/** Time for the headers of a request, and for all of it. */
const HEADERS_TIMEOUT_MS = 10 * SECOND_MS;
const REQUEST_TIMEOUT_MS = 30 * SECOND_MS;
/** How often Node checks these two timeouts. */
const CONNECTIONS_CHECK_MS = 5 * SECOND_MS;

export interface ServerLimits {
  headersBytes: number;
  /** From the first byte of a request to the end of its headers. */
  headersTimeoutMs: number;
  /** From the first byte of a request to the last of its body. */
  requestTimeoutMs: number;
  keepAliveMs: number;
  /** A reader that takes nothing of what waits for it for so long has gone. */
  stalledReaderMs: number;
  connectionsCheckMs: number;
  connectionsMax: number;
}

export interface ServerOptions extends Partial<ServerLimits>, AnswerIds {
  /** Default: an address may have any number of connections. */
  connectionLimit?: Pick<ConnectionLimit, 'admit'>;
}

const defaultLimits: ServerLimits = {
  headersBytes: HEADERS_BYTES,
  headersTimeoutMs: HEADERS_TIMEOUT_MS,
  requestTimeoutMs: REQUEST_TIMEOUT_MS,
  keepAliveMs: KEEP_ALIVE_MS,
  stalledReaderMs: STALLED_READER_MS,
  connectionsCheckMs: CONNECTIONS_CHECK_MS,
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
    if (lacksHost(req)) refuseMissingHost(res, options);
    else listener(req, res);
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
export function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve(portOf(server.address()));
    });
  });
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return address.port;
}
