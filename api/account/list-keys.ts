import type { Unavailable } from '#core/ledger/ledger.ts';
import { isActiveKey, type KeyList, oldestFirst, shapeKey } from '../contract/key-record.ts';
import type { AccountDeps, AccountKey } from './account-deps.ts';
import { readAccount } from './read-account.ts';

/** Active keys alone: a record does not tell a revoked one from them, and the limit beside the list counts them. */
export async function listKeys(
  deps: Pick<AccountDeps, 'ledger' | 'limits'>,
  { agentId, keyId }: AccountKey,
): Promise<KeyList | Unavailable> {
  const agent = await readAccount(deps, agentId);
  if (agent === 'unavailable') return agent;
  const keys = agent.keys.filter(isActiveKey).sort(oldestFirst);
  return { keys: keys.map((key) => shapeKey(key, keyId)), max_active: deps.limits().activeKeys };
}
