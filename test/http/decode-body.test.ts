import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { decodeBody, isCompressed, isKnownEncoding } from '../../api/http/decode-body.ts';

const BYTES_MAX = 100_000;
const plain = Buffer.from(JSON.stringify({ text: 'a'.repeat(5_000) }));
const ways = [
  ['gzip', gzipSync],
  ['X-Gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
  [' zstd ', zstdCompressSync],
] as const;

describe('a body that is compressed', () => {
  it.each(ways)('is read where it is in %s', async (encoding, compress) => {
    expect(isKnownEncoding(encoding)).toBe(true);
    expect(await decodeBody(compress(plain), encoding, BYTES_MAX)).toEqual(plain);
  });

  it.each(ways)('is read up to its bound and no byte further in %s', async (encoding, compress) => {
    expect(await decodeBody(compress(Buffer.alloc(BYTES_MAX)), encoding, BYTES_MAX)).toHaveLength(BYTES_MAX);
    expect(await decodeBody(compress(Buffer.alloc(BYTES_MAX + 1)), encoding, BYTES_MAX)).toBe('too_large');
    expect(await decodeBody(compress(Buffer.alloc(50_000_000)), encoding, BYTES_MAX)).toBe('too_large');
  });

  it.each(ways)(
    'is broken where it is not what it says, or ends too early: %s',
    async (encoding, compress) => {
      expect(await decodeBody(plain, encoding, BYTES_MAX)).toBe('broken');
      const whole = compress(plain);
      expect(await decodeBody(whole.subarray(0, whole.length - 5), encoding, BYTES_MAX)).toBe('broken');
      expect(await decodeBody(Buffer.alloc(0), encoding, BYTES_MAX)).toBe('broken');
    },
  );

  it('is in no other way, nor in two at once', async () => {
    for (const encoding of ['compress', 'gzip, br', 'sdch']) {
      expect(isKnownEncoding(encoding)).toBe(false);
      expect(await decodeBody(plain, encoding, BYTES_MAX)).toBe('unknown');
    }
    expect(['identity', ' Identity ', '', undefined].map(isCompressed)).toEqual([false, false, false, false]);
  });
});
