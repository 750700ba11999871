import { createHash } from 'node:crypto';

const CHUNK_BYTES = 64 * 1024;
const HEAD = Buffer.from('\0\0\0\x10ftypisom\0\0\0\0', 'latin1');

/** What begins as an MP4 does, and is the same each time. */
export function* filmBytes(bytes: number): Generator<Buffer> {
  yield HEAD;
  for (let at = HEAD.length, chunk = 0; at < bytes; at += CHUNK_BYTES, chunk++) {
    yield Buffer.alloc(Math.min(CHUNK_BYTES, bytes - at), chunk);
  }
}

export async function sha256Of(chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunks) hash.update(chunk);
  return hash.digest('hex');
}
