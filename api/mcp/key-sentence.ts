import type { Limits } from '#core/limits.ts';
import type { ChangeKeyResult } from '../account/change-key.ts';
import type { CreateKeyResult } from '../account/create-key.ts';
import type { RevokeKeyResult } from '../account/revoke-key.ts';
import { sentences } from './sentences.ts';

type Refused = Extract<CreateKeyResult | ChangeKeyResult | RevokeKeyResult, { ok: false }>['reason'];

/** @param keyId The key that was asked for. */
export function keySentence(reason: Refused, keyId: number, limits: Limits): string {
  switch (reason) {
    case 'acting_key_limited':
      return sentences.limitedKey;
    case 'unknown_key':
      return sentences.unknownKey(keyId);
    case 'key_revoked':
      return sentences.revokedKey(keyId);
    case 'too_many_active_keys':
      return sentences.tooManyActiveKeys(limits.activeKeys);
    case 'too_many_mcp_keys':
      return sentences.tooManyNewKeys(limits.mcpKeysPerDay);
    case 'agent_not_active':
      return sentences.noKeysWhileInactive;
    // The key of this connection ended meanwhile: to try again tells its owner.
    case 'acting_key_revoked':
    case 'unknown_agent':
    case 'id_taken':
    case 'hash_taken':
    case 'changed_since':
    case 'unavailable':
      return sentences.unavailable;
    default:
      return reason satisfies never;
  }
}
