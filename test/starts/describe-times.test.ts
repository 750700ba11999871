import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { checkTimes } from '../../api/start/describe-times.ts';

const NOW_MS = Date.UTC(2026, 10, 28, 12);
const agreed = { aheadMs: 0, leastAheadMs: 0, apartMs: 0 };

test('an operator reads until when no call starts, and what ends the wait', () => {
  expect(checkTimes({ ...agreed, aheadMs: 2 * HOUR_MS, leastAheadMs: 2 * HOUR_MS }, NOW_MS)).toMatch(
    /no call starts for 1 h 55 min, until 2026-11-28T13:55:00.*`faregate clock repair`/,
  );
});

test('where only some agents wait the process is ready, with a warning that says until when', () => {
  expect(checkTimes({ ...agreed, aheadMs: 2 * HOUR_MS }, NOW_MS)).toEqual({
    warning: expect.stringMatching(
      /some agents start no call for 1 h 55 min, until 2026-11-28T13:55:00.*`faregate clock repair`/,
    ),
  });
});

test('clocks that are a minute apart are no news', () => {
  expect(checkTimes({ aheadMs: MINUTE_MS, leastAheadMs: 0, apartMs: -MINUTE_MS }, NOW_MS)).toBe(true);
});
