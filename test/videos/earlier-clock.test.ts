import { expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { earlierClock } from '../../workers/video/earlier-clock.ts';
import { isSubmissionLate } from '../../workers/video/next-video-step.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const WEEK_MS = 7 * 24 * HOUR_MS;

test.each([
  ['the worker', WEEK_MS, 0],
  ['Redis', 0, WEEK_MS],
  ['the worker, a little more than Redis', WEEK_MS, WEEK_MS - HOUR_MS],
])('a video of today is not late where the clock of %s is ahead', (_whose, workerAheadMs, redisAheadMs) => {
  const machine = createFakeClock();
  const orderedMs = machine.now() + Math.min(workerAheadMs, redisAheadMs);
  const clock = earlierClock(
    { ...machine, now: () => machine.now() + workerAheadMs },
    () => redisAheadMs - workerAheadMs,
  );
  expect(isSubmissionLate(clock.now() - orderedMs)).toBe(false);
  machine.advance(HOUR_MS);
  expect(isSubmissionLate(clock.now() - orderedMs)).toBe(true);
});

test('clocks that are a minute apart are one time', () => {
  const machine = createFakeClock();
  expect(earlierClock(machine, () => -MINUTE_MS).now()).toBe(machine.now());
});
