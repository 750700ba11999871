import type { Clock } from '#core/clock.ts';
import { CLOCK_APART_MAX_MS } from '#core/limits.ts';

/**
 * The clock by which a worker judges how old a video is: the earlier one of its own and of Redis', where they are more than
 * `CLOCK_APART_MAX_MS` apart. Either machine's clock may be the wrong one. A clock that is ahead would end young videos as late, and
 * unpaid, while their provider goes on and bills. A clock that is behind only lets a late video live until the clocks agree.
 *
 * @param apartMs How far Redis' clock is ahead of this process's own; negative where it is behind.
 */
export const earlierClock = (clock: Clock, apartMs: () => number): Clock => ({
  now() {
    const redisAheadMs = apartMs();
    return clock.now() + (redisAheadMs < -CLOCK_APART_MAX_MS ? redisAheadMs : 0);
  },
  monotonicMs: () => clock.monotonicMs(),
  setTimer: (...timer) => clock.setTimer(...timer),
});
