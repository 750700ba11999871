import { describe, expect, it } from 'vitest';
import type { Rate } from '#core/rates/gcra.ts';
import type { RateLimiter } from '#core/rates/rate-limiter.ts';

export interface RateWorld {
  limiter(rate: Rate): RateLimiter;
  /** Time goes on by at least so much. */
  pass(ms: number): Promise<void>;
}

const rateOf = (ratePerMinute: number, burst: number): Rate => ({
  ratePerMinute: () => ratePerMinute,
  burst: () => burst,
});

/** What every limiter promises. */
export function testRateLimiter(name: string, world: () => RateWorld): void {
  let lastSubject = 0;
  const newSubject = () => ++lastSubject;

  describe(name, () => {
    it('lets a burst through at once, and then tells how long to wait', async () => {
      const limiter = world().limiter(rateOf(60, 20));
      const subject = newSubject();
      for (let i = 0; i < 20; i++) expect(await limiter.take(subject, 1)).toBe(0);
      const waitMs = Number(await limiter.take(subject, 1));
      expect(waitMs).toBeGreaterThan(0);
      expect(waitMs).toBeLessThanOrEqual(1_000);
      await world().pass(waitMs);
      expect(await limiter.take(subject, 1)).toBe(0);
    });

    it('takes several at once or none of them', async () => {
      const limiter = world().limiter(rateOf(60, 5));
      const subject = newSubject();
      expect(await limiter.take(subject, 3)).toBe(0);
      expect(await limiter.take(subject, 3)).toBeGreaterThan(0);
      expect(await limiter.take(subject, 2)).toBe(0);
      expect(await limiter.take(subject, 6)).toBe(Number.POSITIVE_INFINITY);
    });

    it('knows its subjects apart', async () => {
      const limiter = world().limiter(rateOf(60, 1));
      expect(await limiter.take(newSubject(), 1)).toBe(0);
      expect(await limiter.take(newSubject(), 1)).toBe(0);
    });

    it('lets a hundred at once have no more than the burst', async () => {
      const limiter = world().limiter(rateOf(60, 20));
      const subject = newSubject();
      const waits = await Promise.all(Array.from({ length: 100 }, () => limiter.take(subject, 1)));
      expect(waits.filter((waitMs) => waitMs === 0)).toHaveLength(20);
    });
  });
}
