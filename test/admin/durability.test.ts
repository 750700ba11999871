import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Durability, Ledger } from '#core/ledger/ledger.ts';
import { type Answer, startTestAdmin, type TestAdmin } from './admin-harness.ts';

/** Decides at once; what becomes of the journal's acknowledgement is up to the test. */
function withJournal(durable: () => Promise<Durability>) {
  return (ledger: Ledger): Ledger => ({
    ...ledger,
    async execute(command) {
      const { result } = await ledger.execute(command);
      return { result, durable: durable() };
    },
  });
}

const changes: [string, (admin: TestAdmin) => Promise<Answer>][] = [
  ['creating an agent', (admin) => admin.post('/agents', { name: 'beta' })],
  ['suspending an agent', (admin) => admin.post('/agents/1/suspend')],
  ['granting credit', (admin) => admin.post('/agents/1/grants', { usd: '5' })],
  ['creating a key', (admin) => admin.post('/agents/1/keys', { label: 'web shop' })],
  ['changing a key', (admin) => admin.post('/agents/1/keys/1/update', { label: 'shop' })],
  ['revoking a key', (admin) => admin.post('/agents/1/keys/1/revoke')],
];

async function withAgentAndKey(durable: () => Promise<Durability>): Promise<TestAdmin> {
  const admin = await startTestAdmin({ wrap: withJournal(durable) });
  const { ledger } = admin;
  await ledger.execute({
    type: 'set_agent',
    agentId: 1,
    mode: 'create',
    source: 'test',
    sourceVersion: 1,
    status: 'active',
    name: 'alpha',
    token: null,
  });
  await ledger.execute({
    type: 'put_key',
    readVersion: null,
    agentId: 1,
    keyId: 1,
    label: 'k',
    prefix: 'fg_',
    hash: 'h',
    limit: null,
    actingKeyId: null,
    madeOverMcp: false,
    limits: { activeKeys: 10, mcpKeysPerDay: 20 },
  });
  return admin;
}

test.each(changes)('%s is answered only once it is in the journal', async (_, change) => {
  const journal = Promise.withResolvers<Durability>();
  const asked = Promise.withResolvers<void>();
  await using admin = await withAgentAndKey(() => {
    asked.resolve();
    return journal.promise;
  });
  let answered = false;
  const answer = change(admin).finally(() => {
    answered = true;
  });
  await asked.promise;
  for (let turn = 0; turn < 50; turn++) await nextTurn();
  expect(answered).toBe(false);
  journal.resolve('durable');
  expect((await answer).status).toBe(200);
});

test.each(changes)('%s whose journal gives no answer is 503, not a success', async (_, change) => {
  await using admin = await withAgentAndKey(async () => 'unknown');
  const { status, headers, body } = await change(admin);
  expect(status).toBe(503);
  expect(body.error.code).toBe('service_unavailable');
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  expect(JSON.stringify(body)).not.toContain('fg_');
});

test('a ledger that is closed is 503 on every route that asks it', async () => {
  await using admin = await withAgentAndKey(async () => 'durable');
  await admin.ledger.close();
  const reads = ['/agents', '/agents/1', '/agents/1/keys', '/ledger/audit', '/calls/5'];
  for (const path of reads) expect((await admin.get(path)).status).toBe(503);
  for (const [, change] of changes) expect((await change(admin)).body.error.code).toBe('service_unavailable');
});
