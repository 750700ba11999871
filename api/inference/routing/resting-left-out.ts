import { type ApiError, apiError } from '../../contract/errors.ts';
import type { Candidate } from '../call-plan.ts';
import type { EndpointHealth } from './endpoint-health.ts';

/** Who has failed time and again is left out while it rests. */
export function restingLeftOut(
  candidates: readonly Candidate[],
  health: EndpointHealth,
  nowMs: number,
): readonly Candidate[] | ApiError {
  let retryAfterMs: number | null = null;
  const awake = candidates.filter((each) => {
    const restMs = health.restMs(each.endpoint, nowMs);
    if (restMs !== null) retryAfterMs = Math.min(retryAfterMs ?? restMs, restMs);
    return restMs === null;
  });
  if (awake.length > 0 || retryAfterMs === null) return awake;
  return apiError('provider_unavailable', { retryAfterMs });
}
