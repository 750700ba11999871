import { type ApiError, apiError } from '../../contract/errors.ts';
import type { UpstreamFailure } from '../upstream/upstream-request.ts';
import type { HeldCall } from './held-call.ts';

/** Why an answer broke off. The gateway's own limits come first: they abort a connection, which then looks cut. */
export function failureOf(
  { endedByUs, caller }: Pick<HeldCall, 'endedByUs'> & { caller: Pick<HeldCall['caller'], 'committed'> },
  cause: UpstreamFailure | 'too_large' | 'malformed',
): ApiError {
  if (endedByUs === 'time_limit') return apiError('upstream_timeout');
  // A begun answer is charged for what was written. One that never began is free, and another process may give it.
  if (endedByUs === 'shutdown') {
    return caller.committed
      ? apiError('upstream_timeout', { message: RESTARTS })
      : apiError('gateway_unavailable');
  }
  if (endedByUs === 'gate') return apiError('service_unavailable');
  return apiError(cause === 'unreachable' ? 'upstream_unreachable' : 'provider_error');
}

const RESTARTS = 'The gateway restarts and had no more time for this answer; try again.';
