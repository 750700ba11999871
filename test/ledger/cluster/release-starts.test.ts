import { expect, test } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { createRedisLedger } from '#core/ledger/cluster/redis-ledger.ts';
import { createFakeClock } from '../../support/fake-clock.ts';
import { does, refused } from '../case.ts';
import { reserve } from '../commands.ts';

test('credit that a start without an answer has held is free within four seconds of the end of a long outage', async () => {
  const clock = createFakeClock();
  let isGone = true;
  let settledAtMs = 0;
  const ledger = createRedisLedger({
    scripts: {
      async run(name) {
        // The start may have been done: its answer never came.
        if (isGone) throw new Error('Command timed out');
        if (name === 'settle') settledAtMs = clock.monotonicMs();
        return ['OK', '1-2', '0'];
      },
    },
    shards: 64,
    clock,
    log: { info: () => {}, warn: () => {}, error: () => {} },
    acknowledged: async () => 'durable',
  });
  await does(reserve(1, 10n), refused('unavailable'))({ ledger, clock, callIds: new Map() });
  const passes = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 50) {
      clock.advance(50);
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  await passes(10 * MINUTE_MS + 5 * SECOND_MS);
  isGone = false;
  const backAtMs = clock.monotonicMs();
  await passes(4 * SECOND_MS);
  expect(settledAtMs).toBeGreaterThan(backAtMs);
  expect(clock.pendingTimers()).toBe(0);
  await ledger.close();
});
