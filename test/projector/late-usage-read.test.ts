import { expect, test } from 'vitest';
import type { UsageSum } from '#core/calls/history-store.ts';
import { type CountedCall, UsageBook } from '../../workers/projector/usage-book.ts';

const call = (model: string, seq: number): CountedCall => ({
  agentId: 1,
  day: 20_000,
  model,
  modelName: model,
  tokens: 10,
  chargedNanoUsd: 5n,
  epoch: 1,
  seq,
});

test('what was counted stays counted when a read of before comes late, because another one beside it failed', async () => {
  const late = Promise.withResolvers<UsageSum | null>();
  const answers = [late.promise, Promise.reject(new Error('no answer')), null, null];
  const book = new UsageBook(async () => (await answers.shift()) ?? null);
  const calls = [call('slow', 1), call('failing', 2)];
  await expect(book.load(calls)).rejects.toThrow('no answer');
  await book.load(calls);
  expect(book.count(calls).map(({ chargedNanoUsd }) => chargedNanoUsd)).toEqual([5n, 5n]);
  late.resolve(null);
  await late.promise;
  const next = [call('slow', 3)];
  await book.load(next);
  expect(book.count(next)).toMatchObject([{ calls: 2, chargedNanoUsd: 10n, seq: 3 }]);
});
