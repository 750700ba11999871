import { executeDurably } from '#core/accounts/execute-durably.ts';
import { type TestGateway, usd } from '../support/gateway.ts';

/** Credit that ends at this time. */
export async function grantUntil(
  gateway: TestGateway,
  agentId: number,
  expiresAtMs: number,
  amountUsd: string,
): Promise<void> {
  const result = await executeDurably(gateway.running.deps.store.ledger, {
    type: 'grant',
    agentId,
    grantId: `until-${agentId}-${expiresAtMs}`,
    expiresAtMs,
    nanoUsd: usd(amountUsd),
  });
  if (!result.ok) throw new Error(`grant refused: ${result.reason}`);
}
