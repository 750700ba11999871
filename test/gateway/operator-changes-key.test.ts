import { afterAll, beforeAll, expect, it } from 'vitest';
import { formatUsd } from '#core/money.ts';
import { hello, startTestGateway, type TestAgent, type TestGateway, until } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const change = ({ agentId, keyId }: TestAgent, body: object) =>
  fetch(`${gateway.running.internalUrl}/admin/agents/${agentId}/keys/${keyId}/update`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.running.adminToken.reveal()}` },
    body: JSON.stringify(body),
  });

it("a key's limit, set by the operator, counts what it has spent and stops its calls at once; taken away, they go on", async () => {
  const agent = await gateway.newAgent();
  await (await gateway.post(hello(), { agent })).text();
  const { chargedNanoUsd } = await gateway.settled(agent);
  expect(chargedNanoUsd).toBeGreaterThan(0n);

  const set = await change(agent, { spending_limit: { usd: '0.01', reset: 'daily' } });
  expect(set.status).toBe(200);
  expect(await gateway.balance(agent)).toMatchObject({
    key_limit: { limit_usd: '0.01', reset: 'daily', spent_usd: formatUsd(chargedNanoUsd) },
  });
  const dear = hello({ model: 'faregate-sim/large' });
  const refused = await gateway.post(dear, { agent });
  expect(refused.status).toBe(402);
  expect(JSON.parse(await refused.text()).error.code).toBe('key_limit');

  expect((await change(agent, { label: 'free', spending_limit: null })).status).toBe(200);
  expect((await gateway.balance(agent)).key_limit).toBeNull();
  expect((await gateway.post(dear, { agent })).status).toBe(200);
});

it('what the operator changed stands in the audit log, with the limit', async () => {
  const agent = await gateway.newAgent();
  await change(agent, { spending_limit: { usd: '5', reset: 'weekly' } });
  const { audit } = gateway.running.deps.store;
  await until(async () => {
    const found = await audit.list({ limit: 1, action: 'keys.update' });
    return found !== 'unavailable' && found[0]?.ended?.result === 'ok';
  });
  expect(await audit.list({ limit: 1, action: 'keys.update' })).toMatchObject([
    { subject: { agent_id: agent.agentId, key_id: agent.keyId, label: 'test', spending_limit: '5 weekly' } },
  ]);
});
