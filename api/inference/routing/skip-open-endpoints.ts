import type { Wait } from '#core/provider-health/provider-health.ts';
import { type ApiError, apiError } from '../../contract/errors.ts';
import type { Candidate } from '../admit/call-plan.ts';
import type { EndpointHealth } from './endpoint-health.ts';

/** The candidates whose circuit breakers let a call through; where none does, a refusal that names the shortest wait. */
export function skipOpenEndpoints(
  candidates: readonly Candidate[],
  health: EndpointHealth,
): readonly Candidate[] | ApiError {
  let shortest: Wait | null = null;
  const closed: Candidate[] = [];
  for (const each of candidates) {
    const wait = health.waitFor(each);
    if (wait === null) closed.push(each);
    else if (shortest === null || wait.waitMs < shortest.waitMs) shortest = wait;
  }
  return closed.length > 0 || shortest === null ? closed : refuseWait(shortest);
}

/** The caller is told to come back when the next probe or call may close the breaker. */
export const refuseWait = ({ cause, waitMs }: Wait): ApiError =>
  apiError(cause === 'rate_limited' ? 'model_busy' : 'provider_unavailable', {
    retryAfterMs: Math.ceil(waitMs),
  });
