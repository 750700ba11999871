import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { createRedisLedger } from '#core/ledger/cluster/redis-ledger.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

test('a process that nobody calls sees within a look that Redis is gone, and that it is back', async () => {
  let isGone = false;
  let asked = 0;
  const ledger = createRedisLedger({
    scripts: {
      async run() {
        asked++;
        if (isGone) throw new Error('Connection is closed.');
        return ['OK', '1', '0'];
      },
    },
    shards: 64,
    clock: createFakeClock(),
    log: { info: () => {}, warn: () => {}, error: () => {} },
    acknowledged: async () => 'durable',
  });
  await ledger.lookAtShards();
  expect(ledger.stats()).toMatchObject({ openShards: 64, closedShards: 0 });
  asked = 0;
  await ledger.lookAtShards();
  expect(asked).toBe(1);
  isGone = true;
  await ledger.lookAtShards();
  expect(ledger.stats()).toMatchObject({ openShards: 0, closedShards: 64 });
  isGone = false;
  await ledger.lookAtShards();
  expect(ledger.stats()).toMatchObject({ openShards: 64, closedShards: 0 });
});

test.each([
  ['ten minutes ahead', 10 * MINUTE_MS],
  ['three days ahead', 3 * DAY_MS],
  ['two hours behind', -2 * HOUR_MS],
])(
  "a process sees within a look that Redis' clock jumped %s, and that it is right again",
  async (_, jumpMs) => {
    const clock = createFakeClock();
    let apartMs = 0;
    let silent = '';
    const ledger = createRedisLedger({
      scripts: {
        async run(_name, [meta]) {
          if (meta === silent) throw new Error('Command timed out');
          return ['OK', '1', '0', '', '', String(clock.now() + apartMs), '0'];
        },
      },
      shards: 64,
      clock,
      log: { info: () => {}, warn: () => {}, error: () => {} },
      acknowledged: async () => 'durable',
    });
    await ledger.lookAtShards();
    expect(ledger.stats().times.apartMs).toBe(0);
    apartMs = jumpMs;
    silent = new ShardKeys(40).meta;
    await ledger.lookAtShards();
    expect(ledger.stats().times.apartMs).toBe(jumpMs);
    apartMs = 0;
    silent = '';
    await ledger.lookAtShards();
    expect(ledger.stats().times.apartMs).toBe(0);
  },
);

test('open videos are listed shard by shard where one of them is away', async () => {
  const away = new ShardKeys(5).meta;
  const ledger = createRedisLedger({
    scripts: {
      async run(_name, [meta]) {
        return meta === away ? ['FENCED'] : ['OK', '1-0', []];
      },
    },
    shards: 64,
    clock: createFakeClock(),
    log: { info: () => {}, warn: () => {}, error: () => {} },
    acknowledged: async () => 'durable',
  });
  expect(await ledger.listOpenVideos()).toBe('unavailable');
  expect(await ledger.listOpenVideosOf(5)).toBe('unavailable');
  expect(await ledger.listOpenVideosOf(4)).toEqual([]);
});
