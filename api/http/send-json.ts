import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * The unread body of a refused request up to this size is read and dropped, and the connection stays open.
 */
const UNREAD_BODY_KEPT_BYTES = 64 * 1024;
/** A larger one is read this far, so that the client sees the answer. Then the connection is cut. */
const UNREAD_BODY_DRAINED_BYTES = 16 * 1024 * 1024;

/** One whole JSON answer. What was not read of the request's body does not become the next request. */
export function sendJson(
  res: ServerResponse,
  status: number,
  headers: Record<string, string>,
  body: object,
): void {
  sendText(res, status, headers, JSON.stringify(body));
}

/** The same of a JSON text, or of another that `headers` tell. */
export function sendText(
  res: ServerResponse,
  status: number,
  headers: Record<string, string>,
  text: string,
): void {
  if (res.destroyed) return;
  const head: Record<string, string> = {
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(text)),
    ...headers,
  };
  if (!leavesLargeBody(res.req)) {
    // Node drops a small rest by itself, and the connection lives on.
    res.writeHead(status, head).end(text);
    return;
  }
  res.writeHead(status, { ...head, connection: 'close' });
  if (waitsForContinue(res.req)) res.end(text);
  else drainThenEnd(res, text);
}

function leavesLargeBody(req: IncomingMessage): boolean {
  if (req.complete) return false;
  if (req.headers['transfer-encoding'] !== undefined) return true;
  return Number(req.headers['content-length'] ?? 0) > UNREAD_BODY_KEPT_BYTES;
}

/** The sender was not told to go on, so there is nothing to drain. */
const waitsForContinue = (req: IncomingMessage): boolean =>
  req.headers.expect !== undefined && !req.readableDidRead;

/**
 * The answer goes out whole at once; the end, and with it the closing of the connection, waits for the
 * sender. Closed earlier, the connection would be reset under a sender that still writes, and the answer
 * lost. How long it may take is bounded by the server's request time-out.
 */
function drainThenEnd(res: ServerResponse, text: string): void {
  const { req } = res;
  let left = UNREAD_BODY_DRAINED_BYTES;
  const onData = (chunk: Buffer) => {
    left -= chunk.length;
    if (left < 0) finish();
  };
  const finish = () => {
    req.off('data', onData).off('end', finish).off('close', finish);
    res.end();
  };
  res.write(text);
  req.on('data', onData).on('end', finish).on('close', finish).resume();
}
