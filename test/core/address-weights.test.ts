import { describe, expect, test } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import type { RedisClient } from '#core/drivers/redis.ts';
import { SUBJECTS_MAX } from '#core/limits.ts';
import { createLocalAddressWeights } from '#core/rates/address-weights.ts';
import {
  createRedisAddressWeights,
  WEIGHTS_RETRY_MS,
  WEIGHTS_TOLD_MS,
} from '#core/rates/redis-address-weights.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const START_MS = Date.UTC(2026, 10, 18, 10, 20, 30);

describe('in one process', () => {
  test('an address has its weight in each minute of the UTC clock, and the next one anew', async () => {
    const clock = createFakeClock(START_MS);
    const weights = createLocalAddressWeights(clock, () => 10);
    expect(await weights.count('a', 6)).toEqual({ waitMs: 0, used: 6 });
    expect(await weights.count('a', 5)).toEqual({ waitMs: 30_000, used: 6 });
    expect(await weights.count('a', 4)).toEqual({ waitMs: 0, used: 10 });
    expect(await weights.count('b', 10)).toEqual({ waitMs: 0, used: 10 });
    clock.advance(29_999);
    expect(await weights.count('a', 1)).toEqual({ waitMs: 1, used: 10 });
    clock.advance(1);
    expect(await weights.count('a', 1)).toEqual({ waitMs: 0, used: 1 });
  });

  test('the operator may change the weight while it runs', async () => {
    let perMinute = 1;
    const weights = createLocalAddressWeights(createFakeClock(START_MS), () => perMinute);
    await weights.count('a', 1);
    expect((await weights.count('a', 1)).waitMs).toBeGreaterThan(0);
    perMinute = 2;
    expect((await weights.count('a', 1)).waitMs).toBe(0);
  });

  test('so many addresses as there is memory for are known, the latest ones', async () => {
    const weights = createLocalAddressWeights(createFakeClock(START_MS), () => 10);
    await weights.count('first', 1);
    for (let n = 0; n < SUBJECTS_MAX; n++) await weights.count(String(n), 1);
    expect((await weights.count(String(SUBJECTS_MAX - 1), 1)).used).toBe(2);
    expect((await weights.count('first', 1)).used).toBe(1);
  });
});

/** What the script does, and what becomes of it. */
function createFakeRedis() {
  const used = new Map<string, number>();
  const asked: { key: string; told: number; weight: number }[] = [];
  const redis = {
    isAway: false,
    async eval(_script: string, _keys: number, key: string, told: number, weight: number, limit: number) {
      asked.push({ key, told, weight });
      if (redis.isAway) throw new Error('Connection is closed.');
      const before = (used.get(key) ?? 0) + told;
      const fits = before + weight <= limit;
      used.set(key, fits ? before + weight : before);
      return [fits ? 1 : 0, used.get(key)];
    },
  };
  return { redis, used, asked, total: () => [...used.values()].reduce((sum, each) => sum + each, 0) };
}

function createWorld(processes = 1, limit = 1_200) {
  const clock = createFakeClock(START_MS);
  const shared = createFakeRedis();
  const logged: string[] = [];
  const note = (event: string) => void logged.push(event);
  const weights = Array.from({ length: processes }, () =>
    createRedisAddressWeights({
      redis: shared.redis as unknown as RedisClient,
      clock,
      log: { info: note, warn: note, error: note },
      weightPerMinute: () => limit,
    }),
  );
  const count = async (process: number, weight: number, address = 'a') =>
    weights[process]?.count(address, weight);
  return { clock, ...shared, logged, weights, count };
}

const settled = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

describe('over many processes', () => {
  test('the first read is asked for, those right after it are let through at once and told together', async () => {
    const { weights, asked, clock, total } = createWorld();
    expect(await weights[0]?.count('a', 2)).toEqual({ waitMs: 0, used: 2 });
    for (let i = 1; i <= 10; i++) {
      expect(await weights[0]?.count('a', 2)).toEqual({ waitMs: 0, used: 2 + 2 * i });
    }
    expect(asked).toHaveLength(1);
    clock.advance(WEIGHTS_TOLD_MS);
    await settled();
    expect(asked.slice(1)).toEqual([
      { key: `faregate:weight:${START_MS / MINUTE_MS - 0.5}:a`, told: 20, weight: 0 },
    ]);
    expect(total()).toBe(22);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('what has grown is told before its time', async () => {
    const { count, asked, total } = createWorld();
    for (let i = 0; i < 53; i++) await count(0, 1);
    expect(asked).toHaveLength(3);
    expect(total()).toBe(53);
  });

  test.each([1, 3, 12])(
    'exactly 1,200 pass over %d processes, however they take turns',
    async (processes) => {
      for (const weight of [1, 2, 5]) {
        const { clock, count, total } = createWorld(processes);
        let passed = 0;
        for (let n = 0; n < 2_000; n++) {
          const counted = await count(n % processes, weight);
          if (counted?.waitMs === 0) passed += weight;
          if (n % 100 === 0) clock.advance(1);
        }
        clock.advance(WEIGHTS_TOLD_MS);
        await settled();
        expect([passed, total()]).toEqual([1_200, 1_200]);
      }
    },
  );

  test('a process that an address comes to late knows what others have let through', async () => {
    const { count } = createWorld(2);
    for (let n = 0; n < 1_200; n++) expect((await count(0, 1))?.waitMs).toBe(0);
    expect(await count(1, 1)).toEqual({ waitMs: 30_000, used: 1_200 });
  });

  test('a thousand reads at once pass no more than fit', async () => {
    const { weights } = createWorld(3);
    const all = await Promise.all(Array.from({ length: 2_000 }, (_, n) => weights[n % 3]?.count('a', 1)));
    expect(all.filter((counted) => counted?.waitMs === 0)).toHaveLength(1_200);
  });

  test('while Redis is away each counts for itself, without a wait, and together again when it is back', async () => {
    const { redis, clock, count, weights, logged, asked, total } = createWorld(2);
    await count(0, 5);
    redis.isAway = true;
    clock.advance(MINUTE_MS);
    expect(await count(0, 1_000)).toEqual({ waitMs: 0, used: 1_000 });
    const before = asked.length;
    expect(await weights[0]?.count('a', 200)).toEqual({ waitMs: 0, used: 1_200 });
    expect(await weights[0]?.count('a', 1)).toMatchObject({ used: 1_200, waitMs: 30_000 });
    expect(await weights[0]?.count('b', 1)).toEqual({ waitMs: 0, used: 1 });
    expect(asked).toHaveLength(before);
    clock.advance(WEIGHTS_RETRY_MS / 2);
    await settled();
    expect(asked).toHaveLength(before);
    redis.isAway = false;
    clock.advance(WEIGHTS_RETRY_MS);
    await settled();
    clock.advance(WEIGHTS_TOLD_MS);
    await settled();
    expect(total()).toBe(5 + 1_200 + 1);
    expect(await count(1, 1)).toMatchObject({ used: 1_200, waitMs: expect.any(Number) });
    expect(logged).toEqual(['weights of addresses cannot be shared with other processes, it is tried again']);
    expect(clock.pendingTimers()).toBe(0);
  });

  test('what was let through in a minute that is over is told to nobody', async () => {
    const { clock, count, asked } = createWorld();
    clock.advance(29_950);
    await count(0, 1);
    await count(0, 1);
    clock.advance(WEIGHTS_TOLD_MS);
    await settled();
    expect(asked).toHaveLength(1);
    expect(await count(0, 1)).toEqual({ waitMs: 0, used: 1 });
  });
});
