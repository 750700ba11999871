import { revokeKey as revoke } from '#core/accounts/change-key.ts';
import type { RevokeKeyResult as Revoked } from '#core/ledger/command.ts';
import type { RevokedKey } from '../contract/key-record.ts';
import type { AccountDeps, AccountKey } from './account-deps.ts';

export type RevokeKeyResult =
  | { ok: true; key: RevokedKey }
  | { ok: false; reason: Extract<Revoked, { ok: false }>['reason'] | 'unavailable' };

/** Revoking twice answers the same. */
export async function revokeKey(
  { ledger }: Pick<AccountDeps, 'ledger'>,
  { agentId, keyId: actingKeyId }: AccountKey,
  keyId: number,
): Promise<RevokeKeyResult> {
  const result = await revoke(ledger, { agentId, keyId, actingKeyId });
  if (!result.ok) return result;
  return { ok: true, key: { key_id: keyId, revoked: true, this_key: keyId === actingKeyId } };
}
