import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { Counter, Registry } from 'prom-client';
import { afterAll, describe, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { createIdSource } from '#core/ids.ts';
import { type CheckAnswer, createInternalServer } from '../../api/http/create-internal-server.ts';

const answerIds = { ids: createIdSource(systemClock), callIdHeader: 'x-service-call-id' };
const metrics = new Registry();
new Counter({ name: 'calls_total', help: 'Calls.', registers: [metrics] }).inc(3);
const state: { journal: CheckAnswer; catalog: boolean } = { journal: true, catalog: true };
const server = createInternalServer({
  checks: {
    journal: () => state.journal,
    catalog: () => {
      if (!state.catalog) throw new Error('no state');
      return true;
    },
  },
  metrics,
  admin: (req, res) => res.end(`admin got ${req.method} ${req.url}`),
  answerIds,
  hostNames: ['faregate-internal', '*.faregate.svc'],
});
const url = `http://127.0.0.1:${await server.listen(0, '127.0.0.1')}`;
afterAll(() => server.close());

describe('probes', () => {
  test('/livez is live whatever the state', async () => {
    state.journal = false;
    const answer = await fetch(`${url}/livez`);
    state.journal = true;
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ status: 'live' });
  });

  test('/readyz is ready when every check passes, else lists what fails or throws', async () => {
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    state.journal = false;
    const one = await fetch(`${url}/readyz`);
    expect(one.status).toBe(503);
    expect(await one.json()).toEqual({ status: 'not ready', failing: ['journal'] });
    state.catalog = false;
    expect(await (await fetch(`${url}/readyz?verbose`)).json()).toMatchObject({
      failing: ['journal', 'catalog'],
    });
    state.journal = true;
    state.catalog = true;
  });

  test('/readyz stays ready with a warning, which tells the operator what not all agents can do', async () => {
    state.journal = { warning: 'some agents wait for the clock' };
    const answer = await fetch(`${url}/readyz`);
    state.journal = true;
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { status: 'ready', warnings: { journal: 'some agents wait for the clock' } },
    ]);
  });

  test('probes are never cached, and HEAD works', async () => {
    expect((await fetch(`${url}/readyz`)).headers.get('cache-control')).toBe('no-store');
    expect((await fetch(`${url}/livez`, { method: 'HEAD' })).status).toBe(200);
  });
});

test('/metrics speaks the Prometheus format', async () => {
  const answer = await fetch(`${url}/metrics`);
  expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4');
  expect(await answer.text()).toContain('calls_total 3');
});

test('metrics that fail answer 500 and tell nothing', async () => {
  const broken = new Registry();
  new Counter({
    name: 'broken_total',
    help: 'Broken.',
    registers: [broken],
    collect() {
      throw new Error('10.0.0.7 is down');
    },
  });
  const other = createInternalServer({
    checks: {},
    metrics: broken,
    admin: (_req, res) => res.end(),
    answerIds,
    hostNames: [],
  });
  const answer = await fetch(`http://127.0.0.1:${await other.listen(0, '127.0.0.1')}/metrics`);
  expect(answer.status).toBe(500);
  expect(await answer.text()).not.toContain('10.0.0.7');
  await other.close();
});

describe('a web page that leads its own name to this port', () => {
  const ask = (path: string, host: string) =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      get(`${url}${path}`, { headers: { host } }, (res) => {
        text(res).then((body) => resolve({ status: res.statusCode ?? 0, text: body }), reject);
      }).on('error', reject);
    });

  test.each([
    'evil.example',
    'evil.example:9090',
    'EVIL.example.',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    'faregate-internal.evil.example',
    'faregate.svc',
    'xfaregate.svc',
    '2130706433',
    '0x7f.1',
    '127.1',
  ])('reads no metrics as %j, and is told which setting names it', async (host) => {
    const answer = await ask('/metrics', host);
    expect(answer.status).toBe(421);
    expect(answer.text).toContain('server.internalHostNames');
    expect(answer.text).not.toContain('calls_total');
  });

  test.each([
    '127.0.0.1',
    '127.0.0.1:9090',
    '10.244.3.7:9090',
    '[::1]:9090',
    '[fd00::17]:9090',
    'localhost',
    'LOCALHOST:9090',
    'gateway.localhost:9090',
    'localhost.:9090',
    'faregate-internal:9090',
    'Faregate-Internal',
    'pod-0.faregate.svc:9090',
    'a.b.faregate.svc.',
  ])('is not taken for %j, which reads them', async (host) => {
    expect(await ask('/metrics', host)).toMatchObject({ status: 200 });
  });

  test('learns from the probes whether the process is ready, and not why', async () => {
    expect(await ask('/livez', 'probe.example')).toMatchObject({ status: 200 });
    expect(await ask('/readyz', 'probe.example')).toMatchObject({ status: 200 });
    state.journal = false;
    const answer = await ask('/readyz', 'probe.example');
    expect([answer.status, JSON.parse(answer.text)]).toEqual([503, { status: 'not ready' }]);
    state.journal = { warning: 'some agents wait for the clock' };
    const warned = await ask('/readyz', 'probe.example');
    state.journal = true;
    expect([warned.status, JSON.parse(warned.text)]).toEqual([200, { status: 'ready' }]);
  });
});

test('the admin API gets everything below /admin, the path as sent', async () => {
  const answer = await fetch(`${url}/admin/agents?limit=5`, { method: 'POST' });
  expect(await answer.text()).toBe('admin got POST /admin/agents?limit=5');
});

test.each([
  ['GET', '/'],
  ['GET', '/administrator'],
  ['GET', '/livez/'],
  ['POST', '/livez'],
  ['DELETE', '/metrics'],
  ['GET', '/v1/balance'],
])('%s %s is not_found', async (method, path) => {
  const answer = await fetch(url + path, { method });
  expect(answer.status).toBe(404);
  expect(await answer.json()).toMatchObject({ error: { code: 'not_found' } });
});
