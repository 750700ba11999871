import { expect, test } from 'vitest';
import { RedisKeyLookup } from '#core/ledger/cluster/redis-key-lookup.ts';
import type { ScriptReply } from '#core/ledger/cluster/redis-scripts.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

test('a key that a primary of before does not know is not called unknown, nor remembered so in a newer epoch', async () => {
  const epochs = { node: 1, known: 1 };
  const keys = new RedisKeyLookup({
    clock: createFakeClock(),
    shardOf: () => 0,
    epochOf: () => epochs.known,
    read: async () => ['OK', `${epochs.node}-1`, ''],
  });
  expect(await keys.find(['hash'])).toEqual({ found: false });
  epochs.known = 2;
  expect(await keys.find(['hash'])).toBe('unavailable');
  epochs.node = 2;
  expect(await keys.find(['hash'])).toEqual({ found: false });
});

test('nor is one that it knew of from a newer one', async () => {
  const epochs = { node: 2, known: 2 };
  const keys = new RedisKeyLookup({
    clock: createFakeClock(),
    shardOf: () => 0,
    epochOf: () => epochs.known,
    read: async (_, [name]) =>
      name === 'find_key'
        ? ['OK', '2-1', '1:1']
        : ['OK', `${epochs.node}-1`, epochs.node === 2 ? 'live' : 'unknown', 'active'],
  });
  expect(await keys.find(['hash'])).toMatchObject({ found: true });
  epochs.node = 1;
  expect(await keys.find(['hash'])).toBe('unavailable');
});

test('a key is not live on the word of a primary of before', async () => {
  const epochs = { known: 1, node: 2 };
  const keys = new RedisKeyLookup({
    clock: createFakeClock(),
    shardOf: () => 0,
    epochOf: () => epochs.known,
    read: async (_, [name]) =>
      name === 'find_key'
        ? ['OK', '2-1', '1:1']
        : ['OK', `${epochs.node}-1`, epochs.node === 2 ? 'revoked' : 'live', 'active'],
  });
  expect(await keys.find(['hash'])).toMatchObject({ revoked: true });
  epochs.known = 2;
  epochs.node = 1;
  expect(await keys.find(['hash'])).toBe('unavailable');
  expect(keys.recall(['hash'])).toBeNull();
});

test('a key that was found revoked is not live again by an older answer that comes later', async () => {
  const answers: ((reply: ScriptReply) => void)[] = [];
  const keys = new RedisKeyLookup({
    clock: createFakeClock(),
    shardOf: () => 0,
    epochOf: () => 1,
    read: async (_, [name]) =>
      name === 'find_key' ? ['OK', '1-1', '1:1'] : new Promise((resolve) => void answers.push(resolve)),
  });
  const older = keys.find(['hash']);
  await expect.poll(() => answers.length).toBe(1);
  const newer = keys.find(['hash']);
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.(['OK', '1-1', 'revoked', 'active']);
  expect(await newer).toMatchObject({ revoked: true });
  answers[0]?.(['OK', '1-1', 'live', 'active']);
  expect(await older).toMatchObject({ revoked: false });
  expect(keys.recall(['hash'])).toBeNull();
});
