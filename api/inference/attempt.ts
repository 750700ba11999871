import { type ApiError, apiError } from '../contract/errors.ts';
import type { FaultOf } from './attempt-fault.ts';
import type { GoodAnswer, StreamReader } from './formats/call-format.ts';
import type { HeldCall } from './held-call.ts';
import type { UpstreamFailure } from './upstream-request.ts';
import type { Usage } from './usage.ts';

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

/** Why an answer broke off: our own limits first, they abort what then looks like a cut. */
export function failureOf(
  { endedByUs, caller }: Pick<HeldCall, 'endedByUs'> & { caller: Pick<HeldCall['caller'], 'committed'> },
  cause: UpstreamFailure | 'too_large' | 'malformed',
): ApiError {
  if (endedByUs === 'time_limit') return apiError('upstream_timeout');
  // Of a begun answer what was written is charged; one that never began is free, and another process may give it.
  if (endedByUs === 'drain' && caller.committed) return apiError('upstream_timeout', { message: RESTARTS });
  if (endedByUs === 'drain') return apiError('gateway_unavailable');
  if (endedByUs === 'gate') return apiError('service_unavailable');
  return apiError(cause === 'unreachable' ? 'upstream_unreachable' : 'provider_error');
}

const RESTARTS = 'The gateway restarts and had no more time for this answer; try again.';
