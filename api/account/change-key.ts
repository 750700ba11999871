import { changeKey as change } from '#core/accounts/change-key.ts';
import type { ChangeKeyResult as Changed, ChangeKey } from '#core/ledger/command.ts';
import { type KeyRecord, shapeKey } from '../contract/key-record.ts';
import type { AccountDeps, AccountKey } from './account-deps.ts';
import { readAccount } from './read-account.ts';

export type ChangeKeyResult =
  | { ok: true; key: KeyRecord }
  | { ok: false; reason: Extract<Changed, { ok: false }>['reason'] | 'unavailable' };

/** Label, limit or both, by a key of the same agent; a limit counts what was spent in its period before. */
export async function changeKey(
  deps: Pick<AccountDeps, 'ledger'>,
  { agentId, keyId: actingKeyId }: AccountKey,
  asked: Pick<ChangeKey, 'keyId' | 'label' | 'limit'>,
): Promise<ChangeKeyResult> {
  const result = await change(deps.ledger, { agentId, actingKeyId, ...asked });
  if (!result.ok) return result;
  const agent = await readAccount(deps, agentId);
  const view = agent === 'unavailable' ? undefined : agent.keys.find(({ keyId }) => keyId === asked.keyId);
  if (view === undefined) return { ok: false, reason: 'unavailable' };
  return { ok: true, key: shapeKey(view, actingKeyId) };
}
