import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { hello, startTestGateway, type TestAgent, type TestGateway, until } from '../support/gateway.ts';
import { unavailableLedger } from '../support/unavailable-ledger.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

async function refusal(body: unknown, agent: TestAgent) {
  const res = await gateway.post(body, { agent });
  return { status: res.status, headers: res.headers, error: JSON.parse(await res.text()).error };
}

async function revoke({ agentId, keyId }: TestAgent): Promise<void> {
  await gateway.running.deps.store.ledger.execute({
    type: 'revoke_key',
    readVersion: null,
    agentId,
    keyId,
    actingKeyId: null,
  });
}

async function nothingHappened(agent: TestAgent): Promise<void> {
  const view = await gateway.view(agent);
  expect(view.holds).toEqual([]);
  expect(view.chargedNanoUsd).toBe(0n);
  expect(await gateway.calls(agent)).toEqual([]);
}

describe('a call that does not fit', () => {
  it('into the balance names both amounts and the longest answer that fits, and that answer fits', async () => {
    const agent = await gateway.newAgent({ creditUsd: '0.001' });
    const { status, error } = await refusal(hello(), agent);
    expect(status).toBe(402);
    expect(error.code).toBe('insufficient_balance');
    expect(error.message).toContain('$0.001 is spendable');
    expect(error.message).toMatch(/would hold \$0\.00\d+/);
    const cap = Number(/largest `max_tokens` that fits is (\d+)/.exec(error.message)?.[1]);
    await nothingHappened(agent);

    const tooLong = await refusal(hello({ max_tokens: cap + 1 }), agent);
    expect(tooLong.status).toBe(402);
    expect((await gateway.post(hello({ max_tokens: cap }), { agent })).status).toBe(200);
  });

  it('because running calls hold the rest says that it may fit when one ends', async () => {
    const agent = await gateway.newAgent({ creditUsd: '0.002' });
    gateway.provider.next({ gate: 'busy', gateAt: 'headers' });
    const running = gateway.post(hello(), { agent });
    await gateway.provider.reached('busy');
    const { status, error } = await refusal(hello(), agent);
    expect(status).toBe(402);
    expect(error.message).toContain('it may fit when one ends');
    expect(error.message).not.toContain('Not even');
    gateway.provider.release('busy');
    expect((await running).status).toBe(200);
    await gateway.settled(agent);
    expect((await gateway.post(hello(), { agent })).status).toBe(200);
  });

  it('into the key’s limit names the reset time; the agent’s other keys keep working', async () => {
    const agent = await gateway.newAgent();
    const limited = await gateway.newKey(agent.agentId, '0.001');
    const { status, error } = await refusal(hello(), limited);
    expect(status).toBe(402);
    expect(error.code).toBe('key_limit');
    expect(error.message).toMatch(/until \d{4}-\d\d-\d\dT00:00:00\.000Z/);
    expect(error.message).toMatch(/largest `max_tokens` that fits is \d+/);
    expect((await gateway.post(hello(), { agent })).status).toBe(200);
  });

  it('names max_completion_tokens to a caller who used that', async () => {
    const agent = await gateway.newAgent({ creditUsd: '0.001' });
    const { error } = await refusal(hello({ max_completion_tokens: 100_000 }), agent);
    expect(error.message).toContain('`max_completion_tokens`');
  });
});

describe('an agent that is not active', () => {
  it.each([
    ['inactive', 'agent_inactive'],
    ['suspended', 'agent_suspended'],
  ] as const)('%s: starts no call, and still reads its balance', async (status, code) => {
    const agent = await gateway.newAgent({ status });
    const refused = await refusal(hello(), agent);
    expect(refused.status).toBe(403);
    expect(refused.error.code).toBe(code);
    await nothingHappened(agent);
    expect(await gateway.balance(agent)).toMatchObject({ agent: { status } });
  });
});

describe('a revoked key', () => {
  it('stops on its next call and its running call finishes', async () => {
    const agent = await gateway.newAgent();
    gateway.provider.next({ gate: 'revoke', gateAt: 'headers' });
    const running = gateway.post(hello(), { agent });
    await gateway.provider.reached('revoke');
    await revoke(agent);
    const { status, headers, error } = await refusal(hello(), agent);
    expect(status).toBe(401);
    expect(error.code).toBe('invalid_api_key');
    expect(headers.get('www-authenticate')).toBe('Bearer realm="faregate"');
    gateway.provider.release('revoke');
    expect((await running).status).toBe(200);
  });
});

describe('what has ended since the last call', () => {
  it.each([
    ['is not JSON', '{'],
    ['names no model that there is', hello({ model: 'no/such-model' })],
    ['would be served', hello()],
  ])('a revoked key is told before that the body %s', async (_, body) => {
    const agent = await gateway.newAgent();
    expect((await gateway.post(hello(), { agent })).status).toBe(200);
    await revoke(agent);
    const { status, error } = await refusal(body, agent);
    expect([status, error.code]).toEqual([401, 'invalid_api_key']);
    expect(error.message).toContain('revoked');
  });

  it('a revoked key is told before that the gateway is stopped or has no room, and costs its agent’s other keys no wait', async () => {
    const agent = await gateway.newAgent();
    expect((await gateway.post(hello(), { agent })).status).toBe(200);
    await revoke(agent);
    const { catalog, refusedStarts, capacity } = gateway.running.deps.gateway;
    const answers: string[] = [];
    const ask = async () => void answers.push((await refusal(hello(), agent)).error.code);
    const stopped = vi.spyOn(catalog, 'gatewayStopped').mockReturnValue(true);
    await ask();
    stopped.mockRestore();
    const full = vi.spyOn(capacity, 'admit').mockReturnValue('pool_full');
    await ask();
    full.mockRestore();
    await Promise.all(Array.from({ length: 80 }, () => refusal('{', agent)));
    expect(answers).toEqual(['invalid_api_key', 'invalid_api_key']);
    expect(refusedStarts.waitMs(agent.agentId, gateway.running.deps.clock.monotonicMs())).toBe(0);
  });

  it('a suspended agent is told before that no model has that id, and after that the body is no JSON', async () => {
    const agent = await gateway.newAgent();
    expect((await gateway.post(hello(), { agent })).status).toBe(200);
    const { ledger } = gateway.running.deps.store;
    await ledger.execute({
      ...{ type: 'set_agent', agentId: agent.agentId, mode: 'update', status: 'suspended', name: 'Ada' },
      ...{ token: null, source: 'admin', sourceVersion: Number.MAX_SAFE_INTEGER },
    });
    const { error } = await refusal(hello({ model: 'no/such-model' }), agent);
    expect(error.code).toBe('agent_suspended');
    expect((await refusal('{', agent)).error.code).toBe('invalid_request');
  });
});

/**
 * Codes of refusals that come many at once, so that a slow machine earns little meanwhile. On a cluster all may be read before the first
 * is counted, so more follow.
 */
async function codesUntilLimited(body: unknown, agent: TestAgent): Promise<string[]> {
  const codes: string[] = [];
  for (let round = 0; round < 5 && !codes.includes('rate_limited'); round++) {
    const refusals = await Promise.all(Array.from({ length: 300 }, () => refusal(body, agent)));
    codes.push(...refusals.map(({ error }) => error.code));
  }
  return codes;
}

describe('too many calls', () => {
  /** Until the gate is released. */
  async function eightRunning(agent: TestAgent, gate: string): Promise<Promise<Response>[]> {
    gateway.provider.next(...Array.from({ length: 8 }, () => ({ gate, gateAt: 'headers' as const })));
    const running = Array.from({ length: 8 }, () => gateway.post(hello({ max_tokens: 5 }), { agent }));
    await until(() => gateway.provider.waitingAt(gate) === 8);
    return running;
  }

  it('at once: the ninth is refused, and runs when one has ended', async () => {
    const agent = await gateway.newAgent();
    const running = await eightRunning(agent, 'eight');
    const { status, headers, error } = await refusal(hello({ max_tokens: 5 }), agent);
    expect(status).toBe(429);
    expect(error.code).toBe('too_many_running_calls');
    expect(Number(headers.get('retry-after-ms'))).toBeGreaterThan(0);
    gateway.provider.release('eight');
    for (const call of running) expect((await call).status).toBe(200);
    await gateway.settled(agent);
    expect((await gateway.post(hello({ max_tokens: 5 }), { agent })).status).toBe(200);
  });

  it.each([
    ['402s', 'insufficient_balance', hello()],
    ['400s', 'invalid_request', hello({ max_tokens: 'many' })],
  ])(
    'an agent that sends %s without end is slowed down before its bodies are read',
    async (_, first, body) => {
      const agent = await gateway.newAgent({ creditUsd: '0' });
      expect((await refusal(body, agent)).error.code).toBe(first);
      expect(await codesUntilLimited(body, agent)).toContain('rate_limited');
      await nothingHappened(agent);
    },
  );

  it('who waits as long as a 429 says is not told to wait longer for the size of the body', async () => {
    const agent = await gateway.newAgent();
    const running = await eightRunning(agent, 'waits');
    const large = hello({ max_tokens: 5, metadata: { note: 'x'.repeat(3_900_000) } });
    for (let i = 0; i < 3; i++)
      expect((await refusal(large, agent)).error.code).toBe('too_many_running_calls');
    gateway.provider.release('waits');
    for (const call of running) await (await call).text();
    await gateway.settled(agent);
  });

  it('of refused bodies a large one counts as many small ones', async () => {
    const agent = await gateway.newAgent({ creditUsd: '0' });
    const large = hello({ metadata: { note: 'x'.repeat(3_900_000) } });
    expect((await refusal(large, agent)).error.code).toBe('insufficient_balance');
    // Far fewer than an agent may send at once. A tenth of a second earns a start again, so the large ones owe for longer than a slow
    // machine takes; each is counted before it is answered.
    const several = await Promise.all(Array.from({ length: 4 }, () => refusal(large, agent)));
    const small = await refusal(hello(), agent);
    expect([...several, small].map(({ error }) => error.code)).toContain('rate_limited');
    await nothingHappened(agent);
  });
});

describe('an outage of the ledger', () => {
  it('is no refused start of the agent: the first call after it is answered', async () => {
    const agent = await gateway.newAgent();
    const { deps } = gateway.running;
    const { ledger } = deps.gateway;
    deps.gateway.ledger = unavailableLedger(ledger);
    for (let i = 0; i < 70; i++)
      expect((await refusal(hello(), agent)).error.code).toBe('service_unavailable');
    deps.gateway.ledger = ledger;
    expect((await gateway.post(hello(), { agent })).status).toBe(200);
  });
});

describe('the order of refusals', () => {
  it('is path, key, body, agent, model and tools, balance', async () => {
    const broke = await gateway.newAgent({ creditUsd: '0', status: 'suspended' });
    const poor = await gateway.newAgent({ creditUsd: '0' });
    const everythingWrong = { model: 'nope', messages: [], tools: [{ type: 'mcp' }] };
    const wrongModel = hello({ model: 'nope', tools: [{ type: 'mcp' }] });
    const wrongTool = hello({ tools: [{ type: 'mcp' }] });
    const code = async (path: string, body: unknown, agent: TestAgent) => {
      const res = await gateway.post(body, { agent, path });
      return JSON.parse(await res.text()).error.code;
    };
    const nobody = { ...broke, key: 'fg_nobody' };
    expect(await code('/embeddings', everythingWrong, nobody)).toBe('not_found');
    expect(await code('/chat/completions', '{', nobody)).toBe('invalid_api_key');
    expect(await code('/chat/completions', everythingWrong, broke)).toBe('invalid_request');
    expect(await code('/chat/completions', wrongModel, broke)).toBe('agent_suspended');
    expect(await code('/chat/completions', everythingWrong, poor)).toBe('invalid_request');
    expect(['unknown_model', 'tool_not_served']).toContain(await code('/chat/completions', wrongModel, poor));
    expect(await code('/chat/completions', wrongTool, poor)).toBe('tool_not_served');
    expect(await code('/chat/completions', hello(), poor)).toBe('insufficient_balance');
  });
});
