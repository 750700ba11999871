import type { Clock } from '../clock.ts';
import { GcraBuckets, type Rate } from './gcra.ts';

/** A rate that all processes of a gateway keep together. */
export interface RateLimiter {
  /**
   * Takes so many at once or none: 0, or the milliseconds after which they fit (infinite for more than a burst).
   * `unavailable`: nobody can say at this moment.
   */
  take(subject: number, count: number): Promise<number | 'unavailable'>;
}

/** Of a gateway that is one process. By the monotonic clock: one that is set back would lock everybody out. */
export function createLocalRateLimiter(clock: Clock, rate: Rate): RateLimiter {
  const buckets = new GcraBuckets(rate);
  return {
    async take(subject, count) {
      const nowMs = clock.monotonicMs();
      const waitMs = buckets.waitMs(subject, nowMs, count);
      if (waitMs === 0) buckets.spend(subject, nowMs, count);
      return waitMs;
    },
  };
}
