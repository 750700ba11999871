import { ERROR_BODY_BYTES } from '#core/limits.ts';
import { parseJson } from '#core/parse-json.ts';
import { type ApiError, apiError } from '../../contract/errors.ts';
import type { GoodAnswer, StreamReader } from '../formats/call-format.ts';
import { failureOf } from '../hold/call-failure.ts';
import { answerBounds, readJsonObject } from '../json/json-object.ts';
import type { Usage } from '../price/usage.ts';
import type { FaultOf } from './attempt-fault.ts';
import type { RunningCall } from './running-call.ts';
import type { StreamEnd } from './stream-relay.ts';
import { askedEndpoint, readUpstreamError, type UpstreamError } from './upstream-error.ts';

/** How one attempt at one endpoint ended. */
export type Attempt =
  /** A whole JSON answer; nothing of it has been written. */
  | ({ kind: 'json'; usage: Usage | null } & GoodAnswer)
  /** A stream to its end mark; its events have been written, but for what its reader kept back. */
  | { kind: 'stream'; usage: Usage | null; reader: StreamReader; deliveredTokens: number }
  | FailedAttempt;

export interface FailedAttempt {
  kind: 'failed';
  error: ApiError;
  /** Busy or down, and nothing was written: another endpoint may answer. */
  mayFallBack: boolean;
  /** How far the fault reaches; without it, to all calls of the provider. */
  faultOf?: FaultOf;
  /** The usage that the provider reports with a failure, or its last running count where the gateway cut the answer short. */
  usage: Usage | null;
  /** Estimated from all that was read, shown or not. */
  deliveredTokens: number;
  /** The gateway ended an answer that the provider may have been writing. False for a provider's own failure. */
  cutByUs: boolean;
}

export const failed = (error: ApiError, mayFallBack: boolean, usage: Usage | null = null): FailedAttempt => ({
  kind: 'failed',
  error,
  mayFallBack,
  usage,
  deliveredTokens: 0,
  cutByUs: false,
});

/** An answer that the gateway cut short before any of it could be shown. */
export const cutShort = (error: ApiError, readTokens = 0): FailedAttempt => ({
  ...failed(error, false),
  deliveredTokens: readTokens,
  cutByUs: true,
});

/**
 * The end of a stream, or `complete` where nothing but its end mark was missing when the caller hung up: then the usage that it
 * brought is final.
 */
export function endUnlessComplete(
  call: Pick<RunningCall, 'endedByUs'>,
  end: StreamEnd,
  reader: Pick<StreamReader, 'isComplete'>,
): StreamEnd {
  const isHangUp = end.kind === 'failed' && call.endedByUs === 'hang_up';
  return isHangUp && reader.isComplete() ? { kind: 'complete' } : end;
}

/** Describes a stream that ended otherwise than by its end mark. */
export function failedStream(
  call: RunningCall,
  end: Exclude<StreamEnd, { kind: 'complete' }>,
  usage: Usage | null,
  deliveredTokens: number,
): FailedAttempt {
  const { error, mayFallBack } = failureOfStream(call, end);
  return {
    kind: 'failed',
    error,
    mayFallBack: mayFallBack && !call.caller.committed,
    usage,
    deliveredTokens,
    cutByUs: end.kind === 'too_long' || (end.kind === 'failed' && end.cause === 'aborted'),
  };
}

function failureOfStream(call: RunningCall, end: Exclude<StreamEnd, { kind: 'complete' }>): UpstreamError {
  switch (end.kind) {
    case 'error':
      return readUpstreamError(
        200,
        errorIn(end.event),
        askedEndpoint(call.candidate, call.options.plan.promptEstimateTokens),
      );
    case 'malformed':
      return { error: apiError('provider_error'), mayFallBack: true };
    case 'too_long':
      // Another provider would write no less.
      return { error: apiError('provider_error'), mayFallBack: false };
    case 'failed':
      return { error: failureOf(call, end.cause), mayFallBack: call.endedByUs === null };
  }
}

/** One that is long has more in it than an error: an answer as deep as others, or nothing that is read. */
function errorIn(event: Buffer): unknown {
  if (event.length <= ERROR_BODY_BYTES) return parseJson(event.toString('utf8'));
  const read = readJsonObject(event, answerBounds);
  return typeof read === 'string' ? undefined : read.value;
}
