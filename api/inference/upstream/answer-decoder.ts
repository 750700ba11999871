import type { Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';

/**
 * Opens the decoder of an answer that the provider compressed although it was asked for the plain bytes; `null`: it is plain. What
 * comes out of it is bounded by whoever reads it, as a plain answer is.
 */
export function openDecoder(contentEncoding: string | string[] | undefined): Transform | null {
  const name = typeof contentEncoding === 'string' ? contentEncoding.trim().toLowerCase() : '';
  switch (name) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip({ flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH });
    case 'deflate':
      return createInflate({ flush: constants.Z_SYNC_FLUSH, finishFlush: constants.Z_SYNC_FLUSH });
    case 'br':
      return createBrotliDecompress();
    case 'zstd':
      return createZstdDecompress();
    default:
      return null;
  }
}
