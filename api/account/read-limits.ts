import type { Unavailable } from '#core/ledger/ledger.ts';
import { type LimitsRecord, shapeLimits } from '../contract/limits-record.ts';
import type { AccountDeps, AccountKey } from './account-deps.ts';
import { readAccount } from './read-account.ts';

export async function readLimits(
  deps: Pick<AccountDeps, 'ledger' | 'limits'>,
  { agentId, keyId }: AccountKey,
): Promise<LimitsRecord | Unavailable> {
  const agent = await readAccount(deps, agentId);
  if (agent === 'unavailable') return agent;
  const key = agent.keys.find((each) => each.keyId === keyId);
  return key === undefined ? 'unavailable' : shapeLimits(agent, key, deps.limits());
}
