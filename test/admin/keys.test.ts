import { expect, test } from 'vitest';
import { checkApiKeyShape, hashApiKey } from '#core/accounts/api-key.ts';
import { createAgent } from '#core/accounts/create-agent.ts';
import { startTestAdmin, type TestAdmin } from './admin-harness.ts';

async function withAgent(): Promise<TestAdmin> {
  const admin = await startTestAdmin();
  await admin.post('/agents', { name: 'alpha' });
  return admin;
}

const lookUp = (admin: TestAdmin, key: string) => admin.ledger.findKey([hashApiKey(key, admin.pepper)]);

test('a new key is a key of its agent from the moment that it is shown', async () => {
  await using admin = await withAgent();
  const { status, body } = await admin.post('/agents/1/keys', { label: 'web shop' });
  expect(status).toBe(200);
  expect(checkApiKeyShape(body.key)).toBe(true);
  expect(body).toMatchObject({ label: 'web shop', prefix: body.key.slice(0, 12), spending_limit: null });
  expect(await lookUp(admin, body.key)).toMatchObject({ found: true, agentId: 1, keyId: body.id });
});

test('the secret stands in that one answer and nowhere else', async () => {
  await using admin = await withAgent();
  const { body } = await admin.post('/agents/1/keys', { label: 'web shop' });
  const secret = body.key.slice(12);
  const later = [
    await admin.get('/agents/1/keys'),
    await admin.get('/agents/1'),
    await admin.post(`/agents/1/keys/${body.id}/revoke`),
  ];
  expect(JSON.stringify(later.map((answer) => answer.body))).not.toContain(secret);
  expect(JSON.stringify([admin.logged, admin.ledger.journal])).not.toContain(secret);
  expect(JSON.stringify(admin.audit.lines)).not.toContain(secret);
});

test('a key can carry a spending limit', async () => {
  await using admin = await withAgent();
  const spending_limit = { usd: '10.5', reset: 'weekly' };
  const { body } = await admin.post('/agents/1/keys', { label: 'limited', spending_limit });
  expect(body.spending_limit).toMatchObject({ limit_usd: '10.5', reset: 'weekly', remaining_usd: '10.5' });
  const { keys } = (await admin.get('/agents/1/keys')).body;
  expect(keys).toMatchObject([{ id: body.id, label: 'limited', created_by_key_id: null, revoked_at: null }]);
});

test.each([
  ['usd below a cent', { usd: '0.009', reset: 'daily' }, 'spending_limit.usd'],
  ['usd above a million', { usd: '1000000.01', reset: 'daily' }, 'spending_limit.usd'],
  ['an unknown reset', { usd: '1', reset: 'hourly' }, 'spending_limit.reset'],
  ['no reset', { usd: '1' }, 'spending_limit.reset'],
  ['an unknown field', { usd: '1', reset: 'daily', hard: true }, 'spending_limit.hard'],
])('a spending limit with %s makes no key', async (_, spending_limit, param) => {
  await using admin = await withAgent();
  const answer = await admin.post('/agents/1/keys', { label: 'limited', spending_limit });
  expect(answer.status).toBe(400);
  expect(answer.body.error).toMatchObject({ code: 'invalid_request', param });
  expect((await admin.get('/agents/1/keys')).body.keys).toEqual([]);
});

test('the secret of a key that was made is told even where the ledger does not answer any more', async () => {
  // The key rests on one read; the one for its record comes too late.
  let reads = 0;
  await using admin = await startTestAdmin({
    wrap: (ledger) => ({
      ...ledger,
      readAgent: async (agentId) => (reads++ === 0 ? await ledger.readAgent(agentId) : 'unavailable'),
    }),
  });
  await createAgent(admin, { name: 'alpha', status: 'active', source: 'operator' });
  const spending_limit = { usd: '2', reset: 'daily' };
  const { status, body } = await admin.post('/agents/1/keys', { label: 'web shop', spending_limit });
  expect(status).toBe(200);
  expect(body).toMatchObject({ label: 'web shop', spending_limit: { remaining_usd: '2' } });
  expect(await lookUp(admin, body.key)).toMatchObject({ found: true, agentId: 1, keyId: body.id });
});

test('label and limit can be changed, each by itself or both; what is not named stays', async () => {
  await using admin = await withAgent();
  const spending_limit = { usd: '10', reset: 'daily' };
  const { key, ...made } = (await admin.post('/agents/1/keys', { label: 'web shop', spending_limit })).body;
  const change = async (body: object) => (await admin.post(`/agents/1/keys/${made.id}/update`, body)).body;
  const limit = { limit_usd: '0.5', reset: 'monthly', remaining_usd: '0.5' };
  expect(await change({ label: 'shop' })).toMatchObject({ ...made, label: 'shop' });
  expect(await change({ spending_limit: { usd: '0.5', reset: 'monthly' } })).toMatchObject({
    ...{ id: made.id, label: 'shop', prefix: made.prefix, spending_limit: limit },
  });
  expect(await change({ spending_limit: null })).toMatchObject({ label: 'shop', spending_limit: null });
  const both = await change({ label: 'both', spending_limit });
  expect(both).toMatchObject({ label: 'both', spending_limit: { limit_usd: '10', reset: 'daily' } });
  expect((await admin.get('/agents/1/keys')).body.keys).toEqual([both]);
  expect(await lookUp(admin, key)).toMatchObject({ found: true, keyId: made.id, revoked: false });
});

test.each([
  ['nothing to change', {}, 'The body has to be an object with `label`, `spending_limit` or both.'],
  ['a label of two lines', { label: 'a\nb' }, 'label'],
  ['a limit below a cent', { spending_limit: { usd: '0.009', reset: 'daily' } }, 'spending_limit.usd'],
  ['an unknown field', { label: 'a', hash: 'b' }, 'hash'],
])('a change with %s is refused, and changes nothing', async (_, change, words) => {
  await using admin = await withAgent();
  const { id } = (await admin.post('/agents/1/keys', { label: 'web shop' })).body;
  const events = admin.ledger.journal.length;
  const { status, body } = await admin.post(`/agents/1/keys/${id}/update`, change);
  expect([status, body.error.code]).toEqual([400, 'invalid_request']);
  expect(`${body.error.param} ${body.error.message}`).toContain(words);
  expect(admin.ledger.journal).toHaveLength(events);
});

test("no revoked key can be changed, no other agent's, and none of nobody", async () => {
  await using admin = await withAgent();
  await admin.post('/agents', { name: 'beta' });
  const { id } = (await admin.post('/agents/1/keys', { label: 'web shop' })).body;
  const refused = async (agentId: number) => {
    const { status, body } = await admin.post(`/agents/${agentId}/keys/${id}/update`, { label: 'mine' });
    return [status, body.error.message];
  };
  expect(await refused(2)).toEqual([404, `Agent 2 has no key ${id}.`]);
  expect(await refused(9)).toEqual([404, 'There is no agent 9.']);
  await admin.post(`/agents/1/keys/${id}/revoke`);
  expect(await refused(1)).toEqual([400, `Key ${id} is revoked: it cannot be changed any more.`]);
});

test('an agent has at most ten active keys; a revoked one makes room', async () => {
  await using admin = await withAgent();
  const made: number[] = [];
  for (let i = 1; i <= 10; i++) made.push((await admin.post('/agents/1/keys', { label: `k${i}` })).body.id);
  const refused = await admin.post('/agents/1/keys', { label: 'k11' });
  expect(refused.status).toBe(400);
  expect(refused.body.error.message).toContain('already has 10 active keys');
  await admin.post(`/agents/1/keys/${made[0]}/revoke`);
  expect((await admin.post('/agents/1/keys', { label: 'k11' })).status).toBe(200);
  expect((await admin.get('/agents/1')).body.active_keys).toBe(10);
});

test('a revoked key is refused from then on, and revoking twice answers the same', async () => {
  await using admin = await withAgent();
  const { body } = await admin.post('/agents/1/keys', { label: 'web shop' });
  const once = await admin.post(`/agents/1/keys/${body.id}/revoke`);
  expect(once.body.revoked_at).not.toBeNull();
  expect(await lookUp(admin, body.key)).toMatchObject({ found: true, revoked: true });
  admin.clock.advance(60_000);
  expect((await admin.post(`/agents/1/keys/${body.id}/revoke`)).body).toEqual(once.body);
});

test("another agent's key is not found", async () => {
  await using admin = await withAgent();
  await admin.post('/agents', { name: 'beta' });
  const { body } = await admin.post('/agents/1/keys', { label: 'web shop' });
  const answer = await admin.post(`/agents/2/keys/${body.id}/revoke`);
  expect(answer.status).toBe(404);
  expect(answer.body.error.message).toBe(`Agent 2 has no key ${body.id}.`);
  expect(await lookUp(admin, body.key)).toMatchObject({ revoked: false });
});
