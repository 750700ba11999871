import { expect, test } from 'vitest';
import { RedisKeyLookup } from '#core/ledger/cluster/redis-key-lookup.ts';
import type { ScriptReply } from '#core/ledger/cluster/redis-scripts.ts';
import { createFakeClock } from '../../support/fake-clock.ts';

test('a key that was found revoked is not live again by an older answer that comes later', async () => {
  const answers: ((reply: ScriptReply) => void)[] = [];
  const keys = new RedisKeyLookup({
    clock: createFakeClock(),
    shardOf: () => 0,
    read: async (_, [name]) =>
      name === 'find_key' ? ['OK', '1:1'] : new Promise((resolve) => void answers.push(resolve)),
  });
  const older = keys.find(['hash']);
  await expect.poll(() => answers.length).toBe(1);
  const newer = keys.find(['hash']);
  await expect.poll(() => answers.length).toBe(2);
  answers[1]?.(['OK', 'revoked', 'active']);
  expect(await newer).toMatchObject({ revoked: true });
  answers[0]?.(['OK', 'live', 'active']);
  expect(await older).toMatchObject({ revoked: false });
  expect(keys.recall(['hash'])).toBeNull();
});
