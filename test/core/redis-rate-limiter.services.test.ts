import { expect, test } from 'vitest';
import { createRedisRateLimiter } from '#core/rates/redis-rate-limiter.ts';
import { useRedis } from '../support/redis-server.ts';
import { describeWith } from '../support/with-services.ts';
import { testRateLimiter } from './rate-limiter-contract.ts';

describeWith(['redis'], 'rates in a cluster', () => {
  const server = useRedis();
  const rate = { ratePerMinute: () => 60, burst: () => 2 };

  testRateLimiter('of Redis', () => ({
    limiter: (of) => createRedisRateLimiter(server.client, 'contract', of),
    pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms + 2)),
  }));

  test('all processes share a rate, and each has its own name', async () => {
    const [a, b] = [1, 2].map(() => createRedisRateLimiter(server.client, 'shared', rate));
    const other = createRedisRateLimiter(server.client, 'other', rate);
    expect(await a?.take(1, 1)).toBe(0);
    expect(await b?.take(1, 1)).toBe(0);
    expect(await a?.take(1, 1)).toBeGreaterThan(0);
    expect(await other.take(1, 1)).toBe(0);
  });

  test('what has rested is forgotten', async () => {
    const limiter = createRedisRateLimiter(server.client, 'rested', rate);
    await limiter.take(1, 2);
    const leftMs = await server.client.pttl('faregate:rate:rested:1');
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(2_000);
  });

  test('a clock that was set back locks nobody out: the next one is let through, and then the rate counts', async () => {
    const limiter = createRedisRateLimiter(server.client, 'back', rate);
    const anHourAheadUs = (Date.now() + 3_600_000) * 1_000;
    await server.client.set('faregate:rate:back:1', anHourAheadUs);
    expect(await limiter.take(1, 1)).toBe(0);
    expect(await limiter.take(1, 1)).toBeGreaterThan(900);
    // The answer to the first took some of the two seconds.
    const waitMs = await limiter.take(1, 2);
    expect(waitMs).toBeGreaterThan(1_000);
    expect(waitMs).toBeLessThanOrEqual(2_000);
  });

  test('a Redis whose memory is full still counts, and one that cannot write says that it cannot', async () => {
    const limiter = createRedisRateLimiter(server.client, 'full', rate);
    try {
      await server.client.config('SET', 'maxmemory', '1');
      expect(await limiter.take(1, 2)).toBe(0);
      expect(await limiter.take(1, 1)).toBeGreaterThan(0);
      await server.client.config('SET', 'min-replicas-to-write', '1');
      expect(await limiter.take(2, 1)).toBe('unavailable');
    } finally {
      await server.client.config('SET', 'maxmemory', '0');
      await server.client.config('SET', 'min-replicas-to-write', '0');
    }
  });

  test('without Redis nobody can say', async () => {
    const limiter = createRedisRateLimiter(server.client, 'gone', rate);
    server.client.disconnect();
    expect(await limiter.take(1, 1)).toBe('unavailable');
  });
});
