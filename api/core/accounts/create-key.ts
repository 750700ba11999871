import type { IdSource } from '../ids.ts';
import type { PutKey, PutKeyResult } from '../ledger/command.ts';
import type { Ledger, UnavailableResult } from '../ledger/ledger.ts';
import { createApiKey, hashApiKey, type NewApiKey, type Pepper } from './api-key.ts';
import { executeDurably } from './execute-durably.ts';

/** Another process may have drawn the same id. */
const ATTEMPTS = 5;

export interface NewKey extends Pick<PutKey, 'agentId' | 'label' | 'limit' | 'limits'> {
  /** The key that asks over MCP; `null` for the operator. */
  actingKeyId: number | null;
}

export type CreateKeyResult =
  /** `key` is the secret: it is shown once and kept nowhere. */
  ({ ok: true; keyId: number } & NewApiKey) | Extract<PutKeyResult, { ok: false }> | UnavailableResult;

/** The newest pepper hashes the key: the older of two only recognises what it hashed before. */
export async function createKey(
  { ledger, ids, pepper }: { ledger: Ledger; ids: IdSource; pepper: Pepper },
  { agentId, label, limit, limits, actingKeyId }: NewKey,
): Promise<CreateKeyResult> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { key, prefix } = createApiKey();
    const command: PutKey = {
      type: 'put_key',
      agentId,
      keyId: ids.next(),
      label,
      prefix,
      hash: hashApiKey(key, pepper),
      limit,
      actingKeyId,
      madeOverMcp: actingKeyId !== null,
      limits,
    };
    const result = await executeDurably(ledger, command);
    if (result.ok) return { ok: true, keyId: command.keyId, key, prefix };
    if (result.reason !== 'id_taken' && result.reason !== 'hash_taken') return result;
  }
  return { ok: false, reason: 'unavailable' };
}
