import type { IncomingHttpHeaders } from 'node:http';
import { type ApiError, apiError } from '../contract/errors.ts';

/** Spec: Limits, Idempotency-Key. A header that was sent twice has a comma in it, which is none of these. */
const SHAPE = /^[A-Za-z0-9_-]{8,64}$/;

/** `null`: none was sent. */
export function readIdempotencyKey(headers: IncomingHttpHeaders): string | null | ApiError {
  const sent = headers['idempotency-key'];
  if (sent === undefined) return null;
  if (typeof sent === 'string' && SHAPE.test(sent)) return sent;
  return apiError('invalid_request', {
    param: 'Idempotency-Key',
    message: 'The header `Idempotency-Key` has to be 8 to 64 characters from letters, digits, `-` and `_`.',
  });
}
