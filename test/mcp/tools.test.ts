import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { hello, startTestGateway, type TestGateway } from '../support/gateway.ts';
import { headersOf, messageOf, REVISIONS, type Revision, recordOf, TOOL_NAMES } from './mcp-calls.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const accessOf = ({ key }: { key: string }) => ({ mcpUrl: gateway.running.mcpUrl, key });

const listedTools = z.array(
  z.object({
    name: z.string(),
    title: z.string(),
    description: z.string(),
    inputSchema: z.looseObject({ type: z.literal('object') }),
    outputSchema: z.looseObject({ type: z.literal('object') }),
    annotations: z.record(z.string(), z.boolean()),
  }),
);

async function listTools(revision: Revision) {
  const agent = await gateway.newAgent();
  const res = await fetch(gateway.running.mcpUrl, {
    method: 'POST',
    headers: { ...headersOf(revision, 'tools/list'), authorization: `Bearer ${agent.key}` },
    body: JSON.stringify(messageOf(revision, 'tools/list')),
  });
  const { result } = z.object({ result: z.looseObject({ tools: listedTools }) }).parse(await res.json());
  return result;
}

describe('the list of tools', () => {
  it.each(REVISIONS)('has the tools of the spec and no other, the same for revision %s', async (revision) => {
    const { tools } = await listTools(revision);
    expect(tools.map(({ name }) => name)).toEqual(TOOL_NAMES);
    expect(tools).toEqual((await listTools('2026-07-28')).tools);
  });

  it('marks what reads as reading and what revokes as destructive', async () => {
    const { tools } = await listTools('2026-07-28');
    const hints = new Map(tools.map(({ name, annotations }) => [name, annotations]));
    for (const annotations of hints.values()) {
      expect(Object.keys(annotations).toSorted()).toEqual([
        'destructiveHint',
        'idempotentHint',
        'openWorldHint',
        'readOnlyHint',
      ]);
    }
    for (const name of TOOL_NAMES) {
      expect([name, hints.get(name)?.readOnlyHint]).toEqual([name, /^(get|list)_/.test(name)]);
      expect([name, hints.get(name)?.destructiveHint]).toEqual([name, name === 'revoke_key']);
    }
  });

  it('has schemas that every client reads', async () => {
    const text = JSON.stringify((await listTools('2025-06-18')).tools);
    const words = ['$schema', '$ref', '$defs', '9007199254740991', '"id":"'];
    expect(words.filter((word) => text.includes(word))).toEqual([]);
    expect(text.includes('"type":[')).toBe(false);
  });

  it('may be kept for an hour by clients of 2026, for all keys', async () => {
    expect(await listTools('2026-07-28')).toMatchObject({ ttlMs: 3_600_000, cacheScope: 'public' });
  });
});

describe('get_balance', () => {
  it.each(REVISIONS)('is GET /v1/balance, byte for byte (%s)', async (revision) => {
    const agent = await gateway.newAgent({ creditUsd: '12.345678901'.slice(0, 11) });
    const limited = await gateway.newKey(agent.agentId, '3');
    for (const { key } of [agent, limited]) {
      const res = await fetch(`${gateway.baseUrl}/balance`, { headers: { 'x-api-key': key } });
      const byMcp = await recordOf({ mcpUrl: gateway.running.mcpUrl, key }, 'get_balance', {}, revision);
      expect(JSON.stringify(byMcp)).toBe(await res.text());
    }
  });

  it('is the same while a call runs', async () => {
    const agent = await gateway.newAgent();
    gateway.provider.next({ gate: 'balance' });
    const call = gateway.post(hello(), { agent });
    await gateway.provider.reached('balance');
    const balance = await recordOf(accessOf(agent), 'get_balance');
    expect(balance).toEqual(await gateway.balance(agent));
    expect(balance.running_calls).toBe(1);
    expect(Number(balance.reserved_usd)).toBeGreaterThan(0);
    gateway.provider.release('balance');
    expect((await call).status).toBe(200);
  });
});

describe('get_limits', () => {
  it('answers the spec’s numbers by default', async () => {
    const agent = await gateway.newAgent();
    const { keyId, key } = agent;
    expect(await recordOf(accessOf(agent), 'get_limits')).toEqual({
      key: {
        id: keyId,
        label: 'test',
        prefix: key.slice(0, 12),
        can_manage_keys: true,
        spending_limit: null,
      },
      agent: {
        calls_per_minute: 600,
        burst: 60,
        max_running_calls: 8,
        running_calls: 0,
        max_active_keys: 10,
        active_keys: 1,
      },
      request: { max_body_mb: 4, max_stream_minutes: 30, max_call_minutes: 13 },
      mcp: { requests_per_minute: 60, burst: 20, keys_per_day: 20 },
      images: {
        uploads_per_day: 200,
        max_upload_mb: 20,
        upload_link_hours: 24,
        result_link_days: 7,
        max_results_gb: 5,
      },
    });
  });

  it('tells a key with a limit what is left of it', async () => {
    const agent = await gateway.newAgent();
    const limited = await gateway.newKey(agent.agentId, '3');
    expect((await recordOf(accessOf(limited), 'get_limits')).key).toMatchObject({
      id: limited.keyId,
      can_manage_keys: false,
      spending_limit: { limit_usd: '3', reset: 'daily', spent_usd: '0', remaining_usd: '3' },
    });
  });
});

describe('keys', () => {
  it('are made, listed, changed and revoked', async () => {
    const agent = await gateway.newAgent();
    const access = accessOf(agent);
    const made = await recordOf(access, 'create_key', {
      label: 'worker',
      spending_limit: { usd: '2.5', reset: 'monthly' },
    });
    expect(Object.keys(made)).toEqual(['key', 'id', 'label', 'prefix', 'created_at', 'spending_limit']);
    expect(made).toMatchObject({ label: 'worker', prefix: made.key.slice(0, 12) });

    const { keys, max_active } = await recordOf(access, 'list_keys');
    expect(max_active).toBe(10);
    expect(keys).toMatchObject([
      { id: agent.keyId, this_key: true, created_by_key_id: null, spending_limit: null },
      { id: made.id, this_key: false, created_by_key_id: agent.keyId, spending_limit: made.spending_limit },
    ]);
    expect(Object.keys(keys[1])).toEqual(
      expect.arrayContaining([
        'id',
        'label',
        'prefix',
        'created_at',
        'last_used_at',
        'month_usd',
        'spending_limit',
      ]),
    );
    expect(JSON.stringify(keys)).not.toContain(made.key.slice(12));

    const renamed = await recordOf(access, 'update_key', { key_id: made.id, label: 'night worker' });
    expect(renamed).toMatchObject({
      label: 'night worker',
      spending_limit: { limit_usd: '2.5', reset: 'monthly' },
    });
    const freed = await recordOf(access, 'update_key', { key_id: made.id, spending_limit: null });
    expect(freed).toMatchObject({ label: 'night worker', spending_limit: null });
    const both = { key_id: made.id, label: 'x', spending_limit: { usd: 7, reset: 'daily' } };
    expect(await recordOf(access, 'update_key', both)).toMatchObject({
      label: 'x',
      spending_limit: { limit_usd: '7', reset: 'daily' },
    });

    const revoked = { key_id: made.id, revoked: true, this_key: false };
    expect(await recordOf(access, 'revoke_key', { key_id: made.id })).toEqual(revoked);
    expect(await recordOf(access, 'revoke_key', { key_id: made.id })).toEqual(revoked);
    expect((await recordOf(access, 'list_keys')).keys).toHaveLength(1);
  });

  it('a limit that is set in the middle of its period counts what the key has spent', async () => {
    const agent = await gateway.newAgent();
    const worker = await gateway.newKey(agent.agentId);
    expect((await gateway.post(hello(), { agent: worker })).status).toBe(200);
    const { chargedNanoUsd } = await gateway.settled(agent);
    const limited = await recordOf(accessOf(agent), 'update_key', {
      key_id: worker.keyId,
      spending_limit: { usd: '0.01', reset: 'daily' },
    });
    const spent = Number(limited.spending_limit.spent_usd);
    expect(Math.round(spent * 1e9)).toBe(Number(chargedNanoUsd));
    expect(limited.month_usd).toBe(limited.spending_limit.spent_usd);
    expect(limited.last_used_at).not.toBeNull();
  });

  it('a revoked key starts nothing more, while its running call goes on to its end', async () => {
    const agent = await gateway.newAgent();
    const worker = await gateway.newKey(agent.agentId);
    gateway.provider.next({ gate: 'revoked' });
    const call = gateway.post(hello({ stream: true }), { agent: worker });
    await gateway.provider.reached('revoked');
    await recordOf(accessOf(agent), 'revoke_key', { key_id: worker.keyId });
    expect((await gateway.post(hello(), { agent: worker })).status).toBe(401);
    gateway.provider.release('revoked');
    expect(await (await call).text()).toContain('[DONE]');
    const [running] = (await recordOf(accessOf(agent), 'list_calls', { key_id: worker.keyId })).calls;
    expect(running.key.id).toBe(worker.keyId);
  });

  it('fifty at once at nine active keys make one', async () => {
    const agent = await gateway.newAgent();
    const by = [agent];
    for (let i = 0; i < 8; i++) by.push(await gateway.newKey(agent.agentId));
    const made = await Promise.allSettled(
      Array.from({ length: 50 }, (_, i) =>
        recordOf(accessOf(by[i % 9] ?? agent), 'create_key', { label: `k${i}` }),
      ),
    );
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect((await recordOf(accessOf(agent), 'list_keys')).keys).toHaveLength(10);
  });
});

/** The names of all members, at any depth, of objects and of what stands in lists. */
function membersOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(membersOf);
  if (typeof value !== 'object' || value === null) return null;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, membersOf(member)]));
}

describe('a record has the fields of the spec and no other:', () => {
  const limit = {
    limit_usd: null,
    reset: null,
    spent_usd: null,
    reserved_usd: null,
    remaining_usd: null,
    resets_at: null,
  };
  const call = {
    id: null,
    started_at: null,
    duration_ms: null,
    key: { id: null, label: null, prefix: null },
    model: null,
    model_name: null,
    endpoint: null,
    stream: null,
    outcome: null,
    error_code: null,
    tokens: { prompt: null, completion: null, reasoning: null, cached: null },
    reserved_usd: null,
    charge_usd: null,
  };

  it('a key, a new one, and one that was revoked', async () => {
    const agent = await gateway.newAgent();
    const spending_limit = { usd: '1', reset: 'daily' };
    const made = await recordOf(accessOf(agent), 'create_key', { label: 'new', spending_limit });
    const shown = { id: null, label: null, prefix: null, created_at: null, spending_limit: limit };
    expect(membersOf(made)).toEqual({ key: null, ...shown });
    const key = { ...shown, last_used_at: null, month_usd: null, this_key: null, created_by_key_id: null };
    const { keys, ...list } = await recordOf(accessOf(agent), 'list_keys');
    expect(membersOf(keys)).toEqual([{ ...key, spending_limit: null }, key]);
    expect(list).toEqual({ max_active: 10 });
    const changed = await recordOf(accessOf(agent), 'update_key', { key_id: made.id, label: 'changed' });
    expect(membersOf(changed)).toEqual(key);
    const revoked = await recordOf(accessOf(agent), 'revoke_key', { key_id: made.id });
    expect(membersOf(revoked)).toEqual({ key_id: null, revoked: null, this_key: null });
  });

  it('a balance', async () => {
    const agent = await gateway.newAgent();
    const limited = await gateway.newKey(agent.agentId, '3');
    expect(membersOf(await recordOf(accessOf(limited), 'get_balance'))).toEqual({
      object: null,
      agent: { id: null, name: null, token: null, status: null },
      spendable_usd: null,
      balance_usd: null,
      reserved_usd: null,
      running_calls: null,
      expiring: [{ at: null, usd: null }],
      key_limit: limit,
    });
  });

  it('a call while it runs, after it, and where it failed, with its usage', async () => {
    const agent = await gateway.newAgent();
    gateway.provider.next({ gate: 'fields' });
    const running = gateway.post(hello(), { agent });
    await gateway.provider.reached('fields');
    expect(membersOf(await recordOf(accessOf(agent), 'list_calls'))).toEqual({ calls: [call], next: null });
    gateway.provider.release('fields');
    expect((await running).status).toBe(200);
    gateway.provider.next({ status: 400, error: {} });
    expect((await gateway.post(hello(), { agent })).status).not.toBe(200);
    await gateway.settled(agent);
    await gateway.calls(agent);
    const { calls } = await recordOf(accessOf(agent), 'list_calls');
    expect(membersOf(calls)).toEqual([{ ...call, http_status: null }, call]);
    const sums = { usd: null, calls: null, tokens: null };
    expect(membersOf(await recordOf(accessOf(agent), 'get_usage'))).toEqual({
      from: null,
      to: null,
      total: sums,
      days: [{ day: null, ...sums }],
      models: [{ model: null, name: null, ...sums }],
    });
  });
});

describe('calls', () => {
  it('are shown from their start on, and as they end', async () => {
    const agent = await gateway.newAgent();
    gateway.provider.next({ gate: 'shown' });
    const call = gateway.post(hello(), { agent });
    await gateway.provider.reached('shown');
    const { calls, next } = await recordOf(accessOf(agent), 'list_calls');
    expect(next).toBeNull();
    expect(calls).toMatchObject([
      {
        model: 'faregate-sim/small',
        endpoint: 'chat/completions',
        stream: false,
        outcome: 'running',
        error_code: null,
        charge_usd: '0',
        key: { id: agent.keyId, label: 'test', prefix: agent.key.slice(0, 12) },
      },
    ]);
    expect(Number(calls[0].reserved_usd)).toBeGreaterThan(0);
    gateway.provider.release('shown');
    const id = (await call).headers.get('x-service-call-id');
    expect(String(calls[0].id)).toBe(id);
    await gateway.settled(agent);
    await gateway.calls(agent);
    const [ended] = (await recordOf(accessOf(agent), 'list_calls')).calls;
    expect(ended.outcome).toBe('ok');
    expect(Number(ended.charge_usd)).toBeGreaterThan(0);
    const usage = await recordOf(accessOf(agent), 'get_usage', { days: 1 });
    expect(usage.total).toEqual({
      usd: ended.charge_usd,
      calls: 1,
      tokens: ended.tokens.prompt + ended.tokens.completion,
    });
    expect(usage.days).toEqual([{ day: usage.to, ...usage.total }]);
    expect(usage.models).toEqual([{ model: ended.model, name: ended.model_name, ...usage.total }]);
  });

  it('come page by page, each once, of one key or of all', async () => {
    const agent = await gateway.newAgent();
    const other = await gateway.newKey(agent.agentId);
    const ids: number[] = [];
    for (let i = 0; i < 7; i++) {
      const res = await gateway.post(hello(), { agent: i % 3 === 0 ? other : agent });
      ids.unshift(Number(res.headers.get('x-service-call-id')));
    }
    await gateway.settled(agent);
    await gateway.calls(agent);
    const pages = async (args: object) => {
      const found: number[] = [];
      for (let before: string | undefined; ; ) {
        const page = await recordOf(accessOf(agent), 'list_calls', { ...args, limit: 3, before });
        found.push(...page.calls.map(({ id }: { id: number }) => id));
        if (page.next === null) return found;
        before = page.next;
      }
    };
    expect(await pages({})).toEqual(ids);
    expect(await pages({ key_id: other.keyId })).toEqual(ids.filter((_, i) => (6 - i) % 3 === 0));
  });

  it('that failed tell their status and code', async () => {
    const agent = await gateway.newAgent();
    gateway.provider.always({ status: 400, error: {} });
    const res = await gateway.post(hello(), { agent });
    gateway.provider.reset();
    await gateway.settled(agent);
    await gateway.calls(agent);
    const [failed] = (await recordOf(accessOf(agent), 'list_calls')).calls;
    expect(failed).toMatchObject({
      outcome: 'failed',
      http_status: res.status,
      error_code: expect.any(String),
    });
  });
});
