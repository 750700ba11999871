import type { IncomingMessage, ServerResponse } from 'node:http';
import { MEGABYTE } from '#core/limits.ts';
import { type ApiError, apiError } from '../contract/errors.ts';
import { decodeBody, ENCODINGS, isCompressed, isKnownEncoding } from './decode-body.ts';

/**
 * The whole body as sent, or why not; `aborted`: the sender left, nobody is there to answer. How long it may
 * take is the server's request time-out.
 */
export async function readBody(
  req: IncomingMessage,
  res: ServerResponse,
  bytesMax: number,
): Promise<Buffer | ApiError | 'aborted'> {
  const encoding = req.headers['content-encoding'];
  if (isCompressed(encoding) && !isKnownEncoding(encoding)) {
    return apiError('invalid_request', {
      message: `A body that is compressed in this way is not read; send it as ${ENCODINGS}, or without Content-Encoding.`,
    });
  }
  const declared = Number(req.headers['content-length'] ?? 0);
  if (declared > bytesMax) return tooLarge(bytesMax);
  // Only now: a sender that waits for it never uploads what would be refused anyway.
  if (req.headers.expect !== undefined) res.writeContinue();
  const body = await collect(req, bytesMax);
  return isCompressed(encoding) && Buffer.isBuffer(body) ? await decode(body, encoding, bytesMax) : body;
}

async function decode(body: Buffer, encoding: string, bytesMax: number): Promise<Buffer | ApiError> {
  const decoded = await decodeBody(body, encoding, bytesMax);
  if (Buffer.isBuffer(decoded)) return decoded;
  return decoded === 'too_large'
    ? tooLarge(bytesMax)
    : apiError('invalid_request', {
        message: `The body is not what its Content-Encoding says: ${ENCODINGS}.`,
      });
}

function collect(req: Uploading, bytesMax: number): Promise<Buffer | ApiError | 'aborted'> {
  if (req.destroyed) return Promise.resolve('aborted');
  return new Promise((resolve) => {
    req[UPLOAD] = { chunks: [], size: 0, bytesMax, resolve };
    // `close` also comes after `end`, when nobody waits any more.
    req.on('data', onData).on('end', onEnd).on('close', onClose);
  });
}

interface Upload {
  chunks: Buffer[];
  size: number;
  bytesMax: number;
  resolve: (body: Buffer | ApiError | 'aborted') => void;
}

const UPLOAD = Symbol('upload');
interface Uploading extends IncomingMessage {
  [UPLOAD]?: Upload;
}

// One function each for all requests: a closure per request costs a fifth more CPU (garbage).
function onData(this: Uploading, chunk: Buffer): void {
  const upload = this[UPLOAD];
  if (upload === undefined) return;
  upload.size += chunk.length;
  if (upload.size <= upload.bytesMax) {
    upload.chunks.push(chunk);
    return;
  }
  this.off('data', onData).pause();
  upload.resolve(tooLarge(upload.bytesMax));
}

function onEnd(this: Uploading): void {
  const upload = this[UPLOAD];
  if (upload === undefined) return;
  const { chunks, size, resolve } = upload;
  const [first] = chunks;
  resolve(first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks, size));
}

function onClose(this: Uploading): void {
  this[UPLOAD]?.resolve('aborted');
}

const tooLarge = (bytesMax: number): ApiError =>
  apiError('request_too_large', {
    message: `The body is over ${bytesMax / MEGABYTE} MB; shorten it, and send images and files as URLs.`,
  });
