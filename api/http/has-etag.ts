import type { IncomingMessage } from 'node:http';
import { hasHeader } from './has-header.ts';

/** Whether the client says (`if-none-match`) that it has this version. A proxy may have made the tag a weak one. */
export const hasEtag = (req: IncomingMessage, etag: string): boolean =>
  hasHeader(req, 'if-none-match') &&
  (req.headers['if-none-match'] ?? '')
    .split(',')
    .some((each) => each.trim() === '*' || each.trim().replace(/^W\//, '') === etag);
