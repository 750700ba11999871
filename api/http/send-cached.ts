import type { IncomingMessage, ServerResponse } from 'node:http';
import { headerValues } from './header-values.ts';

/** Whether the client says (`if-none-match`) that it has this version. A proxy may have made the tag a weak one. */
export const hasEtag = (req: IncomingMessage, etag: string): boolean =>
  headerValues(req, 'if-none-match').length > 0 &&
  (req.headers['if-none-match'] ?? '')
    .split(',')
    .some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === etag);

/** Sends bytes, or only the head to a client that has this version. */
export function sendCached(
  res: ServerResponse,
  head: Record<string, string> & { etag: string },
  { contentType, bytes, encoding = {} }: { contentType: string; bytes: Buffer; encoding?: object },
): void {
  if (hasEtag(res.req, head.etag)) {
    res.writeHead(304, head).end();
    return;
  }
  const ofBody = { 'content-type': contentType, 'content-length': String(bytes.length) };
  res.writeHead(200, { ...head, ...encoding, ...ofBody }).end(bytes);
}
