import type { Client } from 'cassandra-driver';
import { expect, test } from 'vitest';
import { createCassandraCallHistory } from '#core/calls/cassandra-call-history.ts';
import { HISTORY_READ_MS } from '#core/drivers/cassandra.ts';
import { createFakeClock } from '../support/fake-clock.ts';

test('a read of the history ends in time, however slow each step of it is', async () => {
  const clock = createFakeClock();
  const silent: Client = Object.assign(Object.create(null), { execute: () => new Promise(() => {}) });
  const history = createCassandraCallHistory(silent, clock);
  const answers = Promise.all([
    history.list({ agentId: 1, limit: 1 }),
    history.find(1),
    history.usage({ agentId: 1, fromDay: '2026-11-18', toDay: '2026-11-18' }),
  ]);
  clock.advance(HISTORY_READ_MS);
  expect(await answers).toEqual(['unavailable', 'unavailable', 'unavailable']);
  expect(clock.pendingTimers()).toBe(0);
});

test('a mistake of ours is not taken for a store that is away', async () => {
  const mistaken: Client = Object.assign(Object.create(null), {
    execute: async () => Promise.reject(new TypeError('not a bigint')),
  });
  const history = createCassandraCallHistory(mistaken, createFakeClock());
  await expect(history.find(1)).rejects.toThrow('not a bigint');
});
