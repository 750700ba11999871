import { createKey } from '#core/accounts/create-key.ts';
import { type TestAgent, type TestGateway, usd } from '../support/gateway.ts';

/** A key of the agent's with a label of any kind, also such as no tool would take. */
export async function newLabelledKey(
  gateway: TestGateway,
  agent: TestAgent,
  label: string,
  limitUsd?: string,
): Promise<TestAgent> {
  const { store, gateway: inner } = gateway.running.deps;
  const made = await createKey(
    { ledger: store.ledger, ids: inner.ids, pepper: store.peppers[0] },
    {
      agentId: agent.agentId,
      label,
      limit: limitUsd === undefined ? null : { limitNanoUsd: usd(limitUsd), reset: 'weekly' },
      actingKeyId: null,
      limits: { activeKeys: 100, mcpKeysPerDay: 20 },
    },
  );
  if (!made.ok) throw new Error(`key refused: ${made.reason}`);
  return { ...agent, keyId: made.keyId, key: made.key };
}
