import { changeKey as change, revokeKey as revoke } from '#core/accounts/change-key.ts';
import { createKey as makeKey } from '#core/accounts/create-key.ts';
import { unreadKey } from '#core/accounts/unread-key.ts';
import type {
  ChangeKey,
  ChangeKeyResult,
  PutKey,
  PutKeyResult,
  RevokeKeyResult,
} from '#core/ledger/command.ts';
import type { KeyView, Unavailable } from '#core/ledger/ledger.ts';
import {
  isActiveKey,
  type KeyList,
  type KeyRecord,
  type NewKey,
  oldestFirst,
  type RevokedKey,
  shapeKey,
  shapeNewKey,
} from '../contract/key-record.ts';
import type { AccountDeps, AccountKey } from './account-deps.ts';
import { readAccount } from './read-account.ts';

/** Why a key is not made, changed or revoked. */
export type KeyRefusal =
  | Extract<PutKeyResult | ChangeKeyResult | RevokeKeyResult, { ok: false }>['reason']
  | 'unavailable';

type KeyResult<Key> = { ok: true; key: Key } | { ok: false; reason: KeyRefusal };

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

/** By a key of the same agent, which the ledger asks for its rights in the same step. */
export async function createKey(
  deps: Pick<AccountDeps, 'ledger' | 'clock' | 'ids' | 'pepper' | 'limits'>,
  { agentId, keyId: actingKeyId }: AccountKey,
  { label, limit }: Pick<PutKey, 'label' | 'limit'>,
): Promise<KeyResult<NewKey>> {
  const made = await makeKey(deps, { agentId, label, limit, limits: deps.limits(), actingKeyId });
  if (!made.ok) return made;
  // The secret is in nobody's hands but ours: it is told even where the ledger does not answer any more.
  const { keyId, key, prefix } = made;
  const view = await readKey(deps, agentId, keyId);
  const shown = view ?? unreadKey({ keyId, label, prefix, limit, actingKeyId, nowMs: deps.clock.now() });
  return { ok: true, key: shapeNewKey(shown, key) };
}

/** Label, limit or both, by a key of the same agent; a limit counts what was spent in its period before. */
export async function changeKey(
  deps: Pick<AccountDeps, 'ledger'>,
  { agentId, keyId: actingKeyId }: AccountKey,
  asked: Pick<ChangeKey, 'keyId' | 'label' | 'limit'>,
): Promise<KeyResult<KeyRecord>> {
  const result = await change(deps.ledger, { agentId, actingKeyId, ...asked });
  if (!result.ok) return result;
  const view = await readKey(deps, agentId, asked.keyId);
  if (view === undefined) return { ok: false, reason: 'unavailable' };
  return { ok: true, key: shapeKey(view, actingKeyId) };
}

/** Revoking twice answers the same. */
export async function revokeKey(
  { ledger }: Pick<AccountDeps, 'ledger'>,
  { agentId, keyId: actingKeyId }: AccountKey,
  keyId: number,
): Promise<KeyResult<RevokedKey>> {
  const result = await revoke(ledger, { agentId, keyId, actingKeyId });
  if (!result.ok) return result;
  return { ok: true, key: { key_id: keyId, revoked: true, this_key: keyId === actingKeyId } };
}

async function readKey(
  deps: Pick<AccountDeps, 'ledger'>,
  agentId: number,
  keyId: number,
): Promise<KeyView | undefined> {
  const agent = await readAccount(deps, agentId);
  return agent === 'unavailable' ? undefined : agent.keys.find((key) => key.keyId === keyId);
}
