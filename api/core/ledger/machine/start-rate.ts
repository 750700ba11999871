import type { StartLimits } from '../command.ts';

const MICROS_PER_MS = 1_000;
const MICROS_PER_MINUTE = 60_000_000;

export type StartRate = { ok: true; nextTatUs: number } | { ok: false; retryAfterMs: number };

/**
 * GCRA: a start moves the theoretical arrival time on by one interval (100 ms at 600 a minute), and is refused
 * while that time is more than the burst ahead. Whole microseconds: the interval is rounded down, in the caller's
 * favour by less than one of them. A time further ahead than a used burst is of a clock that was wrong, or of a slower rate: it
 * lets one start through, and from there the rate counts.
 */
export function startRate(lastTatUs: number, limits: StartLimits, nowMs: number): StartRate {
  const intervalUs = startIntervalUs(limits);
  const nowUs = nowMs * MICROS_PER_MS;
  const isOfThisRate = lastTatUs <= nowUs + limits.burst * intervalUs;
  const tatUs = isOfThisRate ? lastTatUs : nowUs + (limits.burst - 1) * intervalUs;
  const excessUs = tatUs - nowUs - (limits.burst - 1) * intervalUs;
  if (excessUs > 0) return { ok: false, retryAfterMs: Math.ceil(excessUs / MICROS_PER_MS) };
  return { ok: true, nextTatUs: Math.max(tatUs, nowUs) + intervalUs };
}

export const startIntervalUs = ({ callsPerMinute }: StartLimits): number =>
  Math.max(1, Math.floor(MICROS_PER_MINUTE / callsPerMinute));
