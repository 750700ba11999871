import { type ApiError, apiError } from '../../contract/errors.ts';
import type { UpstreamFailure } from '../upstream/upstream-request.ts';
import type { HeldCall } from './held-call.ts';

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
