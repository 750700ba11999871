import type { CallHistory } from '#core/calls/call-history.ts';
import { dayOf, dayText } from '#core/calls/day-number.ts';
import type { Clock } from '#core/clock.ts';
import type { AgentView, Ledger, Unavailable } from '#core/ledger/ledger.ts';
import { type Balance, shapeBalance } from '../contract/balance.ts';
import { type LimitsRecord, shapeLimits } from '../contract/limits-record.ts';
import { shapeUsage, type UsageRecord } from '../contract/usage-record.ts';
import type { AccountDeps, AccountKey } from './account-deps.ts';

/** The agent of a key that was let in. One that is missing is a ledger that does not answer for it, never a poor agent. */
export async function readAccount(
  { ledger }: { ledger: Pick<Ledger, 'readAgent'> },
  agentId: number,
): Promise<AgentView | Unavailable> {
  return (await ledger.readAgent(agentId)) ?? 'unavailable';
}

export async function readBalance(
  deps: Pick<AccountDeps, 'ledger' | 'clock'>,
  { agentId, keyId }: AccountKey,
): Promise<Balance | Unavailable> {
  const agent = await readAccount(deps, agentId);
  return agent === 'unavailable' ? agent : shapeBalance(agent, keyId, deps.clock.now());
}

export async function readLimits(
  deps: Pick<AccountDeps, 'ledger' | 'limits'>,
  { agentId, keyId }: AccountKey,
): Promise<LimitsRecord | Unavailable> {
  const agent = await readAccount(deps, agentId);
  if (agent === 'unavailable') return agent;
  const key = agent.keys.find((each) => each.keyId === keyId);
  return key === undefined ? 'unavailable' : shapeLimits(agent, key, deps.limits());
}

/** @param days UTC days back, today included: 1 is today alone. */
export async function readUsage(
  { history, clock }: { history: Pick<CallHistory, 'usage'>; clock: Pick<Clock, 'now'> },
  { agentId, days }: { agentId: number; days: number },
): Promise<UsageRecord | Unavailable> {
  const today = dayOf(clock.now());
  const range = { fromDay: dayText(today - days + 1), toDay: dayText(today) };
  const rows = await history.usage({ agentId, ...range });
  return rows === 'unavailable' ? rows : shapeUsage(range, rows);
}
