import { isoTime } from '#core/clock.ts';
import { inWords } from '#core/in-words.ts';
import { CLOCK_APART_MAX_MS } from '#core/limits.ts';
import type { LedgerTimes } from './store.ts';

/** Milliseconds until calls can start; 0: they can now. Only time that the ledger has already written makes them wait. */
export const waitForClockMs = ({ aheadMs }: Pick<LedgerTimes, 'aheadMs'>): number =>
  Math.max(0, aheadMs - CLOCK_APART_MAX_MS);

/**
 * For `/readyz`: whether the times let calls start, or in words why not, for how long, and what to do. A process that can
 * start calls of some agents is ready. `believedInMs` is when this process will follow its machine's clock, which differs
 * from the time that it goes by; `null` if it does already.
 */
export function checkTimes(
  { leastAheadMs, apartMs }: LedgerTimes,
  nowMs: number,
  believedInMs: number | null = null,
): true | string {
  const waitMs = waitForClockMs({ aheadMs: leastAheadMs });
  if (waitMs > 0) {
    return (
      `a clock was ${inWords(leastAheadMs)} ahead of the present one when the ledger wrote down its time: no call starts for ` +
      `${inWords(waitMs)}, until ${isoTime(nowMs + waitMs)}, unless \`faregate clock repair\` sets the ledger's time back`
    );
  }
  if (Math.abs(apartMs) <= CLOCK_APART_MAX_MS) return true;
  const isAhead = apartMs > 0 ? 'ahead of' : 'behind';
  return `Redis' clock is ${inWords(Math.abs(apartMs))} ${isAhead} the clock of this process: no call starts until the wrong one is set right${describeBelief(nowMs, believedInMs)}`;
}

const describeBelief = (nowMs: number, believedInMs: number | null): string =>
  believedInMs === null
    ? ''
    : `. This process follows the clock of its machine in ${inWords(believedInMs)}, at ${isoTime(nowMs + believedInMs)}`;
