import type { Unavailable } from '#core/ledger/ledger.ts';
import { type Balance, shapeBalance } from '../contract/balance.ts';
import type { AccountDeps, AccountKey } from './account-deps.ts';
import { readAccount } from './read-account.ts';

export async function readBalance(
  deps: Pick<AccountDeps, 'ledger' | 'clock'>,
  { agentId, keyId }: AccountKey,
): Promise<Balance | Unavailable> {
  const agent = await readAccount(deps, agentId);
  return agent === 'unavailable' ? agent : shapeBalance(agent, keyId, deps.clock.now());
}
