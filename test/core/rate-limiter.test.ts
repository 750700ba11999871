import { beforeEach, expect, it } from 'vitest';
import { createLocalRateLimiter } from '#core/rates/rate-limiter.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { testRateLimiter } from './rate-limiter-contract.ts';

let clock: FakeClock;
beforeEach(() => {
  clock = createFakeClock();
});

testRateLimiter('the rates of one process', () => ({
  limiter: (rate) => createLocalRateLimiter(clock, rate),
  pass: async (ms) => clock.advance(ms),
}));

it('a wall clock that is set back locks nobody out', async () => {
  const limiter = createLocalRateLimiter(clock, { ratePerMinute: () => 60, burst: () => 1 });
  expect(await limiter.take(1, 1)).toBe(0);
  clock.set(clock.now() - 3_600_000);
  clock.advance(1_000);
  expect(await limiter.take(1, 1)).toBe(0);
});
