import { isRedisUnavailable, type RedisClient } from '../drivers/redis.ts';
import type { Rate } from './gcra.ts';
import type { RateLimiter } from './rate-limiter.ts';

/**
 * The same arithmetic as of `GcraBuckets`, by Redis' own clock, so that processes agree. KEYS[1]: the theoretical arrival
 * time in microseconds. ARGV: per minute, burst, how many. Answers the milliseconds to wait. A bucket that has rested is
 * forgotten, a clock set back leaves a bucket that lets the next one through, and a full memory keeps nobody from reading.
 */
const TAKE = `#!lua flags=allow-oom
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local step = math.max(1, math.floor(60000000 / ARGV[1]))
local tat = tonumber(redis.call('GET', KEYS[1]) or 0)
if tat > now + ARGV[2] * step then tat = now + (ARGV[2] - ARGV[3]) * step end
local wait = math.ceil((tat - now - (ARGV[2] - ARGV[3]) * step) / 1000)
if wait > 0 then return wait end
tat = math.max(tat, now) + ARGV[3] * step
redis.call('SET', KEYS[1], string.format('%.0f', tat), 'PX', math.ceil((tat - now) / 1000))
return 0
`;

/** Of all processes of a cluster. What a lost Redis forgets is a minute's requests. */
export const createRedisRateLimiter = (redis: RedisClient, name: string, rate: Rate): RateLimiter => ({
  async take(subject, count) {
    const burst = rate.burst();
    if (count > burst) return Number.POSITIVE_INFINITY;
    try {
      const key = `faregate:rate:${name}:${subject}`;
      return Number(await redis.eval(TAKE, 1, key, rate.ratePerMinute(), burst, count));
    } catch (error) {
      if (isRedisUnavailable(error)) return 'unavailable';
      throw error;
    }
  },
});
