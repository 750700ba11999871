import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BILLS_FILE, openFileBillStore } from '#core/bills/file-bill-store.ts';
import { testDataDir } from '../support/data-dir.ts';
import { billStoreContract } from './bill-store-contract.ts';

let folder: Awaited<ReturnType<typeof testDataDir>>;
beforeAll(async () => {
  folder = await testDataDir();
});
afterAll(() => folder[Symbol.asyncDispose]());

billStoreContract(() => openFileBillStore(folder.path));

it('keeps what is added at once, for nobody but the owner to read', async () => {
  await using own = await testDataDir();
  const store = openFileBillStore(own.path);
  await Promise.all(Array.from({ length: 20 }, () => store.add(new Map([['p', 1n]]))));
  const file = join(own.path, BILLS_FILE);
  expect(JSON.parse(readFileSync(file, 'utf8')).recorded).toEqual({ p: '20' });
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

it.each(['', '{', '[]', '{"recorded":{"p":"-1"},"marks":{}}'])(
  'begins anew where its file says %j',
  async (text) => {
    await using own = await testDataDir();
    writeFileSync(join(own.path, BILLS_FILE), text);
    const store = openFileBillStore(own.path);
    const account = { name: 'p', providerIds: ['p'] };
    expect(await store.read(account)).toEqual({ mark: null, text: '', recordedNanoUsd: 0n });
    await store.add(new Map([['p', 3n]]));
    expect((await openFileBillStore(own.path).read(account)).recordedNanoUsd).toBe(3n);
  },
);
