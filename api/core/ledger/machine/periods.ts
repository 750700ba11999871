import { DAY_MS, startOfDayMs, startOfMonthMs, startOfNextMonthMs, startOfWeekMs } from '../../clock.ts';
import type { KeyLimit } from '../../events/ledger-event.ts';
import type { NanoUsd } from '../../money.ts';
import { isAhead } from './is-ahead.ts';
import type { KeyState, PeriodSum } from './state.ts';

/** Spec: Spending limit. Periods start at 00:00 UTC, weeks on Monday. */
export type Reset = KeyLimit['reset'];

export interface Period {
  startsAtMs: number;
  resetsAtMs: number;
}

export function periodOf(reset: Reset, nowMs: number): Period {
  switch (reset) {
    case 'daily': {
      const startsAtMs = startOfDayMs(nowMs);
      return { startsAtMs, resetsAtMs: startsAtMs + DAY_MS };
    }
    case 'weekly': {
      const startsAtMs = startOfWeekMs(nowMs);
      return { startsAtMs, resetsAtMs: startsAtMs + 7 * DAY_MS };
    }
    case 'monthly':
      return { startsAtMs: startOfMonthMs(nowMs), resetsAtMs: startOfNextMonthMs(nowMs) };
    default:
      return reset satisfies never;
  }
}

export function periodSumOf(key: KeyState, reset: Reset): PeriodSum {
  switch (reset) {
    case 'daily':
      return key.spent.day;
    case 'weekly':
      return key.spent.week;
    case 'monthly':
      return key.spent.month;
    default:
      return reset satisfies never;
  }
}

/**
 * A sum that was last booked in an earlier period counts nothing in this one. Neither does one of a period that a wrong clock
 * began: it would refuse calls until that has come. The next charge takes it back into its own period.
 */
export const sumSince = (sum: PeriodSum, startsAtMs: number, nowMs: number): NanoUsd =>
  sum.periodStartMs >= startsAtMs && !isAhead(sum.periodStartMs, nowMs) ? sum.nanoUsd : 0n;

/** A charge books in the period in which it is settled, even if its call started in the one before. */
export function bookCharge(key: KeyState, chargedNanoUsd: NanoUsd, atMs: number): void {
  const { day, week, month } = key.spent;
  addToPeriod(day, { startsAtMs: startOfDayMs(atMs), atMs }, chargedNanoUsd);
  addToPeriod(week, { startsAtMs: startOfWeekMs(atMs), atMs }, chargedNanoUsd);
  addToPeriod(month, { startsAtMs: startOfMonthMs(atMs), atMs }, chargedNanoUsd);
}

export function addToPeriod(
  sum: PeriodSum,
  { startsAtMs, atMs }: { startsAtMs: number; atMs: number },
  nanoUsd: NanoUsd,
): void {
  if (isAhead(sum.periodStartMs, atMs)) {
    sum.periodStartMs = startsAtMs;
    sum.nanoUsd += nanoUsd;
  } else if (sum.periodStartMs < startsAtMs) {
    sum.periodStartMs = startsAtMs;
    sum.nanoUsd = nanoUsd;
  } else {
    sum.nanoUsd += nanoUsd;
  }
}
