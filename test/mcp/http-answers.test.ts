import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startTestGateway, type TestGateway, until } from '../support/gateway.ts';
import { headersOf, messageOf, REVISIONS, recordOf } from './mcp-calls.ts';

/** Spec: MCP HTTP answers, and what every answer has. */

let gateway: TestGateway;
let mcpUrl: string;
beforeAll(async () => {
  gateway = await startTestGateway();
  mcpUrl = gateway.running.mcpUrl;
});
afterAll(() => gateway.stop());

const ping = JSON.stringify(messageOf('2025-11-25', 'ping'));
const json = headersOf('2025-11-25', 'ping');

const post = (headers: Record<string, string>, body: string = ping) =>
  fetch(mcpUrl, { method: 'POST', headers: { ...json, ...headers }, body });
const byKey = (key: string) => ({ authorization: `Bearer ${key}` });

const rpcError = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.null(),
  error: z.object({ code: z.int(), message: z.string() }),
});

describe('a key', () => {
  it('opens the endpoint in either header', async () => {
    const { key } = gateway.agent;
    for (const headers of [byKey(key), { 'x-api-key': key }, { ...byKey(key), 'x-api-key': key }]) {
      const answer = await post(headers);
      expect([answer.status, await answer.json()]).toEqual([200, { jsonrpc: '2.0', id: 1, result: {} }]);
    }
  });

  const missing: [string, Record<string, string>][] = [
    ['no header', {}],
    ['an empty header', { authorization: '' }],
    ['a header that an empty variable left', { authorization: 'Bearer ' }],
    ['an empty x-api-key', { 'x-api-key': '' }],
  ];
  it.each(missing)('is missing where there is %s: 401 unauthorized', async (_, headers) => {
    const answer = await post(headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="faregate"');
    expect(await answer.json()).toEqual({ error: 'unauthorized', error_description: expect.any(String) });
  });

  const wrong: [string, Record<string, string>][] = [
    ['unknown', byKey(`fg_${'a'.repeat(38)}`)],
    ['of another service', byKey('sk-abcdefghijklmnop')],
    ['in another scheme', { authorization: 'Basic YTpi' }],
  ];
  it.each(wrong)('that is %s is 401 invalid_token', async (_, headers) => {
    const answer = await post(headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer realm="faregate"/);
    expect(await answer.json()).toMatchObject({ error: 'invalid_token' });
  });

  it('that was revoked is 401 invalid_token from its next request on', async () => {
    const agent = await gateway.newAgent();
    const access = { mcpUrl, key: agent.key };
    expect((await post(byKey(agent.key))).status).toBe(200);
    expect(await recordOf(access, 'revoke_key', { key_id: agent.keyId })).toEqual({
      key_id: agent.keyId,
      revoked: true,
      this_key: true,
    });
    const answer = await post(byKey(agent.key));
    expect([answer.status, await answer.json()]).toEqual([
      401,
      { error: 'invalid_token', error_description: expect.stringContaining('revoked') },
    ]);
  });
});

describe('a method', () => {
  it.each(['GET', 'DELETE', 'PUT', 'PATCH', 'HEAD'])('%s is 405, with a key or without', async (method) => {
    for (const headers of [{}, byKey(gateway.agent.key)]) {
      const answer = await fetch(mcpUrl, { method, headers });
      expect(answer.status).toBe(405);
      expect(answer.headers.get('allow')).toBe('POST, OPTIONS');
      if (method !== 'HEAD') expect(rpcError.parse(await answer.json()).error.code).toBe(-32_000);
    }
  });

  it('OPTIONS tells a page of any origin what it may send, without a key', async () => {
    const asked = 'authorization, content-type, mcp-protocol-version, x-of-a-client';
    const answer = await fetch(mcpUrl, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://app.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': asked,
      },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('access-control-allow-headers')).toBe(asked);
    expect(answer.headers.get('access-control-allow-methods')?.split(', ')).toEqual(
      expect.arrayContaining(['POST', 'GET', 'DELETE']),
    );
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false);
  });
});

it('every answer, refusals too, can be read by a page of any origin and is kept by nobody', async () => {
  const { key } = gateway.agent;
  const answers = [
    await post(byKey(key)),
    await post({}),
    await fetch(mcpUrl),
    await post(byKey(key), 'x'),
    await post(byKey(key), 'x'.repeat(70_000)),
    await post(byKey(key), '{"jsonrpc":"2.0","method":"notifications/initialized"}'),
  ];
  expect(answers.map(({ status }) => status)).toEqual([200, 401, 405, 400, 413, 202]);
  for (const { headers } of answers) {
    expect(headers.get('access-control-allow-origin')).toBe('*');
    expect(headers.get('access-control-expose-headers')).toContain('retry-after-ms');
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.has('mcp-session-id')).toBe(false);
  }
});

describe('a body', () => {
  const bodyOf = (bytes: number): string => {
    const padded = (padding: string) =>
      JSON.stringify(messageOf('2025-11-25', 'ping', { _meta: { padding } }));
    return padded('x'.repeat(bytes - padded('').length));
  };

  it('of 64 KB is read', async () => {
    const agent = await gateway.newAgent();
    expect((await post(byKey(agent.key), bodyOf(65_536))).status).toBe(200);
  });

  it('of one byte more is 413, and so is one that does not tell its length', async () => {
    const agent = await gateway.newAgent();
    for (const body of [bodyOf(65_537), 'x'.repeat(5_000_000)]) {
      const answer = await post(byKey(agent.key), body);
      expect(answer.status).toBe(413);
      expect(rpcError.parse(await answer.json()).error).toMatchObject({ code: -32_000 });
    }
    const chunks = new ReadableStream({
      start(controller) {
        for (let i = 0; i < 5; i++) controller.enqueue(new TextEncoder().encode('x'.repeat(20_000)));
        controller.close();
      },
    });
    const headers = { ...json, ...byKey(agent.key) };
    const init = { method: 'POST', headers, body: chunks, duplex: 'half' as const };
    expect((await fetch(mcpUrl, init)).status).toBe(413);
  });
});

describe('the rate', () => {
  it('is 20 at once after a pause; then 429 tells the wait in its headers and its sentence', async () => {
    const agent = await gateway.newAgent();
    for (let i = 0; i < 20; i++) expect((await post(byKey(agent.key))).status).toBe(200);
    const answer = await post(byKey(agent.key));
    expect(answer.status).toBe(429);
    const waitMs = Number(answer.headers.get('retry-after-ms'));
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(1_000);
    expect(answer.headers.get('retry-after')).toBe('1');
    expect(rpcError.parse(await answer.json()).error).toEqual({
      code: -32_000,
      message: expect.stringContaining(`wait ${waitMs / 1_000} seconds`),
    });
    await until(async () => (await post(byKey(agent.key))).status === 200);
  });

  it('is of each key: another one of the agent goes on', async () => {
    const agent = await gateway.newAgent();
    const other = await gateway.newKey(agent.agentId);
    await Promise.all(Array.from({ length: 30 }, () => post(byKey(agent.key))));
    expect((await post(byKey(agent.key))).status).toBe(429);
    expect((await post(byKey(other.key))).status).toBe(200);
  });

  const batch = (count: number) =>
    JSON.stringify(Array.from({ length: count }, (_, id) => ({ jsonrpc: '2.0', id, method: 'ping' })));

  it('counts each message of a batch', async () => {
    const agent = await gateway.newAgent();
    const first = await post(byKey(agent.key), batch(19));
    expect(first.status).toBe(200);
    expect(await first.json()).toHaveLength(19);
    expect((await post(byKey(agent.key), batch(2))).status).toBe(429);
  });

  it('is kept by a batch, too, that comes again after the wait that it was told', async () => {
    await using slow = await startTestGateway({
      yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
limits: { mcpRequestsPerMinute: 300, mcpBurst: 4 }
providers: [{ id: sim, kind: simulator, cancel: bills_full, baseUrl: PROVIDER_URL }]
`,
    });
    const send = (count: number) =>
      fetch(slow.running.mcpUrl, {
        method: 'POST',
        headers: { ...json, ...byKey(slow.agent.key) },
        body: batch(count),
      });
    expect((await send(3)).status).toBe(200);
    const refused = await send(3);
    expect(refused.status).toBe(429);
    const waitMs = Number(refused.headers.get('retry-after-ms'));
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    expect((await send(3)).status).toBe(200);
  });

  it('takes a batch of twenty, and refuses for good what would never fit', async () => {
    const agent = await gateway.newAgent();
    expect((await post(byKey(agent.key), batch(20))).status).toBe(200);
    for (const count of [21, 22, 101]) {
      const other = await gateway.newAgent();
      const answer = await post(byKey(other.key), batch(count));
      expect([count, answer.status]).toEqual([count, 400]);
      expect(rpcError.parse(await answer.json()).error.message).toContain('at most 20 messages');
    }
  });

  it('does not count who has no key, asks by another method, or from a page', async () => {
    const agent = await gateway.newAgent();
    for (let i = 0; i < 30; i++) {
      await fetch(mcpUrl, { headers: byKey(agent.key) });
      await fetch(mcpUrl, { method: 'OPTIONS', headers: byKey(agent.key) });
    }
    expect((await post(byKey(agent.key))).status).toBe(200);
  });
});

describe('a path', () => {
  it.each([
    '/mcp/',
    '/mcp/x',
    '/MCP',
    '/.well-known/oauth-protected-resource',
    '/.well-known/oauth-protected-resource/mcp',
    '/.well-known/oauth-authorization-server',
  ])('%s is a 404 in JSON, so no client takes it for a sign-in', async (path) => {
    const answer = await fetch(new URL(path, mcpUrl), { method: 'POST', headers: byKey(gateway.agent.key) });
    expect(answer.status).toBe(404);
    expect(answer.headers.get('content-type')).toBe('application/json');
  });
});

it.each(REVISIONS)('a message of revision %s is answered without a beginning before it', async (revision) => {
  const agent = await gateway.newAgent();
  const answer = await fetch(mcpUrl, {
    method: 'POST',
    headers: { ...headersOf(revision, 'tools/list'), ...byKey(agent.key) },
    body: JSON.stringify(messageOf(revision, 'tools/list')),
  });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toContain('application/json');
  const { result } = z
    .object({ result: z.object({ tools: z.array(z.unknown()) }) })
    .parse(await answer.json());
  expect(result.tools).toHaveLength(9);
});
