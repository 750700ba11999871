import type { CallId } from '#core/ids.ts';
import type { ErrorShape } from './errors.ts';

/** Every header of ours, as the document describes it. */
export const headerDocs = {
  'x-service-call-id': {
    description:
      "The call's id on the caller's Calls page; quote it to the operator, who may have renamed this header.",
    schema: { type: 'string' },
    example: '244335062519810',
  },
  'x-request-id': {
    description: 'The same id, where the official clients look for it.',
    schema: { type: 'string' },
    example: '244335062519810',
  },
  'request-id': {
    description: 'The same id, where the official client of the messages format looks for it.',
    schema: { type: 'string' },
    example: '244335062519810',
  },
  'x-generation-id': {
    description: "The model provider's id for the answer.",
    schema: { type: 'string' },
    example: 'gen-1790000000-a1B2c3D4e5F6g7H8i9J0',
  },
  'x-hold-usd': {
    description:
      'What the call held from the balance while it ran, in US dollars. An error has it if the call failed after its hold was on disk.',
    schema: { type: 'string' },
    example: '0.0123',
  },
  location: {
    description: 'The address to go on with.',
    schema: { type: 'string' },
    example: 'https://gw.example.com/v1/videos/vid_a1B2c3D4e5F6g7H8i9J0',
  },
  etag: {
    description:
      'Of this state of the answer: sent as `If-None-Match`, it is answered with 304 while nothing has changed.',
    schema: { type: 'string' },
    example: '"utUljcwSDUeqYTaYKk4Lof"',
  },
  'cache-control': {
    description: 'How long the answer may be kept, and by whom.',
    schema: { type: 'string' },
    example: 'public, max-age=300',
  },
  'x-used-weight-1m': {
    description: 'Weight that this address has used in this minute of the UTC clock.',
    schema: { type: 'integer', minimum: 0 },
    example: 12,
  },
  'retry-after': {
    description: 'Whole seconds to wait before trying again.',
    schema: { type: 'integer', minimum: 1 },
    example: 2,
  },
  'retry-after-ms': {
    description: 'The same wait in milliseconds.',
    schema: { type: 'integer', minimum: 1 },
    example: 1500,
  },
  'x-ratelimit-limit-requests': {
    description: 'With `rate_limited`: calls that the agent may start in a minute.',
    schema: { type: 'integer' },
    example: 600,
  },
  'x-ratelimit-remaining-requests': {
    description: 'With `rate_limited`: none is left now.',
    schema: { type: 'integer' },
    example: 0,
  },
  'x-ratelimit-reset-requests': {
    description: 'With `rate_limited`: when the next may start, from now.',
    schema: { type: 'string' },
    example: '120ms',
  },
  'x-should-retry': {
    description:
      '`false` with `daily_share_used`: the wait may be hours, so clients should not sleep through it.',
    schema: { type: 'string' },
    example: 'false',
  },
  'www-authenticate': {
    description: 'How to authenticate.',
    schema: { type: 'string' },
    example: 'Bearer realm="faregate"',
  },
} as const satisfies Record<string, { description: string; schema: object; example: string | number }>;

export type HeaderName = keyof typeof headerDocs;

/** Headers that a caller may send, as the document describes them. */
export const requestHeaderDocs = {
  'Idempotency-Key': {
    description:
      'A text of your own choice. A second order with the same key answers with the same video, as it is then, and makes ' +
      'no new one, whatever else it says.',
    schema: { type: 'string', pattern: '^[A-Za-z0-9_-]{8,64}$', minLength: 8, maxLength: 64 },
    example: 'order-2026-11-24-0001',
  },
} as const satisfies Record<string, { description: string; schema: object; example: string }>;

export type RequestHeaderName = keyof typeof requestHeaderDocs;

/** What every answer at a matched route carries, refusals included. */
export function answerHeaders(call: {
  callId: CallId;
  callIdHeader: string;
  shape: ErrorShape;
  isPublic?: true;
}): Record<string, string> {
  const id = String(call.callId);
  const headers: Record<string, string> = {
    [call.callIdHeader]: id,
    // The official clients show their user this header, each under its own name.
    'x-request-id': id,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
  if (call.shape === 'messages') headers['request-id'] = id;
  return call.isPublic ? Object.assign(headers, publicHeaders(call.callIdHeader)) : headers;
}

/** Of answers for anybody: pages of any origin may read them, and of their headers these. */
export const publicHeaders = (callIdHeader: string) => ({
  'access-control-allow-origin': '*',
  'access-control-expose-headers': [callIdHeader, ...EXPOSED].join(', '),
});

const EXPOSED = ['x-request-id', 'etag', 'retry-after', 'retry-after-ms', 'x-used-weight-1m'];

/**
 * Answered before a page may send more than a browser's own headers. A key is named because `*` leaves out `authorization`:
 * a page that sends one along gets its answer all the same.
 */
export const preflightHeaders = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET',
  'access-control-allow-headers': '*, authorization, x-api-key',
  'access-control-max-age': '86400',
};
