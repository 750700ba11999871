import { createKey as makeKey } from '#core/accounts/create-key.ts';
import { unreadKey } from '#core/accounts/unread-key.ts';
import type { PutKey, PutKeyResult } from '#core/ledger/command.ts';
import { type NewKey, shapeNewKey } from '../contract/key-record.ts';
import type { AccountDeps, AccountKey } from './account-deps.ts';
import { readAccount } from './read-account.ts';

export type CreateKeyResult =
  | { ok: true; key: NewKey }
  | { ok: false; reason: Extract<PutKeyResult, { ok: false }>['reason'] | 'unavailable' };

/** By a key of the same agent, which the ledger asks for its rights in the same step. */
export async function createKey(
  deps: Pick<AccountDeps, 'ledger' | 'clock' | 'ids' | 'pepper' | 'limits'>,
  { agentId, keyId: actingKeyId }: AccountKey,
  { label, limit }: Pick<PutKey, 'label' | 'limit'>,
): Promise<CreateKeyResult> {
  const made = await makeKey(deps, { agentId, label, limit, limits: deps.limits(), actingKeyId });
  if (!made.ok) return made;
  const agent = await readAccount(deps, agentId);
  const view = agent === 'unavailable' ? undefined : agent.keys.find(({ keyId }) => keyId === made.keyId);
  // The secret is in nobody's hands but ours: it is told even where the ledger does not answer any more.
  const { keyId, key, prefix } = made;
  const shown = view ?? unreadKey({ keyId, label, prefix, limit, actingKeyId, nowMs: deps.clock.now() });
  return { ok: true, key: shapeNewKey(shown, key) };
}
