import { expect, test } from 'vitest';
import { Capacity } from '#core/capacity/capacity.ts';
import { shareCapacity } from '#core/capacity/redis-shared-capacity.ts';
import { CAPACITY_SHARE_MS } from '#core/limits.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { until } from '../support/gateway.ts';
import { useRedis } from '../support/redis-server.ts';
import { describeWith } from '../support/with-services.ts';

describeWith(['redis'], 'the operator’s pool in a cluster', () => {
  const server = useRedis();
  const log = { info() {}, warn() {}, error() {} };

  function start(processId: string) {
    const clock = createFakeClock();
    const capacity = new Capacity(() => ({ perCallNanoUsd: 100n, poolNanoUsd: 100n, runningCalls: 10 }), {
      isOver: () => false,
    });
    const sharing = shareCapacity({ redis: server.client, capacity, processId, clock, log });
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
