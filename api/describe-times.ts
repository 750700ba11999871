import { isoTime, SECOND_MS } from '#core/clock.ts';
import { CLOCK_APART_MAX_MS } from '#core/limits.ts';
import type { LedgerTimes } from './store.ts';

/** Milliseconds until calls can start; 0: they can now. Only time that the ledger has already written makes them wait. */
export const waitForClockMs = ({ aheadMs }: Pick<LedgerTimes, 'aheadMs'>): number =>
  Math.max(0, aheadMs - CLOCK_APART_MAX_MS);

/**
 * For `/readyz`: whether the times let calls start, or in words why not, for how long, and what to do. A process that can
 * start calls of some agents is ready.
 */
export function checkTimes({ leastAheadMs, apartMs }: LedgerTimes, nowMs: number): true | string {
  const waitMs = waitForClockMs({ aheadMs: leastAheadMs });
  if (waitMs > 0) {
    return (
      `a clock was ${inWords(leastAheadMs)} ahead of the present one when the ledger wrote down its time: no call starts for ` +
      `${inWords(waitMs)}, until ${isoTime(nowMs + waitMs)}, unless \`faregate clock repair\` sets the ledger's time back`
    );
  }
  if (Math.abs(apartMs) <= CLOCK_APART_MAX_MS) return true;
  const isAhead = apartMs > 0 ? 'ahead of' : 'behind';
  return `Redis' clock is ${inWords(Math.abs(apartMs))} ${isAhead} the clock of this process: no call starts until the wrong one is set right`;
}

/** `2 h 5 min`, `3 d 1 h`, `45 s`. */
export function inWords(durationMs: number): string {
  const seconds = Math.ceil(durationMs / SECOND_MS);
  const units = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = units.findIndex(([count]) => count > 0);
  if (first < 0) return '0 s';
  return units
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
}
