import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorBody, errorStatus } from '../contract/error-body.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import { sendJson } from './send-json.ts';

const ANSWER = Symbol('latest answer');
interface EdgeSocket extends Duplex {
  [ANSWER]?: ServerResponse;
}

/** Remembers, on its socket, the answer that a broken request may run into. */
export function noteAnswer(req: IncomingMessage, res: ServerResponse): void {
  const socket: Socket & EdgeSocket = req.socket;
  socket[ANSWER] = res;
}

/**
 * Of Node's parser: bytes that are no HTTP request, headers that are too large, a request that takes too long. The
 * connection always ends, since nobody can say where a next request would start.
 */
export function answerBrokenRequest(error: Error & { code?: string }, socket: EdgeSocket): void {
  if (!socket.writable || error.code === 'ECONNRESET' || !canAnswer(socket[ANSWER])) {
    socket.destroy();
    return;
  }
  socket.end(rawAnswer(refusalOf(error.code)), () => socket.destroy());
}

/**
 * Only where no other answer's bytes get in between: the request before was answered whole, or it is this very
 * request whose body is broken and nothing of its answer has gone out.
 */
function canAnswer(latest: ServerResponse | undefined): boolean {
  if (latest === undefined || latest.writableFinished) return true;
  return !latest.req.complete && !latest.headersSent && latest.socket !== null;
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

function rawAnswer(error: ApiError): string {
  const status = errorStatus(error.code, 'chat');
  const body = JSON.stringify(errorBody(error, 'chat'));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'X-Content-Type-Options: nosniff',
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}

/** An `Expect` other than 100-continue. Node would answer 417 without a body. */
export function refuseExpectation(_req: IncomingMessage, res: ServerResponse): void {
  const error = apiError('invalid_request', {
    message: 'Of the Expect header only 100-continue is understood.',
  });
  sendJson(res, 400, { connection: 'close' }, errorBody(error, 'chat'));
}
