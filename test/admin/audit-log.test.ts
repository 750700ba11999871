import { expect, test } from 'vitest';
import { isoTime, MINUTE_MS } from '#core/clock.ts';
import { adminRouter } from '../../api/admin/router.ts';
import { readRoutes } from '../../api/contract/route.ts';
import { startTestAdmin } from './admin-harness.ts';

test('every change has a line before it is done and one of what came of it', async () => {
  await using admin = await startTestAdmin();
  const answer = await admin.post('/agents', { name: 'alpha' });
  const id = Number(answer.headers.get('x-request-id'));
  const act = { id, operator: 'operator', address: '127.0.0.1', action: 'agents.create' };
  const atMs = admin.clock.now();
  expect(admin.audit.lines).toEqual([
    { ...act, atMs, subject: { name: 'alpha', status: 'active' }, result: 'started' },
    { ...act, atMs, subject: { id: 1, name: 'alpha', status: 'active' }, result: 'ok' },
  ]);
});

test('the lines name agents, keys, limits and amounts', async () => {
  await using admin = await startTestAdmin();
  await admin.post('/agents', { name: 'alpha' });
  await admin.post('/agents/1/grants', { usd: '5', grant_id: 'g-1' });
  const { id } = (await admin.post('/agents/1/keys', { label: 'web shop' })).body;
  await admin.post(`/agents/1/keys/${id}/update`, { spending_limit: { usd: '2.50', reset: 'weekly' } });
  await admin.post(`/agents/1/keys/${id}/update`, { label: 'shop', spending_limit: null });
  await admin.post(`/agents/1/keys/${id}/revoke`);
  const done = admin.audit.lines.filter(({ result }) => result === 'ok');
  expect(done.slice(1)).toMatchObject([
    { action: 'credit.grant', subject: { agent_id: 1, usd: '5', days: 7, grant_id: 'g-1', repeated: false } },
    { action: 'keys.create', subject: { agent_id: 1, label: 'web shop', spending_limit: 'none', id } },
    {
      action: 'keys.update',
      subject: { agent_id: 1, key_id: id, label: 'web shop', spending_limit: '2.5 weekly' },
    },
    { action: 'keys.update', subject: { agent_id: 1, key_id: id, label: 'shop', spending_limit: 'none' } },
    { action: 'keys.revoke', subject: { agent_id: 1, key_id: id } },
  ]);
  const asked = admin.audit.lines.filter(
    (line) => line.action === 'keys.update' && line.result === 'started',
  );
  expect(asked.map(({ subject }) => subject)).toEqual([
    { agent_id: 1, key_id: id, spending_limit: '2.50 weekly' },
    { agent_id: 1, key_id: id, label: 'shop', spending_limit: 'none' },
  ]);
});

test('who says its name is written down by it, and only a plain name is', async () => {
  await using admin = await startTestAdmin();
  for (const name of ['ada@example.com', 'ada, eve', 'a'.repeat(61), '']) {
    await admin.post('/agents', { name: 'alpha' }, { 'x-operator': name });
  }
  const started = admin.audit.lines.filter(({ result }) => result === 'started');
  expect(started.map(({ operator }) => operator)).toEqual([
    'ada@example.com',
    'operator',
    'operator',
    'operator',
  ]);
});

test('a refused change is written with its code', async () => {
  await using admin = await startTestAdmin();
  await admin.post('/agents/9/suspend');
  expect(admin.audit.lines).toMatchObject([
    { action: 'agents.suspend', subject: { agent_id: 9 }, result: 'started' },
    { action: 'agents.suspend', subject: { agent_id: 9 }, result: 'not_found' },
  ]);
});

test('every route that changes something is audited, and no route that only reads', async () => {
  await using admin = await startTestAdmin();
  await admin.post('/agents', { name: 'alpha' });
  const fields: Record<string, object> = {
    '/agents': { name: 'beta' },
    '/agents/{agent_id}/grants': { usd: '1' },
    '/agents/{agent_id}/keys': { label: 'k' },
    '/agents/{agent_id}/keys/{key_id}/update': { label: 'k' },
  };
  for (const { name, facts } of readRoutes(adminRouter)) {
    // Thousands of records a second; what a trade moved stands in the ledger's journal.
    if (name === 'feeds.feed') continue;
    const before = admin.audit.lines.length;
    const path = facts.path.replaceAll(/\{\w+\}/g, '1');
    if (facts.method === 'GET') {
      await admin.get(path);
      expect([name, admin.audit.lines.length - before]).toEqual([name, 0]);
    } else {
      await admin.post(path, fields[facts.path]);
      const lines = admin.audit.lines.slice(before);
      expect(lines.map(({ action }) => action)).toEqual([name, name]);
    }
  }
});

test('when the audit log cannot be written, nothing is done', async () => {
  await using admin = await startTestAdmin();
  admin.audit.lose();
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  const answer = await admin.post('/agents', { name: 'alpha' }, headers);
  expect(answer.status).toBe(503);
  expect(answer.body.error.message).toContain('nothing was done');
  expect(admin.ledger.journal).toEqual([]);
  expect(admin.logged).toMatchObject([
    { event: 'audit log not written', fields: { path: 'agents.create', traceId } },
  ]);
});

test('changes are listed newest first, a page at a time', async () => {
  await using admin = await startTestAdmin();
  for (const name of ['a', 'b', 'c']) await admin.post('/agents', { name }, { 'x-operator': 'ada' });
  const first = (await admin.get('/audit?limit=2')).body;
  expect(first.changes).toMatchObject([{ subject: { name: 'c' } }, { subject: { name: 'b' } }]);
  const second = (await admin.get(`/audit?limit=2&before=${first.next}`)).body;
  const at = isoTime(admin.clock.now());
  expect(second).toEqual({
    changes: [
      {
        ...{ id: expect.any(Number), operator: 'ada', address: '127.0.0.1', action: 'agents.create' },
        ...{ subject: { id: 1, name: 'a', status: 'active' }, started_at: at, ended_at: at, result: 'ok' },
      },
    ],
    next: null,
  });
});

test('only changes of one kind, or since a moment, are listed on demand', async () => {
  await using admin = await startTestAdmin();
  await admin.post('/agents', { name: 'a' });
  admin.clock.advance(MINUTE_MS);
  await admin.post('/agents/1/suspend');
  await admin.post('/agents', { name: 'b' });
  const actions = async (query: string) =>
    (await admin.get(`/audit?${query}`)).body.changes.map(({ action }: { action: string }) => action);
  expect(await actions('action=agents.suspend')).toEqual(['agents.suspend']);
  const since = encodeURIComponent(isoTime(admin.clock.now()));
  expect(await actions(`since=${since}`)).toEqual(['agents.create', 'agents.suspend']);
});

test.each([
  ['since=yesterday', 'since'],
  ['action=drop%20table', 'action'],
  ['before=0', 'before'],
  ['limit=1001', 'limit'],
  ['agent=7', 'agent'],
])('a list by %s is refused, naming it', async (query, param) => {
  await using admin = await startTestAdmin();
  const { status, body } = await admin.get(`/audit?${query}`);
  expect(status).toBe(400);
  expect(body.error.param ?? body.error.message).toContain(param);
});

test('a log that cannot be read is said to be, not shown as empty', async () => {
  await using admin = await startTestAdmin();
  admin.audit.lose();
  const { status, body } = await admin.get('/audit');
  expect([status, body.error.code]).toEqual([503, 'service_unavailable']);
});
