import { expect, test } from 'vitest';
import { DAY_MS } from '#core/clock.ts';
import { startTestAdmin, type TestAdmin } from './admin-harness.ts';

const create = (admin: TestAdmin, name: string) => admin.post('/agents', { name });

test('a new agent gets the next id, is active, and can be shown', async () => {
  await using admin = await startTestAdmin();
  const first = await create(admin, 'alpha');
  expect(first.status).toBe(200);
  expect(first.body).toMatchObject({ id: 1, name: 'alpha', token: null, status: 'active', balance_usd: '0' });
  expect((await create(admin, 'beta')).body.id).toBe(2);
  expect((await admin.get('/agents/1')).body).toEqual(first.body);
});

test('an agent can be made inactive and activated later', async () => {
  await using admin = await startTestAdmin();
  expect((await admin.post('/agents', { name: 'later', status: 'inactive' })).body.status).toBe('inactive');
  expect((await admin.post('/agents/1/activate')).body.status).toBe('active');
});

test('agents made at the same moment get ids of their own', async () => {
  await using admin = await startTestAdmin();
  const names = ['a', 'b', 'c', 'd', 'e'];
  const made = await Promise.all(names.map((name) => create(admin, name)));
  expect(new Set(made.map(({ body }) => body.id)).size).toBe(names.length);
  const { body } = await admin.get('/agents');
  expect(body.agents.map((agent: { name: string }) => agent.name).sort()).toEqual(names);
});

test('agents are listed a page at a time, in the order of their ids', async () => {
  await using admin = await startTestAdmin();
  for (const name of ['a', 'b', 'c']) await create(admin, name);
  const first = (await admin.get('/agents?limit=2')).body;
  expect(first).toMatchObject({ agents: [{ id: 1 }, { id: 2 }], next: 2 });
  const second = (await admin.get(`/agents?limit=2&after=${first.next}`)).body;
  expect(second).toMatchObject({ agents: [{ id: 3 }], next: null });
  expect(second.agents).toHaveLength(1);
});

test('a suspended agent stays suspended until the operator activates it', async () => {
  await using admin = await startTestAdmin();
  await create(admin, 'alpha');
  expect((await admin.post('/agents/1/suspend')).body).toMatchObject({ id: 1, status: 'suspended' });
  expect((await admin.post('/agents/1/suspend')).body.status).toBe('suspended');
  expect((await admin.get('/agents/1')).body.status).toBe('suspended');
  expect((await admin.post('/agents/1/activate')).body).toMatchObject({ name: 'alpha', status: 'active' });
});

test('a suspension counts even when the clock has stepped back since the activation', async () => {
  await using admin = await startTestAdmin();
  await create(admin, 'alpha');
  admin.clock.set(admin.clock.now() - 3 * DAY_MS);
  expect((await admin.post('/agents/1/suspend')).body.status).toBe('suspended');
});

test('a suspension and an activation in the same millisecond both count', async () => {
  await using admin = await startTestAdmin();
  await create(admin, 'alpha');
  await Promise.all([admin.post('/agents/1/suspend'), admin.post('/agents/1/activate')]);
  const said = admin.ledger.journal.filter((event) => event.type === 'agent_set');
  expect(said.map((event) => event.status)).toContain('suspended');
  const last = said.at(-1);
  expect((await admin.get('/agents/1')).body.status).toBe(last?.status);
});

test("an activation does not lift another source's suspension, and the answer names it", async () => {
  await using admin = await startTestAdmin();
  await create(admin, 'alpha');
  await admin.ledger.execute({
    type: 'set_agent',
    agentId: 1,
    mode: 'upsert',
    source: 'launches',
    sourceVersion: 1,
    status: 'suspended',
    name: 'alpha',
    token: 'ALPHA',
  });
  const { body } = await admin.post('/agents/1/activate');
  expect(body).toMatchObject({
    status: 'suspended',
    status_by_source: [
      { source: 'operator', status: 'active' },
      { source: 'launches', status: 'suspended' },
    ],
  });
  await admin.post('/agents/1/suspend');
  expect((await admin.post('/agents/1/activate')).body.token).toBe('ALPHA');
});

test('an agent that does not exist is named in a 404', async () => {
  await using admin = await startTestAdmin();
  for (const answer of [
    await admin.get('/agents/9'),
    await admin.post('/agents/9/suspend'),
    await admin.post('/agents/9/activate'),
    await admin.get('/agents/9/keys'),
  ]) {
    expect(answer.status).toBe(404);
    expect(answer.body.error).toMatchObject({ code: 'not_found', message: 'There is no agent 9.' });
  }
  expect(admin.ledger.journal).toEqual([]);
});

test.each([
  ['absent', {}],
  ['empty', { name: '' }],
  ['blank', { name: '   ' }],
  ['of two lines', { name: 'a\nb' }],
  ['with a control character', { name: 'a\u001b[31mb' }],
  ['with a turned direction', { name: 'a\u202eb' }],
  ['of 61 characters', { name: 'x'.repeat(61) }],
  ['a number', { name: 5 }],
])('a name that is %s is refused', async (_, body) => {
  await using admin = await startTestAdmin();
  const answer = await admin.post('/agents', body);
  expect(answer.status).toBe(400);
  expect(answer.body.error).toMatchObject({ code: 'invalid_request', param: 'name' });
  expect(admin.ledger.journal).toEqual([]);
});

test('a name may have 60 characters of any language', async () => {
  await using admin = await startTestAdmin();
  const name = '🚇'.repeat(30) + '東'.repeat(30);
  expect((await create(admin, name)).body.name).toBe(name);
});

test.each([
  '/agents/abc',
  '/agents/0',
  '/agents/-1',
  '/agents/1.5',
  '/agents/99999999999999999999',
  '/agents?limit=0',
  '/agents?limit=1001',
  '/agents?limit=',
  '/agents?nope=1',
])('%s is refused', async (path) => {
  await using admin = await startTestAdmin();
  const answer = await admin.get(path);
  expect(answer.status).toBe(400);
  expect(answer.body.error.code).toBe('invalid_request');
});
