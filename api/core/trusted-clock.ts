import { type Clock, MINUTE_MS } from './clock.ts';
import { CLOCK_APART_MAX_MS } from './limits.ts';

/**
 * A wall clock whose steps have to last: a machine that believes for a moment that it is next week would otherwise end
 * every agent's credit, for good. While the wall clock and the monotonic clock disagree about the time gone by, time
 * goes on by the monotonic one; after five minutes the wall clock is believed, as after a laptop's sleep.
 */
export function trustedClock(clock: Clock): Clock {
  /** Wall time where the monotonic clock began. */
  let believedMs = clock.now() - clock.monotonicMs();
  let doubted: { sinceMs: number; claimedMs: number } | null = null;
  // A machine that has just started may still learn the time: nothing speaks for what it believed until then. The first
  // look after that is believed, too, however long nobody had looked.
  let provenAtMs: number | null = clock.monotonicMs() + STEP_PROVEN_MS;

  function now(): number {
    const wallMs = clock.now();
    const monotonicMs = clock.monotonicMs();
    const claimedMs = wallMs - monotonicMs;
    if (isNear(claimedMs, believedMs) || provenAtMs !== null) doubted = null;
    else {
      if (doubted === null || !isNear(claimedMs, doubted.claimedMs))
        doubted = { sinceMs: monotonicMs, claimedMs };
      if (monotonicMs - doubted.sinceMs < STEP_PROVEN_MS) return Math.floor(believedMs + monotonicMs);
      doubted = null;
    }
    if (provenAtMs !== null && monotonicMs >= provenAtMs) provenAtMs = null;
    // Followed all the time, so that small corrections never add up to a step.
    believedMs = claimedMs;
    return wallMs;
  }

  return { ...clock, now };
}

const STEP_PROVEN_MS = 5 * MINUTE_MS;

/** A smaller step can end no running call and no credit that is not about to end. */
const isNear = (aMs: number, bMs: number): boolean => Math.abs(aMs - bMs) <= CLOCK_APART_MAX_MS;
