import { createHash } from 'node:crypto';

/** As it goes out, to everybody who asks for the same within a second. */
export interface ReadyAnswer {
  body: Buffer;
  etag: string;
  /** Names and values in turn, as `writeHead` takes them. */
  headers: readonly string[];
  /** Of an answer without a body, for who has this one. */
  unchangedHeaders: readonly string[];
}

/** Spec: Limits, market response cache. */
const CACHE = 'public, max-age=1';

export function readyAnswer(body: Buffer, etag = etagOf(body)): ReadyAnswer {
  const unchangedHeaders = ['etag', etag, 'cache-control', CACHE, 'x-content-type-options', 'nosniff'];
  const ofBody = ['content-type', 'application/json', 'content-length', String(body.length)];
  return { body, etag, headers: [...ofBody, ...unchangedHeaders], unchangedHeaders };
}

export const readyJson = (answer: object): ReadyAnswer => readyAnswer(Buffer.from(JSON.stringify(answer)));

const etagOf = (body: Buffer): string => `"${digestOf(body)}"`;

export const digestOf = (bytes: Buffer): string =>
  createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
