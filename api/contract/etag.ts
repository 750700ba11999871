import { createHash } from 'node:crypto';

/** The value of `etag` for an answer with this content. */
export const etagOf = (content: string | Buffer): string => `"${digestOf(content)}"`;

/** 132 bits of a hash, in characters that an `etag` may hold. Equal digests mean equal contents. */
export const digestOf = (content: string | Buffer): string =>
  createHash('sha256').update(content).digest('base64url').slice(0, 22);
