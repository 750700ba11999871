import { expect, it } from 'vitest';
import type { BillMark } from '#core/bills/bill-store.ts';
import { createRedisBillStore } from '#core/bills/redis-bill-store.ts';
import { useRedis } from '../support/redis-server.ts';
import { describeWith } from '../support/with-services.ts';
import { billStoreContract } from './bill-store-contract.ts';

describeWith(['redis'], 'bills in a cluster', () => {
  const server = useRedis();
  billStoreContract(() => createRedisBillStore(server.client));

  const mark = (atMs: number): BillMark => ({ atMs, billNanoUsd: 1n, recordedNanoUsd: 1n, last: null });
  const account = { name: 'shared', providerIds: ['shared'] };

  it('of two processes that compare at once, one counts', async () => {
    const store = createRedisBillStore(server.client);
    const first = await store.read(account);
    const replaced = await Promise.all([1, 2, 3].map((atMs) => store.replace(account, first, mark(atMs))));
    expect(replaced.filter(Boolean)).toHaveLength(1);
    const second = await store.read(account);
    expect(await store.replace(account, first, mark(9))).toBe(false);
    expect(await store.read(account)).toEqual(second);
    expect(await store.replace(account, second, mark(10))).toBe(true);
  });

  it('what another release wrote and this one cannot read is replaced', async () => {
    const strange = { name: 'strange', providerIds: ['strange'] };
    await server.client.hset('faregate:bills', 'mark strange', 'v9');
    const store = createRedisBillStore(server.client);
    const seen = await store.read(strange);
    expect(seen.mark).toBeNull();
    expect(await store.replace(strange, seen, mark(1))).toBe(true);
  });
});
