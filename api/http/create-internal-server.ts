import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { isIP } from 'node:net';
import type { Registry } from 'prom-client';
import { isLoopbackName } from '#core/loopback.ts';
import { errorBody } from '../contract/error-body.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import type { AnswerIds } from './broken-request.ts';
import { createHttpServer, listen } from './create-http-server.ts';
import { sendJson } from './send-json.ts';

/**
 * Each check by its name. Its answer is `true`, or why not: `false`, or a sentence. A warning is a sentence for the operator that
 * leaves the process ready. Checks read a state that others keep up to date: a probe does no I/O of its own.
 */
export type Checks = Readonly<Record<string, () => CheckAnswer>>;

export type CheckAnswer = boolean | string | { warning: string };

export interface InternalServerParts {
  checks: Checks;
  metrics: Registry;
  /** Everything below `/admin`, the path as sent; `null` where nothing is administered. */
  admin: RequestListener | null;
  answerIds: AnswerIds;
  /** DNS names that `/metrics` answers besides addresses and localhost. */
  hostNames: readonly string[];
}

export interface InternalServer {
  /** Resolves with the port. */
  listen(port: number, host: string): Promise<number>;
  /** The start is over: from now on with these. */
  begin(parts: Pick<InternalServerParts, 'checks' | 'admin'>): void;
  close(): Promise<void>;
}

/** For the operator, on a port of its own: `/livez`, `/readyz`, `/metrics`, `/admin/…`. */
export function createInternalServer(parts: InternalServerParts): InternalServer {
  const { metrics, answerIds } = parts;
  let { checks, admin } = parts;
  const isOwnHost = createOwnHostCheck(parts.hostNames);
  const server = createHttpServer((req, res) => {
    const [path = ''] = (req.url ?? '').split('?');
    if (admin !== null && path.startsWith('/admin/')) admin(req, res);
    else if (req.method !== 'GET' && req.method !== 'HEAD') notFound(res);
    else if (path === '/livez') sendJson(res, 200, NO_STORE, { status: 'live' });
    // Probes come under any name, and a status alone tells a stranger's page nothing.
    else if (path === '/readyz') answerReady(res, checks, isOwnHost(req));
    else if (path === '/metrics' && !isOwnHost(req)) refuseHost(res);
    else if (path === '/metrics') answerMetrics(req, res, metrics);
    else notFound(res);
  }, answerIds);
  return {
    listen: (port, host) => listen(server, port, host),
    begin(parts) {
      ({ checks, admin } = parts);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const NO_STORE = { 'cache-control': 'no-store' };

const refuse = (res: ServerResponse, status: number, error: ApiError): void =>
  sendJson(res, status, NO_STORE, errorBody(error, 'chat'));

const notFound = (res: ServerResponse): void => refuse(res, 404, apiError('not_found'));

const FOREIGN_HOST =
  'Metrics are not served under this host name. Ask by address or localhost, or add the name to server.internalHostNames.';

const refuseHost = (res: ServerResponse): void =>
  refuse(res, MISDIRECTED, apiError('invalid_request', { message: FOREIGN_HOST }));

/** RFC 9110, 15.5.20: a request to a server that does not answer for its host. */
const MISDIRECTED = 421;

function answerReady(res: ServerResponse, checks: Checks, tellsWhy: boolean): void {
  const found = Object.entries(checks).map(([name, check]) => [name, read(check)] as const);
  const failing = found.flatMap(([name, answer]) => (holds(answer) ? [] : [name]));
  const reasons = Object.fromEntries(found.filter(([, answer]) => typeof answer === 'string'));
  if (failing.length === 0)
    sendJson(res, 200, NO_STORE, { status: 'ready', ...(tellsWhy && warningsOf(found)) });
  else if (!tellsWhy) sendJson(res, 503, NO_STORE, { status: 'not ready' });
  else if (Object.keys(reasons).length === 0) sendJson(res, 503, NO_STORE, { status: 'not ready', failing });
  else sendJson(res, 503, NO_STORE, { status: 'not ready', failing, reasons });
}

const holds = (answer: CheckAnswer): boolean => answer === true || typeof answer === 'object';

/** @returns The member `warnings`, or no member where there is no warning. */
function warningsOf(found: readonly (readonly [name: string, CheckAnswer])[]): { warnings?: object } {
  const warnings = found.flatMap(([name, answer]) =>
    typeof answer === 'object' ? [[name, answer.warning] as const] : [],
  );
  return warnings.length === 0 ? {} : { warnings: Object.fromEntries(warnings) };
}

function read(check: () => CheckAnswer): CheckAnswer {
  try {
    return check();
  } catch {
    return false;
  }
}

function answerMetrics(req: IncomingMessage, res: ServerResponse, metrics: Registry): void {
  metrics.metrics().then(
    (text) => {
      res.writeHead(200, { ...NO_STORE, 'content-type': metrics.contentType });
      res.end(req.method === 'HEAD' ? '' : text);
    },
    () => refuse(res, 500, apiError('gateway_error')),
  );
}

/**
 * Whether a request names us as we are meant to be reached. A web page can lead a DNS name of its own to an address of ours and
 * then read the answers ("DNS rebinding"), but it cannot do that to an address or to `localhost`. `names`: in small letters; `*.`
 * before one stands for every name below it.
 */
function createOwnHostCheck(names: readonly string[]): (req: Pick<IncomingMessage, 'headers'>) => boolean {
  const exact = new Set(names.filter((name) => !name.startsWith('*.')));
  const suffixes = names.filter((name) => name.startsWith('*.')).map((name) => name.slice(1));
  return ({ headers }) => {
    // Only HTTP/1.0 has none, which no browser speaks.
    if (headers.host === undefined) return true;
    const name = nameIn(headers.host);
    if (isIP(name) !== 0 || isLoopbackName(name)) return true;
    return exact.has(name) || suffixes.some((suffix) => name.endsWith(suffix));
  };
}

/** Without the port, the brackets of an IPv6 address and the dot that ends an absolute name; in small letters. */
function nameIn(host: string): string {
  if (host.startsWith('[')) return host.slice(1, Math.max(1, host.indexOf(']')));
  const colon = host.lastIndexOf(':');
  const name = (colon === -1 ? host : host.slice(0, colon)).toLowerCase();
  return name.endsWith('.') ? name.slice(0, -1) : name;
}
