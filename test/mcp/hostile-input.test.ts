import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startTestGateway, type TestAgent, type TestGateway } from '../support/gateway.ts';
import { callTool, headersOf, messageOf, type Revision, recordOf } from './mcp-calls.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
let agent: TestAgent;
beforeEach(async () => {
  agent = await gateway.newAgent();
});

const post = (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  fetch(gateway.running.mcpUrl, {
    method: 'POST',
    headers: { ...headersOf('2025-11-25', 'ping'), authorization: `Bearer ${agent.key}`, ...headers },
    body,
  });

const rpcError = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.null(), z.int(), z.string()]).optional(),
  error: z.looseObject({ code: z.int(), message: z.string() }),
});
const errorOf = async (answer: Response) => {
  const { error } = rpcError.parse(await answer.json());
  return [answer.status, error.code];
};

const rpc = (method: string, params: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

describe('a body that', () => {
  const broken: [string, string | Uint8Array][] = [
    ['is empty', ''],
    ['is no JSON', '{"jsonrpc":'],
    ['says NaN', '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}'],
    ['is no UTF-8', new Uint8Array([0x22, 0xff, 0xfe, 0x22])],
    ['is a form', 'method=ping'],
  ];
  it.each(broken)('%s is a parse error', async (_, body) => {
    expect(await errorOf(await post(body))).toEqual([400, -32_700]);
  });

  const others: [string, string][] = [
    ['null', 'null'],
    ['a number', '5'],
    ['a text', '"ping"'],
    ['an empty object', '{}'],
    ['an empty list', '[]'],
    ['a list of lists', '[[]]'],
    ['of another JSON-RPC', '{"jsonrpc":"1.0","id":1,"method":"ping"}'],
    ['whose method is no text', '{"jsonrpc":"2.0","id":1,"method":5}'],
    ['whose id is an object', '{"jsonrpc":"2.0","id":{},"method":"ping"}'],
    ['with a prototype', '{"__proto__":{"jsonrpc":"2.0"},"id":1,"method":"ping"}'],
  ];
  it.each(others)('is %s is a refusal of its own, and no fault of ours', async (_, body) => {
    const answer = await post(body);
    expect(answer.status).toBeGreaterThanOrEqual(400);
    expect(answer.status).toBeLessThan(500);
    expect(rpcError.parse(await answer.json()).error.code).toBeLessThan(0);
  });

  it.each(['[', '{"a":'])('nests %j as deep as 64 KB can is answered', async (open) => {
    const depth = 60_000 / open.length;
    const close = open === '[' ? ']' : '}';
    const deep = `${open.repeat(depth / 2)}1${close.repeat(depth / 2)}`;
    const answers = [
      await post(deep),
      await post(
        `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"get_usage","arguments":{"days":${deep}}}}`,
      ),
      await post(`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":${deep}}}`),
    ];
    for (const answer of answers) {
      expect(answer.status).toBeLessThan(500);
      await answer.text();
    }
    expect((await post(rpc('ping'))).status).toBe(200);
  });

  it('is compressed is refused', async () => {
    expect(await errorOf(await post(rpc('ping'), { 'content-encoding': 'gzip' }))).toEqual([400, -32_600]);
  });
});

describe('a header', () => {
  it.each(['application/json', 'text/event-stream', '*/*', 'text/html', ''])(
    'that accepts %j gets JSON all the same',
    async (accept) => {
      for (const revision of ['2025-06-18', '2026-07-28'] as const satisfies Revision[]) {
        const answer = await post(JSON.stringify(messageOf(revision, 'tools/list')), {
          ...headersOf(revision, 'tools/list'),
          accept,
        });
        expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
      }
    },
  );

  it.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'])(
    'that calls its body %s is 415',
    async (type) => {
      expect((await post(rpc('ping'), { 'content-type': type })).status).toBe(415);
    },
  );

  it.each(['1999-01-01', '2027-01-01', 'latest', ''])(
    'that names revision %j is refused or heard, never a fault',
    async (revision) => {
      const answer = await post(rpc('ping'), { 'mcp-protocol-version': revision });
      expect(answer.status).toBeLessThan(500);
      expect(answer.headers.get('content-type')).toContain('application/json');
    },
  );

  it('that says another method than the body is refused', async () => {
    const body = JSON.stringify(messageOf('2026-07-28', 'tools/list'));
    expect(await errorOf(await post(body, headersOf('2026-07-28', 'tools/call', 'get_balance')))).toEqual([
      400, -32_020,
    ]);
  });

  it('of 2026 on a body of 2025 is refused', async () => {
    expect(await errorOf(await post(rpc('tools/list'), headersOf('2026-07-28', 'tools/list')))).toEqual([
      400, -32_602,
    ]);
  });
});

describe('a message', () => {
  it('that wants no answer gets 202 and none', async () => {
    const notification = { jsonrpc: '2.0', method: 'notifications/initialized' };
    for (const body of [notification, [notification, notification]]) {
      const answer = await post(JSON.stringify(body));
      expect([answer.status, await answer.text()]).toEqual([202, '']);
    }
  });

  it.each([
    'prompts/list',
    'resources/list',
    'resources/read',
    'completion/complete',
    'logging/setLevel',
    'tools/install',
    '__proto__',
  ])('for %s, which is not served, is told so', async (method) => {
    const answer = await post(rpc(method));
    expect(rpcError.parse(await answer.json()).error.code).toBe(-32_601);
  });

  it('that wants to listen hears that there is nothing to hear, and is done', async () => {
    const body = JSON.stringify(
      messageOf('2026-07-28', 'subscriptions/listen', { notifications: { toolsListChanged: true } }),
    );
    const answer = await post(body, headersOf('2026-07-28', 'subscriptions/listen'));
    await answer.text();
    expect(answer.status).toBe(200);
  });

  it('that cancels the one beside it leaves nobody waiting', async () => {
    const call = { jsonrpc: '2.0', id: 7, method: 'tools/call', params: { name: 'get_balance' } };
    const cancel = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } };
    for (const batch of [
      [call, cancel],
      [cancel, call],
      [call, call],
    ]) {
      const answer = await post(JSON.stringify(batch));
      expect(answer.status).toBeLessThan(500);
      await answer.text();
    }
  });
});

describe('a tool', () => {
  it.each(['get_balances', '', 'constructor', '__proto__', 'x'.repeat(1_000)])(
    'named %j is unknown',
    async (name) => {
      const answer = await post(rpc('tools/call', { name }));
      const { error } = rpcError.parse(await answer.json());
      expect([answer.status, error.code]).toEqual([200, -32_602]);
      expect(error.message.length).toBeLessThan(200);
    },
  );

  it('takes no notice of an argument that it does not know', async () => {
    const access = { mcpUrl: gateway.running.mcpUrl, key: agent.key };
    const args = { days: 1, agent_id: 1, __proto__: { days: 5 }, constructor: 'x' };
    const { from, to } = await recordOf(access, 'get_usage', args);
    expect(from).toBe(to);
    expect(await recordOf(access, 'get_balance', { agent_id: 1 })).toEqual(await gateway.balance(agent));
  });

  it.each([null, 5, 'x', []])('with %j for its arguments is refused', async (args) => {
    const answer = await post(rpc('tools/call', { name: 'get_balance', arguments: args }));
    expect(answer.status).toBeLessThan(500);
    const { error } = rpcError.parse(await answer.json());
    expect(error.code).toBe(-32_602);
  });

  it('without arguments is called', async () => {
    const answer = await post(rpc('tools/call', { name: 'get_balance' }));
    expect(await answer.json()).toMatchObject({ result: { structuredContent: { object: 'balance' } } });
  });

  it('shows its caller nothing of another agent', async () => {
    const other = await gateway.newAgent();
    const access = { mcpUrl: gateway.running.mcpUrl, key: agent.key };
    for (const tool of ['get_balance', 'get_limits', 'list_keys', 'list_calls', 'get_usage']) {
      const text = JSON.stringify(
        await callTool(access, tool, { agent_id: other.agentId, key_id: undefined }),
      );
      expect(text).not.toContain(String(other.keyId));
    }
  });
});

it('no key and no argument of a caller reaches the log', async () => {
  const secret = 'my-secret-label';
  await post(rpc('tools/call', { name: 'create_key', arguments: { label: `${secret}\n` } }));
  await post(rpc('tools/call', { name: secret }));
  await post(`{"${secret}`);
  await post(JSON.stringify(messageOf('2026-07-28', secret)), headersOf('2026-07-28', secret));
  const logged = JSON.stringify(
    gateway.logged.map(({ event, fields }) => [event, fields, String(fields?.error ?? '')]),
  );
  expect(logged).not.toContain(secret);
  expect(logged).not.toContain(agent.key.slice(12));
});
