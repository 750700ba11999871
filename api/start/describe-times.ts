import { isoTime } from '#core/clock.ts';
import { inWords } from '#core/in-words.ts';
import { CLOCK_APART_MAX_MS } from '#core/limits.ts';
import type { CheckAnswer } from '../http/create-internal-server.ts';
import type { LedgerTimes } from '../stores/store.ts';

/** Milliseconds until calls can start; 0: they can now. Only time that the ledger has already written makes them wait. */
export const waitForClockMs = ({ aheadMs }: Pick<LedgerTimes, 'aheadMs'>): number =>
  Math.max(0, aheadMs - CLOCK_APART_MAX_MS);

/**
 * `/readyz` asks whether the times let calls start. The answer says in words why not, for how long, and what to do. A process
 * that can start calls of some agents is ready, with a warning for the others.
 *
 * @param believedInMs The milliseconds until this process follows its machine's clock, which differs from the time that it goes
 *   by; `null` if it does already.
 */
export function checkTimes(
  { aheadMs, leastAheadMs, apartMs }: LedgerTimes,
  nowMs: number,
  believedInMs: number | null = null,
): CheckAnswer {
  if (waitForClockMs({ aheadMs: leastAheadMs }) > 0)
    return describeWait(leastAheadMs, nowMs, 'no call starts');
  if (Math.abs(apartMs) > CLOCK_APART_MAX_MS) {
    const isAhead = apartMs > 0 ? 'ahead of' : 'behind';
    return `Redis' clock is ${inWords(Math.abs(apartMs))} ${isAhead} the clock of this process: no call starts until the wrong one is set right${describeBelief(nowMs, believedInMs)}`;
  }
  if (waitForClockMs({ aheadMs }) === 0) return true;
  return { warning: describeWait(aheadMs, nowMs, 'some agents start no call') };
}

/** @param effect What does not happen until then. */
function describeWait(aheadMs: number, nowMs: number, effect: string): string {
  const waitMs = waitForClockMs({ aheadMs });
  return (
    `a clock was ${inWords(aheadMs)} ahead of the present one when the ledger wrote down its time: ${effect} for ` +
    `${inWords(waitMs)}, until ${isoTime(nowMs + waitMs)}, unless \`faregate clock repair\` sets the ledger's time back`
  );
}

const describeBelief = (nowMs: number, believedInMs: number | null): string =>
  believedInMs === null
    ? ''
    : `. This process follows the clock of its machine in ${inWords(believedInMs)}, at ${isoTime(nowMs + believedInMs)}`;
