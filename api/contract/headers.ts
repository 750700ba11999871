import type { CallId } from '#core/ids.ts';
import type { ErrorShape } from './errors.ts';

const CALL_ID = '244335062519810';
const text = (example: string, description: string) => ({ description, schema: { type: 'string' }, example });
const integer = (example: number, description: string, bounds: { minimum?: number } = {}) => ({
  description,
  schema: { type: 'integer', ...bounds },
  example,
});

/** Every header of ours, as the document describes it. */
export const headerDocs = {
  'x-service-call-id': text(
    CALL_ID,
    "The call's id on the caller's Calls page; quote it to the operator, who may have renamed this header.",
  ),
  'x-request-id': text(CALL_ID, 'The same id, where the official clients look for it.'),
  'request-id': text(CALL_ID, 'The same id, where the official client of the messages format looks for it.'),
  'x-generation-id': text('gen-1790000000-a1B2c3D4e5F6g7H8i9J0', "The model provider's id for the answer."),
  'x-hold-usd': text(
    '0.0123',
    'What the call held from the balance while it ran, in US dollars. An error has it if the call failed after its hold was on disk.',
  ),
  'x-ignored-fields': text(
    'top_k, messages[0].name',
    'Fields of the request that the provider has no equivalent for and was not sent: percent-encoded names, at most 1 KiB.',
  ),
  location: text('https://gw.example.com/v1/videos/vid_a1B2c3D4e5F6g7H8i9J0', 'The address to go on with.'),
  etag: text(
    '"utUljcwSDUeqYTaYKk4Lof"',
    'Of this state of the answer: sent as `If-None-Match`, it is answered with 304 while nothing has changed.',
  ),
  'cache-control': text('public, max-age=300', 'How long the answer may be kept, and by whom.'),
  'x-used-weight-1m': integer(12, 'Weight that this address has used in this minute of the UTC clock.', {
    minimum: 0,
  }),
  'retry-after': integer(2, 'Whole seconds to wait before trying again.', { minimum: 1 }),
  'retry-after-ms': integer(1500, 'The same wait in milliseconds.', { minimum: 1 }),
  'x-ratelimit-limit-requests': integer(
    600,
    'With `rate_limited`: calls that the agent may start in a minute.',
  ),
  'x-ratelimit-remaining-requests': integer(0, 'With `rate_limited`: none is left now.'),
  'x-ratelimit-reset-requests': text('120ms', 'With `rate_limited`: when the next may start, from now.'),
  'x-should-retry': text(
    'false',
    '`false` where the same request will be refused again, and with a wait of more than a minute, through which clients should not sleep.',
  ),
  'www-authenticate': text('Bearer realm="faregate"', 'How to authenticate.'),
};

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
} as const;

export type RequestHeaderName = keyof typeof requestHeaderDocs;

/** The facts of a call that the headers of its answer show. A `CallContext` has all of them. */
export interface AnswerFacts {
  /** `chat` is also the shape of responses. */
  shape: ErrorShape;
  callId: CallId;
  callIdHeader: string;
  /** Pages of other origins may read it. */
  isPublic?: true;
}

/** The headers of every answer at a matched route, refusals included. */
export function commonHeaders(call: AnswerFacts): Record<string, string> {
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

/** The headers of answers for anybody: pages of any origin may read the answers, and the headers that are listed here. */
export const publicHeaders = (callIdHeader: string) => ({
  'access-control-allow-origin': '*',
  'access-control-expose-headers': [callIdHeader, ...EXPOSED].join(', '),
});

const EXPOSED = ['x-request-id', 'etag', 'retry-after', 'retry-after-ms', 'x-used-weight-1m'];

/** Answered before a page of any origin may use these methods, or send these headers of its own. */
export const preflightHeaders = (methods: string, headers: string, maxAgeSeconds: number) => ({
  'access-control-allow-origin': '*',
  'access-control-allow-methods': methods,
  'access-control-allow-headers': headers,
  'access-control-max-age': String(maxAgeSeconds),
});
