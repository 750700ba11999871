import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';

export type DecodedBody = Buffer | 'too_large' | 'broken' | 'unknown';

type Decoder = (body: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>;

const decoders: ReadonlyMap<string, Decoder> = new Map<string, Decoder>([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
  ['zstd', promisify(zstdDecompress)],
]);

/** The ways in which a body may be compressed, as a refusal names them. */
export const ENCODINGS = 'gzip, deflate, br or zstd';

/** Whether a `Content-Encoding` says that the body is compressed. */
export const isCompressed = (encoding: string | undefined): encoding is string =>
  encoding !== undefined && encoding !== '' && encoding.trim().toLowerCase() !== 'identity';

export const isKnownEncoding = (encoding: string): boolean => decoders.has(encoding.trim().toLowerCase());

/** Decompresses a body, beside the event loop, to at most `bytesMax` bytes. */
export async function decodeBody(body: Buffer, encoding: string, bytesMax: number): Promise<DecodedBody> {
  const decoder = decoders.get(encoding.trim().toLowerCase());
  if (decoder === undefined) return 'unknown';
  try {
    return await decoder(body, { maxOutputLength: bytesMax });
  } catch (error) {
    const isTooLarge =
      error instanceof RangeError && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    return isTooLarge ? 'too_large' : 'broken';
  }
}
