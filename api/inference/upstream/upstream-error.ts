import { SECOND_MS } from '#core/clock.ts';
import { isRecord } from '#core/is-record.ts';
import { type ApiError, apiError, type ErrorCode, type ErrorRow, errorTable } from '../../contract/errors.ts';
import { codeByErrorName, codeByStreamErrorName } from '../../providers/error-names.ts';
import { saysOption, saysOtherReason, saysPolicy, saysTooLong } from '../../providers/error-sentences.ts';
import { waitInError, waitInHeaders } from '../../providers/provider-wait.ts';
import type { Candidate } from '../admit/call-plan.ts';
import { contextTokens } from '../price/estimate.ts';
import { type Hidden, scrubWords } from '../scrub/scrub-words.ts';
import type { FaultOf } from './attempt-fault.ts';
import { findErrorDetail } from './error-body.ts';
import type { UpstreamRequest } from './upstream-request.ts';

/** Whose error is read: what none of its words may show, and how long its model's context is. */
export interface AskedEndpoint extends Hidden {
  /** `null`: what the endpoint reads is not counted in tokens. */
  contextTokens: number | null;
  /** An estimate of the prompt; 0: not estimated. */
  promptTokens?: number;
}

export const askedEndpoint = (
  candidate: Pick<Candidate, 'model' | 'endpoint' | 'provider'>,
  promptTokens = 0,
): AskedEndpoint => ({
  promptTokens,
  provider: candidate.provider,
  upstreamModel: candidate.endpoint.upstreamModel,
  publicModel: candidate.model.id,
  contextTokens: contextTokens(candidate),
});

/** A provider's refusal in our words. */
export interface UpstreamError {
  error: ApiError;
  /** Busy or down, not wrong: another endpoint may answer the same request. */
  mayFallBack: boolean;
  /** How far the fault reaches; without it, to all calls of the provider. */
  faultOf?: FaultOf;
}

/** Facts about a wait that stand beside the error itself. */
export interface NamedWait {
  /** By the answer's headers; `null` or missing: none. */
  waitMs?: number | null;
  /** Milliseconds since 1970, against which times in the error are read. */
  nowMs?: number;
}

export const namedWait = ({ headers }: Pick<UpstreamRequest, 'headers'>, nowMs: number): NamedWait => ({
  waitMs: waitInHeaders(headers, nowMs),
  nowMs,
});

/**
 * A provider's error body, whatever its dialect, to one of the spec's codes. Our own account's troubles (its key,
 * its money) never reach a caller as 401 or 402.
 *
 * @param status Of HTTP, or 200 where the error came inside an answer or a stream.
 */
export function readUpstreamError(
  status: number,
  body: unknown,
  asked: AskedEndpoint,
  { waitMs = null, nowMs = 0 }: NamedWait = {},
): UpstreamError {
  const detail = findErrorDetail(body);
  const said = codeOf(status, detail);
  const isTooLong = said === 'invalid_request' && isOverContext(asked) && !saysOtherReason(detail);
  const code = isTooLong ? 'request_too_large' : said;
  const row: ErrorRow = errorTable[code];
  const beside = isRecord(body) ? body : {};
  const inBody = () => waitInError(detail, nowMs) ?? waitInError(beside, nowMs);
  const named = row.retryAfterMs === undefined ? null : (waitMs ?? inBody());
  const retryAfterMs = named === null ? null : Math.max(named, SECOND_MS);
  const message = messageOf(code, detail, asked);
  return {
    error: apiError(code, {
      ...(message === null ? {} : { message }),
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
    }),
    mayFallBack: fallBackCodes.has(code),
    ...faultOf(code, detail),
  };
}

/** The prompt alone would be a reason to refuse the request, where the provider says no other. */
const isOverContext = ({ contextTokens: context, promptTokens = 0 }: AskedEndpoint): boolean =>
  context !== null && promptTokens > context;

/**
 * A router names the vendor behind it whose limit was met: that one runs few of our models. And it refuses one large request
 * for want of money while smaller ones would be paid, so whoever sends a large one must not shut our key for all.
 */
function faultOf(code: ErrorCode, { message, metadata }: Record<string, unknown>): { faultOf?: FaultOf } {
  if (code === 'model_busy' && isRecord(metadata) && typeof metadata.provider_name === 'string')
    return { faultOf: 'endpoint' };
  const affordsLess = typeof message === 'string' && /can only afford [1-9]/i.test(message.slice(0, 500));
  return code === 'gateway_capacity' && affordsLess ? { faultOf: 'request' } : {};
}

/** `null`: the table's own sentence. Only of what the caller can mend are the provider's words shown. */
function messageOf(code: ErrorCode, detail: Record<string, unknown>, asked: AskedEndpoint): string | null {
  const text = textOf(detail, asked);
  switch (code) {
    case 'invalid_request':
    case 'unprocessable':
      return text === null ? null : `The provider refused the request: ${text}`;
    case 'request_too_large': {
      if (
        !isOverContext(asked) &&
        !saysTooLong(detail) &&
        !namesOf(detail).some((name) => OVER_CONTEXT.has(name))
      )
        return null;
      const context = asked.contextTokens === null ? '' : `'s context of ${asked.contextTokens} tokens`;
      const sentence = `The prompt does not fit the model${context}`;
      return text === null ? `${sentence}; shorten it.` : `${sentence}: ${text}`;
    }
    case 'no_provider':
      return saysOption(detail) ? null : 'The provider does not serve this model; choose another model.';
    default:
      return null;
  }
}

const OVER_CONTEXT: ReadonlySet<unknown> = new Set(['context_length_exceeded', 'token_limit_exceeded']);

const fallBackCodes: ReadonlySet<ErrorCode> = new Set([
  'model_busy',
  'gateway_capacity',
  'gateway_unavailable',
  'provider_error',
  'upstream_error',
  'upstream_unreachable',
  'timeout',
  'no_provider',
]);

function codeOf(httpStatus: number, detail: Record<string, unknown>): ErrorCode {
  const names = namesOf(detail).filter((name) => typeof name === 'string');
  const named = firstCode(names, codeByErrorName);
  // Names that vendors give to every refused request say less than their words do.
  if (named !== undefined && named !== 'invalid_request') return named;
  if (named !== undefined && (httpStatus < 300 || httpStatus >= 400)) return codeOfBadRequest(detail);
  const status = httpStatus >= 300 ? httpStatus : (namedStatus(detail) ?? 502);
  const isUnsaid = httpStatus < 300 && namedStatus(detail) === null;
  if (!isUnsaid) return codeOfStatus(status, detail);
  // These names say only that the request or the server failed, so a sentence that gives the reason counts first.
  const byWords = codeOfBadRequest(detail);
  if (byWords !== 'invalid_request') return byWords;
  return firstCode(names, codeByStreamErrorName) ?? codeOfStatus(status, detail);
}

function firstCode(names: readonly string[], codes: ReadonlyMap<string, ErrorCode>): ErrorCode | undefined {
  const name = names.find((each) => codes.has(each));
  return name === undefined ? undefined : codes.get(name);
}

function codeOfStatus(status: number, detail: Record<string, unknown>): ErrorCode {
  switch (status) {
    case 400:
    case 412:
    case 415:
      return codeOfBadRequest(detail);
    case 401:
      return 'gateway_unavailable';
    case 402:
      return 'gateway_capacity';
    case 403:
      if (isOurMoney(detail)) return 'gateway_capacity';
      return isOurKey(detail) ? 'gateway_unavailable' : 'provider_refused';
    case 404:
      return 'no_provider';
    case 408:
    case 504:
    case 524:
      return 'timeout';
    case 413:
      return 'request_too_large';
    case 422: {
      const code = codeOfBadRequest(detail);
      return code === 'invalid_request' ? 'unprocessable' : code;
    }
    case 451:
      return 'provider_refused';
    case 429:
    case 498:
    case 503:
    case 529:
      return 'model_busy';
    case 502:
      return 'provider_error';
    default:
      // Some servers fail at a prompt that their model cannot take, or at an answer that their vendor keeps back.
      if (status === 500 && saysTooLong(detail)) return 'request_too_large';
      return status === 500 && saysPolicy(detail) ? 'provider_refused' : 'upstream_error';
  }
}

/** Whose fault a request is that the provider calls wrong. */
function codeOfBadRequest(detail: Record<string, unknown>): ErrorCode {
  if (isOurMoney(detail)) return 'gateway_capacity';
  if (isOurKey(detail)) return 'gateway_unavailable';
  if (saysPolicy(detail)) return 'provider_refused';
  return saysTooLong(detail) ? 'request_too_large' : 'invalid_request';
}

function namesOf(detail: Record<string, unknown>): unknown[] {
  const metadata = isRecord(detail.metadata) ? detail.metadata : {};
  const infos = Array.isArray(detail.details) ? detail.details.filter((each) => isRecord(each)) : [];
  const reasons = infos.map((info) => info.reason);
  const ofAws = detail.__type;
  return [metadata.error_type, detail.error_type, detail.code, detail.type, ofAws, ...reasons, detail.status];
}

/** A limit set on the operator's key, said with 403, and an account without credit, said with 400 or 412. */
const isOurMoney = (detail: Record<string, unknown>): boolean => beginsWith(detail, OUR_MONEY);

/** The operator's key or account, said with 400. */
const isOurKey = (detail: Record<string, unknown>): boolean => beginsWith(detail, OUR_KEY);

/** Sentences that begin so: others may repeat what the caller wrote. A few have their names in front. */
function beginsWith({ message, error }: Record<string, unknown>, words: RegExp): boolean {
  const sentence = typeof message === 'string' ? message : error;
  return typeof sentence === 'string' && words.test(sentence.slice(0, BEGINNING_CHARS));
}

const BEGINNING_CHARS = 200;
const OUR_MONEY =
  /^(?:key limit exceeded|insufficient (?:credits|balance)|not enough balance|your credit balance is too low|you have reached your specified api usage limits|your (?:newly created )?team (?:doesn't have|has no) any credits|user quota is not enough|sorry, your account balance is insufficient|account \S{1,80} is suspended, possibly due to reaching the monthly spending limit)/i;
const OUR_KEY =
  /^(?:incorrect api key|invalid api key|api key (?:not (?:valid|found)|expired|is invalid)|organization has been restricted|your project has been denied access|account \S{1,80} is suspended|access denied, please make sure your account is in good standing)/i;

/** Where the HTTP status is no error's: the one that the error itself names. */
function namedStatus(detail: Record<string, unknown>): number | null {
  for (const named of [detail.code, detail.http_status, detail.status]) {
    const inner = typeof named === 'string' && /^\d{3}$/.test(named) ? Number(named) : named;
    if (typeof inner === 'number' && inner >= 400 && inner <= 599) return inner;
  }
  return null;
}

/** What the provider says is wrong, as a caller may read it. */
function textOf({ message }: Record<string, unknown>, hidden: Hidden): string | null {
  return typeof message === 'string' ? scrubWords(message, hidden) : null;
}
