import { expect, test } from 'vitest';
import { type CountedCall, USAGE_SUMS_KEPT, UsageBook } from '../../workers/projector/usage-book.ts';
import { createMemoryHistoryStore } from '../support/memory-history-store.ts';

const callOf = (agentId: number, seq: number): CountedCall => ({
  ...{ agentId, day: 20_000, model: 'acme/small', modelName: 'Acme Small' },
  ...{ tokens: 10, chargedNanoUsd: 3n, epoch: 1, seq },
});

test('keeps no more sums than it may, and reads those again that it gave up', async () => {
  const store = createMemoryHistoryStore();
  let reads = 0;
  const book = new UsageBook((key) => {
    reads++;
    return store.readUsage(key);
  });
  let seq = 0;
  const countOne = async (agentId: number) => {
    const calls = [callOf(agentId, ++seq)];
    await book.load(calls);
    await store.write({ calls: [], entries: [], usage: book.count(calls), videos: [] });
  };
  // The first one is used again and again, the second one only once more, at the end.
  for (let agentId = 1; agentId <= USAGE_SUMS_KEPT + 1; agentId++) {
    await countOne(agentId);
    await countOne(1);
  }
  expect(reads).toBe(USAGE_SUMS_KEPT + 1);
  await countOne(2);
  expect(reads).toBe(USAGE_SUMS_KEPT + 2);
  const of = (agentId: number) => store.readUsage({ agentId, day: 20_000, model: 'acme/small' });
  expect(await of(2)).toMatchObject({ calls: 2, tokens: 20, chargedNanoUsd: 6n, seq });
  expect(await of(1)).toMatchObject({ calls: USAGE_SUMS_KEPT + 2 });
});

test('counts no call that the sum which it read contains already', async () => {
  const store = createMemoryHistoryStore();
  const count = async (calls: CountedCall[]) => {
    const book = new UsageBook(store.readUsage);
    await book.load(calls);
    await store.write({ calls: [], entries: [], usage: book.count(calls), videos: [] });
  };
  await count([callOf(1, 1), callOf(1, 5)]);
  await count([callOf(1, 1), callOf(1, 5), callOf(1, 7)]);
  const [sum] = store.stored().usage;
  expect(sum).toMatchObject({ calls: 3, chargedNanoUsd: 9n, seq: 7 });
});
