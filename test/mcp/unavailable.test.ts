import { describe, expect, it } from 'vitest';
import { startTestGateway } from '../support/gateway.ts';
import { decideNothing } from '../support/unavailable-ledger.ts';
import { headersOf, messageOf, recordOf, sentenceOf } from './mcp-calls.ts';

describe('while a store does not answer', () => {
  it('a key that cannot be checked is 503 temporarily_unavailable: nobody throws a good key away', async () => {
    await using gateway = await startTestGateway();
    const { ledger } = gateway.running.deps.store;
    ledger.findKey = async () => 'unavailable';
    const answer = await fetch(gateway.running.mcpUrl, {
      method: 'POST',
      headers: { ...headersOf('2025-11-25', 'ping'), authorization: `Bearer ${gateway.agent.key}` },
      body: JSON.stringify(messageOf('2025-11-25', 'ping')),
    });
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('2');
    expect(answer.headers.get('retry-after-ms')).toBe('2000');
    expect(await answer.json()).toMatchObject({ error: 'temporarily_unavailable' });
  });

  it.each([
    ['get_balance', {}],
    ['get_limits', {}],
    ['list_calls', {}],
    ['list_keys', {}],
  ])('%s says that the service could not finish this right now', async (tool, args) => {
    await using gateway = await startTestGateway();
    const { ledger } = gateway.running.deps.store;
    ledger.readAgent = async () => 'unavailable';
    const access = { mcpUrl: gateway.running.mcpUrl, key: gateway.agent.key };
    expect(await sentenceOf(access, tool, args)).toMatch(/could not finish this right now/);
  });

  it.each([
    ['get_usage', {}],
    ['list_calls', {}],
  ])('%s says it of the history as well', async (tool, args) => {
    await using gateway = await startTestGateway();
    Object.assign(gateway.running.deps.store.history, {
      usage: async () => 'unavailable',
      list: async () => 'unavailable',
    });
    const access = { mcpUrl: gateway.running.mcpUrl, key: gateway.agent.key };
    expect(await sentenceOf(access, tool, args)).toMatch(/could not finish this right now/);
  });

  it.each([
    ['create_key', { label: 'new' }],
    ['update_key', { key_id: 1, label: 'new' }],
    ['revoke_key', { key_id: 1 }],
  ])('%s changes nothing that it cannot answer for', async (tool, args) => {
    await using gateway = await startTestGateway();
    const { ledger } = gateway.running.deps.store;
    ledger.execute = decideNothing;
    const access = { mcpUrl: gateway.running.mcpUrl, key: gateway.agent.key };
    expect(await sentenceOf(access, tool, args)).toMatch(/could not finish this right now/);
  });

  it('a new key is told even where the ledger cannot be read any more: nobody else has its secret', async () => {
    await using gateway = await startTestGateway();
    const { ledger } = gateway.running.deps.store;
    const { readAgent } = ledger;
    // The key rests on one read; the one for its record comes too late.
    ledger.readAgent = async (agentId) => {
      ledger.readAgent = async () => 'unavailable';
      return await readAgent.call(ledger, agentId);
    };
    const access = { mcpUrl: gateway.running.mcpUrl, key: gateway.agent.key };
    const spending_limit = { usd: 5, reset: 'daily' };
    const made = await recordOf(access, 'create_key', { label: 'new', spending_limit });
    expect(made).toMatchObject({
      label: 'new',
      spending_limit: { limit_usd: '5', spent_usd: '0', remaining_usd: '5' },
    });
    ledger.readAgent = readAgent;
    const res = await fetch(`${gateway.baseUrl}/balance`, { headers: { 'x-api-key': made.key } });
    expect(res.status).toBe(200);
  });
});

it('a fault of ours is a sentence without a word of it, and is logged without the key', async () => {
  await using gateway = await startTestGateway();
  const secret = `the store at 10.0.0.7 said no to ${gateway.agent.key}`;
  gateway.running.deps.store.ledger.readAgent = async () => {
    throw new Error(secret);
  };
  const access = { mcpUrl: gateway.running.mcpUrl, key: gateway.agent.key };
  const sentence = await sentenceOf(access, 'get_balance');
  expect(sentence).toMatch(/could not finish this right now/);
  expect(sentence).not.toContain('10.0.0.7');
  const { agentId, keyId } = gateway.agent;
  expect(gateway.logged.find(({ event }) => event === 'mcp tool failed')?.fields).toMatchObject({
    agentId,
    keyId,
    path: 'get_balance',
  });
});
