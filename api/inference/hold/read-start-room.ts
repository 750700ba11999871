import type { KeyView } from '#core/ledger/ledger.ts';
import { maxBigint, type NanoUsd } from '#core/money.ts';
import type { Gateway } from './gateway.ts';
import type { StartRoom } from './start-advice.ts';

/** The most that any one call may hold here, whoever makes it and however long it waits. */
export function callCeiling({
  capacity,
  dailyShareNanoUsd,
}: Pick<Gateway, 'capacity' | 'dailyShareNanoUsd'>): NanoUsd {
  const share = dailyShareNanoUsd();
  const { ceilingNanoUsd } = capacity;
  return share !== null && share < ceilingNanoUsd ? share : ceilingNanoUsd;
}

const leftOf = ({ limitNanoUsd, spentNanoUsd, heldNanoUsd }: NonNullable<KeyView['limit']>): NanoUsd =>
  maxBigint(0n, limitNanoUsd - spentNanoUsd - heldNanoUsd);

/**
 * All bounds of a refused start at once, so that a cap which is advised because of one of them is not refused by the next. Read
 * after the refusal, which is rare. `null`: the ledger does not say.
 */
export async function readStartRoom(
  gateway: Pick<Gateway, 'capacity' | 'dailyShareNanoUsd' | 'ledger' | 'clock'>,
  { agentId, keyId }: { agentId: number; keyId: number },
): Promise<StartRoom | null> {
  const agent = await gateway.ledger.readAgent(agentId).catch(() => 'unavailable' as const);
  if (agent === null || agent === 'unavailable') return null;
  const nowMs = gateway.clock.now();
  let spendableNanoUsd = 0n;
  let heldNanoUsd = 0n;
  for (const lot of agent.lots) {
    heldNanoUsd += lot.heldNanoUsd;
    if (lot.expiresAtMs > nowMs) spendableNanoUsd += lot.freeNanoUsd;
  }
  const share = gateway.dailyShareNanoUsd();
  const limit = agent.keys.find((key) => key.keyId === keyId)?.limit ?? null;
  return {
    ceilingNanoUsd: callCeiling(gateway),
    shareLeftNanoUsd: share === null ? null : maxBigint(0n, share - agent.chargedTodayNanoUsd - heldNanoUsd),
    key: limit === null ? null : { ...limit, leftNanoUsd: leftOf(limit) },
    spendableNanoUsd,
    heldNanoUsd,
  };
}
