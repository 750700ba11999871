import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { executeDurably } from '#core/accounts/execute-durably.ts';
import { startTestGateway, type TestAgent, type TestGateway } from '../support/gateway.ts';
import { callTool, type McpAccess, recordOf, sentenceOf } from './mcp-calls.ts';

/** Spec: MCP refusals. Callers tell them apart by how they begin. */

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

let agent: TestAgent;
let access: McpAccess;
beforeEach(async () => {
  agent = await gateway.newAgent();
  access = accessOf(agent);
});
const accessOf = ({ key }: TestAgent): McpAccess => ({ mcpUrl: gateway.running.mcpUrl, key });

describe('This key has a spending limit', () => {
  const managing: [string, (keyId: number) => object][] = [
    ['create_key', () => ({ label: 'new' })],
    ['update_key', (key_id) => ({ key_id, label: 'new' })],
    ['revoke_key', (key_id) => ({ key_id })],
  ];
  it.each(managing)('is what %s answers to it', async (tool, args) => {
    const limited = await gateway.newKey(agent.agentId, '1');
    for (const keyId of [limited.keyId, agent.keyId]) {
      const sentence = await sentenceOf(accessOf(limited), tool, args(keyId));
      expect(sentence).toMatch(/^This key has a spending limit/);
    }
    const { keys } = (await gateway.view(agent)) ?? { keys: [] };
    expect(keys.map(({ label, revokedAtMs }) => [label, revokedAtMs])).toEqual([
      ['test', null],
      ['test', null],
    ]);
  });

  it.each(['get_balance', 'get_limits', 'get_usage', 'list_calls', 'list_keys'])(
    'keeps no key from %s',
    async (tool) => {
      const limited = await gateway.newKey(agent.agentId, '1');
      expect(await recordOf(accessOf(limited), tool)).toBeTypeOf('object');
    },
  );

  it('keeps no key from create_upload, which changes nothing of the agent', async () => {
    const limited = await gateway.newKey(agent.agentId, '1');
    const args = { content_type: 'image/png', size: 68 };
    const [told] = (await callTool(accessOf(limited), 'create_upload', args)).content;
    // The cluster of these tests has no store for it.
    expect(told).toMatchObject({
      text: expect.stringMatching(/^(\{"object":"upload"|This service keeps no files)/),
    });
  });
});

describe('No key <id> belongs to this agent', () => {
  const asking: [string, (keyId: number) => object][] = [
    ['update_key', (key_id) => ({ key_id, label: 'mine' })],
    ['revoke_key', (key_id) => ({ key_id })],
    ['list_calls', (key_id) => ({ key_id })],
  ];
  it.each(asking)(
    "is what %s answers of another agent's key, and of one that is nobody's",
    async (tool, args) => {
      const other = await gateway.newAgent();
      for (const keyId of [other.keyId, 1, Number.MAX_SAFE_INTEGER]) {
        const sentence = await sentenceOf(access, tool, args(keyId));
        expect(sentence.startsWith(`No key ${keyId} belongs to this agent`)).toBe(true);
      }
      expect((await gateway.view(other)).keys).toMatchObject([{ label: 'test', revokedAtMs: null }]);
    },
  );

  it('is what update_key answers of a key that was revoked', async () => {
    const { keyId } = await gateway.newKey(agent.agentId);
    await recordOf(access, 'revoke_key', { key_id: keyId });
    const sentence = await sentenceOf(access, 'update_key', { key_id: keyId, label: 'again' });
    expect(sentence.startsWith(`No key ${keyId} belongs to this agent any more`)).toBe(true);
  });
});

it('This agent already has 10 active keys: a revoked one makes room', async () => {
  const made: number[] = [];
  for (let i = 1; i < 10; i++) made.push((await recordOf(access, 'create_key', { label: `k${i}` })).id);
  expect(await sentenceOf(access, 'create_key', { label: 'k10' })).toMatch(
    /^This agent already has 10 active keys/,
  );
  await recordOf(access, 'revoke_key', { key_id: made[0] });
  expect((await recordOf(access, 'create_key', { label: 'k10' })).label).toBe('k10');
});

it('This agent made 20 keys over MCP: revoking them makes no room', async () => {
  const keys = [
    access,
    accessOf(await gateway.newKey(agent.agentId)),
    accessOf(await gateway.newKey(agent.agentId)),
  ];
  for (let i = 0; i < 20; i++) {
    const by = keys[i % keys.length] ?? access;
    const { id } = await recordOf(by, 'create_key', { label: `k${i}` });
    await recordOf(by, 'revoke_key', { key_id: id });
  }
  expect(await sentenceOf(access, 'create_key', { label: 'k20' })).toMatch(
    /^This agent made 20 keys over MCP/,
  );
});

describe.each(['suspended', 'inactive'] as const)(
  'This agent is not active, of one that is %s,',
  (status) => {
    let keptOut: McpAccess;
    let keyId: number;
    beforeEach(async () => {
      const refused = await gateway.newAgent({ status });
      keptOut = accessOf(refused);
      keyId = refused.keyId;
    });

    it('keeps it from new keys', async () => {
      expect(await sentenceOf(keptOut, 'create_key', { label: 'new' })).toMatch(/^This agent is not active/);
    });

    it('keeps it from nothing else', async () => {
      for (const tool of ['get_balance', 'get_limits', 'get_usage', 'list_calls', 'list_keys']) {
        expect(await recordOf(keptOut, tool)).toBeTypeOf('object');
      }
      expect((await recordOf(keptOut, 'get_balance')).agent.status).toBe(status);
      expect((await recordOf(keptOut, 'update_key', { key_id: keyId, label: 'renamed' })).label).toBe(
        'renamed',
      );
      expect((await recordOf(keptOut, 'revoke_key', { key_id: keyId })).revoked).toBe(true);
    });
  },
);

describe('label:', () => {
  const wrong: [string, string][] = [
    ['empty', ''],
    ['blank', '   '],
    ['nothing to be seen', '\u200b\u2060 \u{e0041}\u3164'],
    ['of 61 characters', 'x'.repeat(61)],
    ['two lines', 'a\nb'],
    ['two lines of another system', 'a\rb'],
    ['two paragraphs', 'a\u2029b'],
    ['with a NUL', 'a\0b'],
    ['with an escape', '\u001b[31mred'],
    ['turned around', 'safe\u202egnp.exe'],
    ['isolated', '\u2066x\u2069'],
    ['half a letter', '\ud83d'],
  ];
  it.each(wrong)('is what a label that is %s is answered', async (_, label) => {
    expect(await sentenceOf(access, 'create_key', { label })).toMatch(/^label: /);
    expect(await sentenceOf(access, 'update_key', { key_id: agent.keyId, label })).toMatch(/^label: /);
    expect((await gateway.view(agent)).keys).toMatchObject([{ label: 'test' }]);
  });

  it.each(['x'.repeat(60), '😀'.repeat(60), 'مفتاح', '<script>alert(1)</script>', `a"b'c\\d`])(
    '%j is a label',
    async (label) => {
      const made = await recordOf(access, 'create_key', { label });
      expect(made.label).toBe(label);
      expect((await recordOf(access, 'list_keys')).keys[1].label).toBe(label);
    },
  );
});

describe('spending_limit.usd:', () => {
  it.each([
    '1e2',
    '0.001',
    0.001,
    '0',
    0,
    -1,
    '-1',
    '1000000.01',
    1_000_000.01,
    'NaN',
    'Infinity',
    '',
    ' 5',
    '5 ',
    '0x10',
    '1,5',
    '1.0000000001',
    1e21,
    1e-7,
    '1'.repeat(400),
  ])('is what %j is answered', async (usd) => {
    const spending_limit = { usd, reset: 'daily' };
    expect(await sentenceOf(access, 'create_key', { label: 'new', spending_limit })).toMatch(
      /^spending_limit\.usd: /,
    );
    const change = { key_id: agent.keyId, spending_limit };
    expect(await sentenceOf(access, 'update_key', change)).toMatch(/^spending_limit\.usd: /);
    expect((await gateway.view(agent)).keys).toMatchObject([{ limit: null }]);
  });

  it.each([
    ['0.01', '0.01'],
    [0.01, '0.01'],
    ['1000000', '1000000'],
    [1_000_000, '1000000'],
    ['12.50', '12.5'],
    ['0.123456789', '0.123456789'],
    [1e2, '100'],
  ])('%j is an amount', async (usd, shown) => {
    const made = await recordOf(access, 'create_key', {
      label: 'new',
      spending_limit: { usd, reset: 'weekly' },
    });
    expect(made.spending_limit).toMatchObject({ limit_usd: shown, reset: 'weekly', remaining_usd: shown });
  });
});

describe('Input validation error', () => {
  const limit = { usd: '1', reset: 'daily' };
  const wrong: [string, unknown][] = [
    ['get_usage', { days: 0 }],
    ['get_usage', { days: 91 }],
    ['get_usage', { days: 1e9 }],
    ['get_usage', { days: 1.5 }],
    ['get_usage', { days: '7' }],
    ['get_usage', { days: null }],
    ['list_calls', { limit: 0 }],
    ['list_calls', { limit: 51 }],
    ['list_calls', { before: 5 }],
    ['list_calls', { before: 'c' }],
    ['list_calls', { before: "c1' OR 1=1" }],
    ['list_calls', { before: 'czzzzzzzzzzz' }],
    ['list_calls', { key_id: 'all' }],
    ['list_calls', { key_id: -1 }],
    ['create_key', {}],
    ['create_key', { label: 5 }],
    ['create_key', { label: 'new', spending_limit: null }],
    ['create_key', { label: 'new', spending_limit: { usd: '1' } }],
    ['create_key', { label: 'new', spending_limit: { reset: 'daily' } }],
    ['create_key', { label: 'new', spending_limit: { usd: true, reset: 'daily' } }],
    ['create_key', { label: 'new', spending_limit: { usd: '1', reset: 'hourly' } }],
    ['update_key', { label: 'new' }],
    ['update_key', { key_id: 1 }],
    ['update_key', { key_id: '1', label: 'new' }],
    ['update_key', { key_id: 1, label: null, spending_limit: limit }],
    ['revoke_key', {}],
    ['revoke_key', { key_id: 2 ** 53 }],
    ['create_upload', { content_type: 'image/svg+xml', size: 5 }],
    ['create_upload', { content_type: 'image/png', size: 0 }],
    ['create_upload', { content_type: 'image/png', size: 20_971_521 }],
    ['create_upload', { content_type: 'image/png' }],
  ];
  it.each(wrong)('is what %s answers to %j', async (tool, args) => {
    for (const revision of ['2026-07-28', '2025-06-18'] as const) {
      const sentence = await sentenceOf(access, tool, args, revision);
      expect(sentence.startsWith(`Input validation error: Invalid arguments for tool ${tool}: `)).toBe(true);
    }
  });

  it('names what is wrong', async () => {
    expect(await sentenceOf(access, 'get_usage', { days: 91 })).toContain('days: ');
    expect(await sentenceOf(access, 'update_key', { key_id: 1 })).toContain(
      'pass label, spending_limit or both',
    );
  });
});

it('what the operator has changed is what the sentences say', async () => {
  await using other = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
limits: { activeKeys: 2, mcpKeysPerDay: 1, mcpRequestsPerMinute: 600, mcpBurst: 100, uploadsPerDay: 3 }
providers: [{ id: sim, kind: simulator, cancel: bills_full, baseUrl: PROVIDER_URL }]
`,
  });
  const by = { mcpUrl: other.running.mcpUrl, key: other.agent.key };
  expect(await recordOf(by, 'get_limits')).toMatchObject({
    agent: { max_active_keys: 2, active_keys: 1 },
    mcp: { requests_per_minute: 600, burst: 100, keys_per_day: 1 },
    images: { uploads_per_day: 3 },
  });
  const { id } = await recordOf(by, 'create_key', { label: 'new' });
  expect(await sentenceOf(by, 'create_key', { label: 'more' })).toMatch(/already has 2 active keys/);
  await recordOf(by, 'revoke_key', { key_id: id });
  expect(await sentenceOf(by, 'create_key', { label: 'more' })).toMatch(/made 1 keys over MCP/);
  expect((await recordOf(by, 'list_keys')).max_active).toBe(2);
});

it('a key that ends between its check and its step is told to try again, and 401 then', async () => {
  const { ledger } = gateway.running.deps.store;
  const { findKey } = ledger;
  ledger.findKey = async (hashes) => {
    const found = await findKey.call(ledger, hashes);
    const { agentId, keyId } = agent;
    await executeDurably(ledger, {
      type: 'revoke_key',
      readVersion: null,
      agentId,
      keyId,
      actingKeyId: null,
    });
    return found;
  };
  const sentence = await sentenceOf(access, 'create_key', { label: 'too late' });
  ledger.findKey = findKey;
  expect(sentence).toMatch(/could not finish this right now/);
  await expect(recordOf(access, 'list_keys')).rejects.toThrow('invalid_token');
});
