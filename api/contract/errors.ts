import { DAY_MS, SECOND_MS } from '#core/clock.ts';
import { isRecord } from '#core/is-record.ts';
import { RETRY_AFTER_MAX_MS, VIDEO_KEPT_MS } from '#core/limits.ts';

/** What the caller should do. `fix_first`: the same request will be refused again. */
export type RetryClass = 'fix_first' | 'after_wait' | 'retry';
/** What a call that ends so is charged: nothing, or what the provider recorded (usually nothing). */
export type CostClass = 'free' | 'recorded';
/** A call that asks a model for something. The order of a video is answered before its provider is asked. */
export type ModelCall = 'text' | 'image' | 'video';
type Calls = readonly ModelCall[];
/** The chat-completions and responses formats share one error shape; the messages format and markets have their own. */
export type ErrorShape = 'chat' | 'messages' | 'market';

export interface ErrorRow {
  status: number;
  /** `error.type` in the chat and responses shape. */
  type: string;
  retry: RetryClass;
  cost: CostClass;
  /** Advertised when the refusal does not know its own wait. Every 429 and 503 has one. */
  retryAfterMs?: number;
  /** The default message: what is wrong and what to do, in one sentence. */
  message: string;
  /** Where the messages format differs. */
  messages?: { status?: number; type?: string };
  /**
   * The wait may be hours: sent as it is, with `x-should-retry: false`, so that no client sleeps through it.
   */
  longWait?: true;
  /** The calls whose routes name the code in the document. Codes of the edge (`errorsOf`) and of single routes have none. */
  calls: Calls;
  /** The provider failed, not the gateway. From status 500 on, the chart's alerts count the two apart. */
  fromProvider?: true;
}

/** `error.type` in the chat and responses shape, by the status; `server_error` for the others. */
const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'invalid_request_error',
  429: 'rate_limit_error',
};
const typeOf = (status: number): string => TYPES[status] ?? 'server_error';

const EVERY_CALL: Calls = ['text', 'image', 'video'];
const TEXT_AND_IMAGES: Calls = ['text', 'image'];
const TEXT: Calls = ['text'];

export const fixFirst = (status: number, message: string, calls: Calls = []): ErrorRow => ({
  status,
  type: typeOf(status),
  retry: 'fix_first',
  cost: 'free',
  message,
  calls,
});

export const afterWait = (status: number, seconds: number, message: string, calls: Calls = []): ErrorRow => ({
  ...fixFirst(status, message, calls),
  retry: 'after_wait',
  retryAfterMs: seconds * SECOND_MS,
});

const retry = (status: number, cost: CostClass, message: string): ErrorRow => ({
  ...fixFirst(status, message),
  retry: 'retry',
  cost,
  messages: { type: 'api_error' },
});

/** A failure of the provider. Only a call that waits for its provider is answered with it. */
const providerFailure = (status: number, cost: CostClass, message: string): ErrorRow => ({
  ...retry(status, cost, message),
  calls: TEXT_AND_IMAGES,
  fromProvider: true,
});

const OVERLOADED = 'overloaded_error';

/**
 * The spec's 31 codes, in its order, and the one of videos. The running gateway, the routes, the OpenAPI document, the chart's alerts
 * and the tests all read this table.
 *
 * The spec does not show the retry class and cost of `daily_share_used`, `gateway_unavailable`,
 * `catalog_unavailable`, `service_unavailable` and `provider_unavailable`. All five are refused before a
 * provider is called, so they are `free`; time or the operator ends them, so they are `after_wait`.
 */
export const errorTable = {
  invalid_api_key: fixFirst(
    401,
    'Send a valid API key as "Authorization: Bearer <key>" or "x-api-key: <key>".',
  ),
  agent_inactive: fixFirst(
    403,
    'This agent is not active yet; wait until its launch is confirmed and its launch fee is paid.',
    EVERY_CALL,
  ),
  agent_suspended: fixFirst(403, 'This agent is suspended; ask the operator why.', EVERY_CALL),
  invalid_request: fixFirst(400, 'The request is not valid; correct it and send it again.'),
  unknown_model: fixFirst(
    400,
    'No listed model has this id; `GET /models` lists those that are served.',
    EVERY_CALL,
  ),
  model_not_served: fixFirst(
    400,
    'This model is not served here; `GET /models` lists those that are.',
    EVERY_CALL,
  ),
  tool_not_served: fixFirst(
    400,
    'One of the tools is not served here; leave it out, or bound its steps if it runs in a loop.',
    TEXT,
  ),
  request_too_large: {
    ...fixFirst(413, 'The request is too large; shorten it, and send images and files as URLs.'),
    messages: { type: 'request_too_large' },
  },
  request_over_capacity: fixFirst(
    400,
    'This one request would hold more than the gateway can hold for a single call now; lower max_tokens.',
    EVERY_CALL,
  ),
  not_found: fixFirst(
    404,
    'Nothing is served at this path and method; check both against the API reference.',
  ),
  insufficient_balance: fixFirst(
    402,
    "The spendable balance is below this call's reserve; add credit or lower max_tokens.",
    EVERY_CALL,
  ),
  key_limit: fixFirst(
    402,
    "This key's limit cannot cover this call's reserve; lower max_tokens, or raise the limit.",
    EVERY_CALL,
  ),
  rate_limited: afterWait(
    429,
    1,
    'This agent starts calls too fast; wait as retry-after-ms says.',
    EVERY_CALL,
  ),
  too_many_running_calls: afterWait(
    429,
    2,
    'This agent has as many calls running as it may; start another when one ends.',
    TEXT_AND_IMAGES,
  ),
  daily_share_used: {
    ...afterWait(
      429,
      60,
      "This agent used its share of today's capacity; start calls again at 00:00 UTC.",
      EVERY_CALL,
    ),
    longWait: true,
  },
  model_busy: {
    ...afterWait(
      503,
      2,
      'Every provider of this model is at capacity; wait as retry-after-ms says, or choose another.',
      TEXT_AND_IMAGES,
    ),
    messages: { status: 529, type: OVERLOADED },
    fromProvider: true,
  },
  gateway_busy: {
    ...afterWait(503, 1, 'The gateway is at capacity for a moment; wait as retry-after-ms says.', EVERY_CALL),
    messages: { type: OVERLOADED },
  },
  gateway_capacity: {
    ...afterWait(503, 15, 'The gateway is adding capacity; wait as retry-after-ms says.', EVERY_CALL),
    messages: { type: OVERLOADED },
  },
  gateway_unavailable: afterWait(
    503,
    15,
    'The gateway is briefly unavailable; wait as retry-after-ms says.',
    EVERY_CALL,
  ),
  catalog_unavailable: afterWait(
    503,
    5,
    'Model prices are briefly unavailable; wait as retry-after-ms says.',
    EVERY_CALL,
  ),
  service_unavailable: afterWait(503, 2, 'Balances are briefly unavailable; wait as retry-after-ms says.'),
  provider_unavailable: {
    ...afterWait(
      503,
      15,
      'This model is unavailable right now; wait as retry-after-ms says, or choose another.',
      EVERY_CALL,
    ),
    fromProvider: true,
  },
  gateway_error: retry(
    500,
    'free',
    'The gateway failed and charged nothing; try again, and report the call id if it goes on.',
  ),
  upstream_timeout: providerFailure(
    504,
    'recorded',
    'The model sent nothing before the time limit; try again, or ask for less.',
  ),
  upstream_unreachable: providerFailure(502, 'free', 'The connection to the provider failed; try again.'),
  provider_error: providerFailure(502, 'recorded', 'The provider failed or refused this call; try again.'),
  no_provider: fixFirst(
    404,
    'No provider of this model supports every option of the request; leave some out.',
    TEXT_AND_IMAGES,
  ),
  provider_refused: fixFirst(
    403,
    "The provider's own policy refused this request; change its content.",
    TEXT_AND_IMAGES,
  ),
  unprocessable: {
    ...fixFirst(
      422,
      'The provider took the request but could not run it; change the request or the model.',
      TEXT_AND_IMAGES,
    ),
    messages: { type: 'api_error' },
  },
  timeout: retry(408, 'recorded', 'The provider gave up waiting; try again.'),
  upstream_error: providerFailure(502, 'recorded', 'The provider answered with an error; try again.'),
  // Beside the 31: spec, Video and upload endpoints.
  not_ready: fixFirst(
    404,
    'The video has no file now: it is not done yet, has failed, ' +
      `or was deleted after ${VIDEO_KEPT_MS / DAY_MS} days.`,
  ),
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof errorTable;

export const errorCodes = Object.keys(errorTable) as ErrorCode[];

/** The codes of a call, beyond those of the edge (`errorsOf`), in the table's order. */
export const errorsOfCall = (call: ModelCall): ErrorCode[] =>
  errorCodes.filter((code) => errorTable[code].calls.includes(call));

/** A refusal as a value, from where it is decided to where it is rendered. Made by `apiError` only. */
export interface ApiError {
  /** Tells a refusal from an answer. */
  refused: true;
  code: ErrorCode;
  /** Seen by the caller: never an exception's text; a provider's only about the request, with its names taken out. */
  message: string;
  /** The request field that is at fault, such as `messages[0].role`. */
  param: string | null;
  retryAfterMs?: number;
  shouldRetry?: false;
  /** Starts a minute that an agent may make, of which none is left. */
  callsPerMinute?: number;
  /** Changes that make the same call pass. The message says them in words. */
  advice?: Advice;
  /** Shown in the messages format alone, for programs that act on it. */
  details?: ErrorDetails;
}

export interface ErrorDetails {
  error_code: string;
}

export interface Advice {
  /** Members to change, by their paths; `null`: to leave out. `null` as a whole: no number of the request helps. */
  changes: readonly { field: string; value: number | null }[] | null;
  /** Nano-dollars that the least such call needs, where no change of a number helps. */
  needNanoUsd: bigint | null;
  /** The unchanged call passes from this time on, if nothing else has changed; `null`: no waiting helps. */
  waitUntilMs: number | null;
}

export interface ApiErrorDetails {
  advice?: Advice;
  details?: ErrorDetails;
  message?: string;
  param?: string;
  retryAfterMs?: number;
  callsPerMinute?: number;
  /** As in the table, of a refusal whose code has mostly short waits. */
  longWait?: boolean;
}

export function apiError(code: ErrorCode, details: ApiErrorDetails = {}): ApiError {
  const row: ErrorRow = errorTable[code];
  const error: ApiError = {
    refused: true,
    code,
    message: details.message ?? row.message,
    param: details.param ?? null,
    ...(details.callsPerMinute === undefined ? {} : { callsPerMinute: details.callsPerMinute }),
    ...(details.advice === undefined ? {} : { advice: details.advice }),
    ...(details.details === undefined ? {} : { details: details.details }),
  };
  const waitMs = details.retryAfterMs ?? row.retryAfterMs;
  if (waitMs === undefined) return error;
  if (row.longWait || details.longWait) return { ...error, retryAfterMs: waitMs, shouldRetry: false };
  return { ...error, retryAfterMs: Math.min(waitMs, RETRY_AFTER_MAX_MS) };
}

/** Refuses a member of a request whose value is of another kind. */
export const hasToBe = (param: string, what: string): ApiError =>
  apiError('invalid_request', { param, message: `\`${param}\` has to be ${what}.` });

/** Answers the first refusal of the records in a list; `null`: all are taken, or it is no list. */
export function refuseEach(
  list: unknown,
  param: string,
  refuse: (each: Record<string, unknown>, param: string) => ApiError | null,
): ApiError | null {
  if (!Array.isArray(list)) return null;
  for (const [index, each] of list.entries()) {
    const refusal = isRecord(each) ? refuse(each, `${param}[${index}]`) : null;
    if (refusal !== null) return refusal;
  }
  return null;
}

export const isApiError = (value: unknown): value is ApiError => isRecord(value) && 'refused' in value;

/**
 * Carries a refusal out of a tRPC procedure, whose only way to answer something else than its output is to
 * throw.
 */
export class Refusal extends Error {
  readonly apiError: ApiError;

  constructor(apiError: ApiError) {
    super(apiError.code);
    this.apiError = apiError;
  }
}

/** Returns the answer of a use case. A refusal is thrown out of the procedure. */
export function answerOrRefuse<Answer extends object>(result: Answer | ApiError): Answer {
  if (isApiError(result)) throw new Refusal(result);
  return result;
}
