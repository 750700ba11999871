import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, isoTime, MINUTE_MS, SECOND_MS, systemClock } from '#core/clock.ts';
import { duration, fromNow, lastDays } from '../../api/console/page/lib/time.js';

describe('the console tells how far away a time is', () => {
  test.each([
    [7 * DAY_MS, 'in 7 days'],
    [2 * DAY_MS, 'in 2 days'],
    // Not `tomorrow`, which would be another day.
    [42 * HOUR_MS, 'in 42 hours'],
    [90 * MINUTE_MS, 'in 1 hour'],
    [20 * SECOND_MS, 'in less than a minute'],
    [-20 * SECOND_MS, 'just now'],
    [-5 * MINUTE_MS, '5 minutes ago'],
    [-3 * DAY_MS, '3 days ago'],
  ])('%d ms: %s', (awayMs, words) => {
    // A little further, for the time that this takes.
    const atMs = systemClock.now() + awayMs + Math.sign(awayMs) * 10 * SECOND_MS;
    expect(fromNow(isoTime(atMs))).toBe(words);
  });
});

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1000, '1.0 s'],
  [59_400, '59.4 s'],
  [59_960, '1 min 0 s'],
  [119_700, '2 min 0 s'],
  [1_800_000, '30 min 0 s'],
])('a call of %d ms took %s', (ms, words) => {
  expect(duration(ms)).toBe(words);
});

test('days are counted in UTC, over the end of a month', () => {
  expect(lastDays(3, '2026-03-01')).toEqual(['2026-02-27', '2026-02-28', '2026-03-01']);
});
