import { expect, test } from 'vitest';
import { checkApiKeyShape, hashApiKey } from '#core/accounts/api-key.ts';
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
