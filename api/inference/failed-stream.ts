import { ERROR_BODY_BYTES } from '#core/limits.ts';
import { parseJson } from '#core/parse-json.ts';
import { apiError } from '../contract/errors.ts';
import { type FailedAttempt, failureOf } from './attempt.ts';
import type { StreamReader } from './formats/call-format.ts';
import { answerBounds, readJsonObject } from './json-object.ts';
import type { RunningCall } from './running-call.ts';
import type { StreamEnd } from './stream-relay.ts';
import { askedEndpoint, readUpstreamError, type UpstreamError } from './upstream-error.ts';
import type { Usage } from './usage.ts';

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
      return readUpstreamError(200, errorIn(end.event), askedEndpoint(call.candidate));
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
