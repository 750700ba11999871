import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS } from '#core/clock.ts';
import { bookCharge, periodOf } from '#core/ledger/machine/periods.ts';
import type { KeyState } from '#core/ledger/machine/state.ts';
import { windowStartMs } from './history/oracle-calendar.ts';

const at = (iso: string): number => Date.parse(iso);

const turns: ['daily' | 'weekly' | 'monthly', string, string, string][] = [
  ['daily', '2026-11-18T00:00:00.000Z', '2026-11-18', '2026-11-19'],
  ['daily', '2026-11-18T23:59:59.999Z', '2026-11-18', '2026-11-19'],
  ['daily', '2026-12-31T23:59:59.999Z', '2026-12-31', '2027-01-01'],
  ['weekly', '2026-11-22T23:59:59.999Z', '2026-11-16', '2026-11-23'],
  ['weekly', '2026-11-23T00:00:00.000Z', '2026-11-23', '2026-11-30'],
  ['weekly', '2026-12-31T12:00:00.000Z', '2026-12-28', '2027-01-04'],
  ['monthly', '2026-11-30T23:59:59.999Z', '2026-11-01', '2026-12-01'],
  ['monthly', '2026-12-01T00:00:00.000Z', '2026-12-01', '2027-01-01'],
  ['monthly', '2028-02-29T12:00:00.000Z', '2028-02-01', '2028-03-01'],
];

describe('the period of a spending limit', () => {
  test.each(turns)('%s, at %s, runs from %s to %s', (reset, now, starts, resets) => {
    expect(periodOf(reset, at(now))).toEqual({ startsAtMs: at(starts), resetsAtMs: at(resets) });
  });

  test.each(['daily', 'weekly', 'monthly'] as const)('%s agrees with the calendar for ten years', (reset) => {
    for (let nowMs = at('2026-01-01'); nowMs < at('2036-01-01'); nowMs += DAY_MS / 2 - HOUR_MS) {
      expect(periodOf(reset, nowMs)).toEqual({
        startsAtMs: windowStartMs(reset, nowMs),
        resetsAtMs: windowStartMs(reset, nowMs, 1),
      });
    }
  });
});

test('a charge counts in the day, the week and the month in which it is settled, whatever came before', () => {
  const unspent = () => ({ periodStartMs: 0, nanoUsd: 0n });
  const spent = { day: unspent(), week: unspent(), month: unspent() };
  const resets = { day: 'daily', week: 'weekly', month: 'monthly' } as const;
  const settledAtMs: number[] = [];
  // From an hour to three weeks apart, so that days, weeks and months are skipped too.
  for (let step = 1, nowMs = at('2026-11-18T22:00:00Z'); nowMs < at('2029-01-01'); step++) {
    bookCharge({ spent } as KeyState, 1n, nowMs);
    settledAtMs.push(nowMs);
    for (const unit of ['day', 'week', 'month'] as const) {
      const startsAtMs = windowStartMs(resets[unit], nowMs);
      const nanoUsd = BigInt(settledAtMs.filter((ms) => ms >= startsAtMs).length);
      expect(spent[unit]).toEqual({ periodStartMs: startsAtMs, nanoUsd });
    }
    nowMs += step % 40 === 0 ? 21 * DAY_MS : ((step * 7) % 50) * HOUR_MS;
  }
});
