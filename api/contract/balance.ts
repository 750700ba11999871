import { z } from 'zod';
import { isoTime } from '#core/clock.ts';
import type { AgentView } from '#core/ledger/ledger.ts';
import { formatUsd } from '#core/money.ts';
import { SpendingLimit, shapeSpendingLimit } from './key-record.ts';
import { usdText } from './money.ts';

const BalanceAgent = z
  .object({
    id: z.int(),
    name: z.string(),
    token: z.string().nullable().meta({ description: 'Null for an account.' }),
    status: z
      .enum(['active', 'inactive', 'suspended'])
      .meta({ description: 'Only `active` may start calls.' }),
  })
  .meta({ id: 'BalanceAgent' });

const ExpiringCredit = z
  .object({ at: z.iso.datetime().meta({ description: 'When it expires.' }), usd: usdText() })
  .meta({ id: 'ExpiringCredit' });

export const Balance = z
  .object({
    object: z.literal('balance'),
    agent: BalanceAgent,
    spendable_usd: usdText().meta({
      description: 'Balance less what running calls hold: what new calls can reserve now.',
    }),
    balance_usd: usdText(),
    reserved_usd: usdText().meta({ description: 'Held by running calls.' }),
    running_calls: z.int(),
    expiring: z.array(ExpiringCredit).meta({
      description: "What is left of each day's credit, soonest first. Sums to `spendable_usd`.",
    }),
    key_limit: SpendingLimit.nullable().meta({ description: "This key's limit." }),
  })
  .meta({ id: 'Balance' });
export type Balance = z.infer<typeof Balance>;

/**
 * The agent's money as the caller's key sees it.
 *
 * A lot that has ended but was not swept yet is no longer credit: it shows nowhere. What open holds took from
 * an ended lot stays reserved until their calls end.
 */
export function shapeBalance(view: AgentView, keyId: number, nowMs: number): Balance {
  const lots = view.lots
    .filter((lot) => lot.freeNanoUsd > 0n && lot.expiresAtMs > nowMs)
    .sort((a, b) => a.expiresAtMs - b.expiresAtMs);
  const spendable = lots.reduce((sum, lot) => sum + lot.freeNanoUsd, 0n);
  const reserved = view.holds.reduce((sum, hold) => sum + hold.nanoUsd, 0n);
  const limit = view.keys.find((key) => key.keyId === keyId)?.limit ?? null;
  return {
    object: 'balance',
    agent: { id: view.agentId, name: view.name, token: view.token, status: view.status },
    spendable_usd: formatUsd(spendable),
    balance_usd: formatUsd(spendable + reserved),
    reserved_usd: formatUsd(reserved),
    running_calls: view.runningCalls,
    expiring: lots.map((lot) => ({ at: isoTime(lot.expiresAtMs), usd: formatUsd(lot.freeNanoUsd) })),
    key_limit: limit === null ? null : shapeSpendingLimit(limit),
  };
}
