import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Capacity } from '#core/capacity/capacity.ts';
import { CAPACITY_SHARE_MS, shareCapacity } from '#core/capacity/redis-shared-capacity.ts';
import { DAY_MS, HOUR_MS, SECOND_MS } from '#core/clock.ts';
import type { RedisClient } from '#core/drivers/redis.ts';
import { startRedis } from '../services/start-redis.ts';
import { connectTo } from '../support/connect-to.ts';
import { testDataDir } from '../support/data-dir.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { until } from '../support/gateway.ts';
import { createMovingClock } from '../support/moving-clock.ts';
import { useRedis } from '../support/redis-server.ts';
import { describeWith } from '../support/with-services.ts';

describeWith(['redis'], 'the operator’s pool in a cluster', () => {
  const server = useRedis();
  const log = { info() {}, warn() {}, error() {} };

  function start(processId: string, redis: RedisClient = server.client, clock = createFakeClock()) {
    const capacity = new Capacity(() => ({ perCallNanoUsd: 100n, poolNanoUsd: 100n, runningCalls: 10 }), {
      isOver: () => false,
    });
    const sharing = shareCapacity({ redis, capacity, processId, clock, log });
    return { clock, capacity, sharing };
  }

  test('what one process holds is missing to the others a second later, until it is released or the process ends', async () => {
    const a = start('a');
    const b = start('b');
    expect(a.capacity.admit(70n)).toBe('admitted');
    await until(() => {
      a.clock.advance(CAPACITY_SHARE_MS);
      b.clock.advance(CAPACITY_SHARE_MS);
      return b.capacity.othersNanoUsd === 70n;
    });
    expect(b.capacity.admit(31n)).toBe('pool_full');
    expect(b.capacity.admit(30n)).toBe('admitted');
    await a.sharing.stop();
    await until(() => {
      b.clock.advance(CAPACITY_SHARE_MS);
      return b.capacity.othersNanoUsd === 0n;
    });
    expect(b.capacity.admit(70n)).toBe('admitted');
    await b.sharing.stop();
  });

  test('a process that died is forgotten after ten seconds, and what nobody can read at once', async () => {
    const [seconds] = await server.client.time();
    const longAgo = (Number(seconds) - 11) * 1_000;
    const justNow = (Number(seconds) - 2) * 1_000;
    const told = ['dead', `50 ${longAgo}`, 'alive', `9 ${justNow}`, 'of another release', 'strange'];
    await server.client.hset('faregate:capacity', ...told);
    const c = start('c');
    await until(() => c.capacity.othersNanoUsd === 9n);
    for (const gone of ['dead', 'of another release']) {
      expect(await server.client.hexists('faregate:capacity', gone)).toBe(0);
    }
    await c.sharing.stop();
  });

  test('a sum that is dated ahead of Redis fills no place in the pool, and goes at once', async () => {
    const nowMs = Date.now();
    const told = ['ten minutes', `50 ${nowMs + HOUR_MS / 6}`, 'three days', `50 ${nowMs + 3 * DAY_MS}`];
    await server.client.hset('faregate:capacity', 'alive', `9 ${nowMs}`, ...told);
    const e = start('e');
    await until(() => e.capacity.othersNanoUsd === 9n);
    expect(await server.client.hkeys('faregate:capacity')).not.toContain('three days');
    await e.sharing.stop();
    await server.client.del('faregate:capacity');
  });

  test.each([
    ['two hours ahead', 2 * HOUR_MS],
    ['three days ahead', 3 * DAY_MS],
    ['two hours behind', -2 * HOUR_MS],
    ['three days behind', -3 * DAY_MS],
  ])(
    'a process whose own clock is %s fills the pool with what it holds and no more, and is forgotten like the others',
    async (_, aheadMs) => {
      const wrong = start('wrong', server.client, createFakeClock(Date.now() + aheadMs));
      const right = start('right');
      wrong.capacity.admit(70n);
      await until(() => {
        wrong.clock.advance(CAPACITY_SHARE_MS);
        right.clock.advance(CAPACITY_SHARE_MS);
        return right.capacity.othersNanoUsd === 70n;
      });
      const [, at] = String(await server.client.hget('faregate:capacity', 'wrong')).split(' ');
      expect(Math.abs(Number(at) - Date.now())).toBeLessThan(5 * SECOND_MS);
      await wrong.sharing.stop();
      await right.sharing.stop();
    },
  );

  test("what died while Redis' clock was days ahead or behind is forgotten when the clock is right again", async () => {
    await using folder = await testDataDir();
    const moving = createMovingClock(join(folder.path, 'clock'));
    if (!moving.moves) return;
    const service = await startRedis({ dir: join(folder.path, 'redis'), env: moving.env });
    const client = await connectTo(service);
    try {
      for (const days of [3, -3]) {
        moving.aheadBy((days * DAY_MS) / SECOND_MS);
        const dying = start('dying', client);
        dying.capacity.admit(50n);
        await until(async () => {
          dying.clock.advance(CAPACITY_SHARE_MS);
          return String(await client.hget('faregate:capacity', 'dying')).startsWith('50 ');
        });
        moving.aheadBy(0);
        const living = start('living', client);
        await until(async () => {
          living.clock.advance(CAPACITY_SHARE_MS);
          return (await client.hexists('faregate:capacity', 'dying')) === 0;
        });
        expect(living.capacity.othersNanoUsd).toBe(0n);
        await living.sharing.stop();
        await dying.sharing.stop();
      }
    } finally {
      client.disconnect();
      await service.stop('SIGKILL');
    }
  });

  test('without Redis the last word of the others counts, and it is tried again', async () => {
    const d = start('d');
    await server.client.hset('faregate:capacity', 'other', `5 ${Date.now()}`);
    await until(() => {
      d.clock.advance(CAPACITY_SHARE_MS);
      return d.capacity.othersNanoUsd === 5n || d.capacity.othersNanoUsd === 14n;
    });
    const before = d.capacity.othersNanoUsd;
    server.client.disconnect();
    d.clock.advance(CAPACITY_SHARE_MS);
    await until(() => d.clock.pendingTimers() > 0);
    expect(d.capacity.othersNanoUsd).toBe(before);
    await d.sharing.stop();
  });
});
