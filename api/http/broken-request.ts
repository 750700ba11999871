import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { IdSource } from '#core/ids.ts';
import { errorBody, errorStatus } from '../contract/error-body.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import { commonHeaders } from '../contract/headers.ts';
import { headerValues } from './header-values.ts';
import { renderError } from './render-error.ts';

/** Every answer has an id that can be quoted to the operator, though none of these is a call. */
export interface AnswerIds {
  ids: IdSource;
  callIdHeader: string;
}

const ANSWER = Symbol('latest answer');
const BEFORE = Symbol('the unfinished answer before');
const BROKEN = Symbol('broken');
const OWN_DEADLINE = Symbol('own deadline');
interface EdgeSocket extends Duplex {
  [OWN_DEADLINE]?: boolean;
  [ANSWER]?: ServerResponse | null;
  [BROKEN]?: true;
}

/** Of a request that was sent before the answer to the last one had ended. */
interface QueuedAnswer extends ServerResponse {
  [BEFORE]?: ServerResponse | null;
}

/** Remembers, on its socket, the answer that a broken request may run into. */
export function noteAnswer(req: IncomingMessage, res: QueuedAnswer): void {
  const socket: Socket & EdgeSocket = req.socket;
  const before = socket[ANSWER] ?? null;
  if (before !== null && !before.writableFinished) queueBehind(before, res);
  socket[ANSWER] = res;
}

/** Only until it has ended itself: else who never stops to send the next before the last has ended is kept whole. */
function queueBehind(before: ServerResponse, res: QueuedAnswer): void {
  res[BEFORE] = before;
  res.once('close', () => {
    res[BEFORE] = null;
  });
}

/** Of an answer that has ended: an idle connection would keep all that its last call was made of. */
export function forgetAnswer(res: ServerResponse): void {
  const socket: Socket & EdgeSocket = res.req.socket;
  if (socket[ANSWER] === res) socket[ANSWER] = null;
}

/** The connection's latest answer says that it is its last, where its head has not gone out yet. */
export function closeAfterAnswer(socket: EdgeSocket): void {
  const latest = socket[ANSWER] ?? null;
  if (latest !== null && !latest.headersSent) latest.shouldKeepAlive = false;
}

/** Whether a silent connection's client waits: for an answer, or more of one, and has taken all that there was. */
export function awaitsUs(socket: EdgeSocket): boolean {
  const latest = socket[ANSWER] ?? null;
  return latest !== null && !latest.writableFinished && socket.writableLength === 0;
}

/**
 * A request that may take longer than others, because whoever serves it ends it: Node knows one time for all. Answers
 * what to call at its end.
 */
export function ownDeadline({ socket }: { socket: EdgeSocket }): () => void {
  socket[OWN_DEADLINE] = true;
  return () => {
    socket[OWN_DEADLINE] = false;
  };
}

/**
 * Of Node's parser: bytes that are no HTTP request, headers that are too large, a request that takes too
 * long. The connection always ends, since nobody can say where a next request would start.
 */
export function answerBrokenRequest(
  error: Error & { code?: string },
  socket: EdgeSocket,
  answerIds: AnswerIds,
): void {
  // Whatever else comes in on a connection that is about to end is no news.
  if (socket[BROKEN]) return;
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && socket[OWN_DEADLINE]) return;
  socket[BROKEN] = true;
  const latest = socket[ANSWER] ?? null;
  const pending = latest !== null && !latest.writableFinished;
  if (!socket.writable || error.code === 'ECONNRESET') socket.destroy();
  else if (pending && latest.req.complete) endAfter(latest, socket);
  // Part of an answer is out, or answers to earlier requests are to come first: a second head would corrupt
  // them.
  else if (pending && (latest.headersSent || latest.socket === null)) socket.destroy();
  else socket.end(rawAnswer(refusalOf(error.code), answerIds), () => socket.destroy());
}

/** Of the last connections of a process that ends: a request that is still being received is refused; an answer goes on. */
export function endUnreceived(socket: EdgeSocket, answerIds: AnswerIds): void {
  const latest = socket[ANSWER] ?? null;
  if (latest === null || latest.req.complete) return;
  socket[OWN_DEADLINE] = false;
  const error = Object.assign(new Error('no more time'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
  answerBrokenRequest(error, socket, answerIds);
}

/**
 * Garbage behind a whole request, such as the rest of a body whose length was counted in characters. That
 * request may have been run and charged: it gets its own answer, never this 400.
 */
function endAfter(answer: ServerResponse, socket: EdgeSocket): void {
  if (!answer.headersSent) answer.shouldKeepAlive = false;
  answer.on('close', () => socket.destroy());
}

function refusalOf(code: string | undefined): ApiError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return apiError('request_too_large', {
        message: 'The headers are over 16 KB; send fewer or shorter ones.',
      });
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return apiError('request_too_large', { message: 'The chunk extensions are too large; send none.' });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return apiError('timeout', { message: 'The request did not arrive in time; send it again.' });
    default:
      return apiError('invalid_request', { message: 'This is not a valid HTTP/1.1 request.' });
  }
}

function rawAnswer(error: ApiError, { ids, callIdHeader }: AnswerIds): string {
  const status = errorStatus(error.code, 'chat');
  const body = JSON.stringify(errorBody(error, 'chat'));
  const headers = commonHeaders({ callId: ids.next(), callIdHeader, shape: 'chat' });
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/** CONNECT asks for a tunnel, which Node hands over as a bare socket: an unknown method like any other. */
export function refuseTunnel(socket: EdgeSocket, answerIds: AnswerIds): void {
  socket.on('error', () => socket.destroy());
  const latest = socket[ANSWER] ?? null;
  if (latest === null || latest.writableFinished) {
    socket.end(rawAnswer(apiError('not_found'), answerIds), () => socket.destroy());
    return;
  }
  // An answer that is to come first would be taken for this one's. Node has let go of the connection: those that wait for
  // their turn would never hear of its end.
  for (let answer: QueuedAnswer | null = latest; answer !== null; answer = answer[BEFORE] ?? null) {
    answer.destroy();
  }
  socket.destroy();
}

/** Why a request is refused for its Host (RFC 9112, 3.2); `null`: it has one, or it is HTTP/1.0 and needs none. */
export function hostFault(req: IncomingMessage): string | null {
  const [host, second] = headerValues(req, 'host');
  if (host === undefined)
    return req.httpVersionMinor === 1 ? 'An HTTP/1.1 request needs a Host header.' : null;
  if (second !== undefined) return 'A request needs exactly one Host header.';
  return HOST.test(host)
    ? null
    : 'The Host header must be a host name or an address, with or without a port.';
}

/** The comma that a name may have by the RFC is left out: proxies join two headers by it. */
const HOST = /^(?:\[[\da-f:.]+(?:%25[\w.~-]+)?\]|[\w.~%!$&'()*+;=-]+)(?::\d{0,5})?$/i;

export const refuseHost = (res: ServerResponse, fault: string, answerIds: AnswerIds): void =>
  refuseAndClose(res, fault, answerIds);

/** An `Expect` other than 100-continue. Node would answer 417 without a body. */
export const refuseExpectation = (res: ServerResponse, answerIds: AnswerIds): void =>
  refuseAndClose(res, 'Of the Expect header only 100-continue is understood.', answerIds);

function refuseAndClose(res: ServerResponse, message: string, { ids, callIdHeader }: AnswerIds): void {
  res.shouldKeepAlive = false;
  const facts = { shape: 'chat', callId: ids.next(), callIdHeader } as const;
  renderError(res, apiError('invalid_request', { message }), facts);
}
