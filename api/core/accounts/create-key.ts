import type { IdSource } from '../ids.ts';
import { SHARDS, shardOfAgent, shardOfKeyHash } from '../ledger/cluster/shards.ts';
import type { PutKey, PutKeyResult } from '../ledger/command.ts';
import type { Ledger, UnavailableResult } from '../ledger/ledger.ts';
import { newestVersion } from '../ledger/machine/key-versions.ts';
import { createApiKey, hashApiKey, type NewApiKey, type Pepper } from './api-key.ts';
import { executeDurably } from './execute-durably.ts';

/** Another process may have drawn the same id, or have changed a key of the agent meanwhile. */
const ATTEMPTS = 20;

const TRY_AGAIN: ReadonlySet<string> = new Set(['id_taken', 'hash_taken', 'changed_since']);

export interface NewKey extends Pick<PutKey, 'agentId' | 'label' | 'limit' | 'limits'> {
  /** The key that asks over MCP; `null` for the operator. */
  actingKeyId: number | null;
}

export type CreateKeyResult =
  /** `key` is the secret: it is shown once and kept nowhere. */
  ({ ok: true; keyId: number } & NewApiKey) | Extract<PutKeyResult, { ok: false }> | UnavailableResult;

export interface KeyMaker {
  ledger: Ledger;
  ids: IdSource;
  pepper: Pepper;
  /** Is given each drawn secret before the ledger hears of it, so that a crash between the two loses no key that works. */
  onDrawn?: (key: string) => void;
}

/**
 * The newest pepper hashes the key: the older of two only recognises what it hashed before. A command that arrives after
 * its caller was told that it failed makes no key once the caller has made, changed or revoked another one.
 */
export async function createKey(
  { ledger, ids, pepper, onDrawn }: KeyMaker,
  { agentId, label, limit, limits, actingKeyId }: NewKey,
): Promise<CreateKeyResult> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const agent = await ledger.readAgent(agentId);
    if (agent === 'unavailable') return { ok: false, reason: 'unavailable' };
    if (agent === null) return { ok: false, reason: 'unknown_agent' };
    const { key, prefix, hash } = drawKey(agentId, pepper);
    onDrawn?.(key);
    const command: PutKey = {
      type: 'put_key',
      agentId,
      keyId: ids.next(),
      label,
      prefix,
      hash,
      limit,
      actingKeyId,
      readVersion: newestVersion(agent.keys.map(({ version }) => version)),
      madeOverMcp: actingKeyId !== null,
      limits,
    };
    const result = await executeDurably(ledger, command);
    if (result.ok) return { ok: true, keyId: command.keyId, key, prefix };
    if (!TRY_AGAIN.has(result.reason)) return result;
  }
  return { ok: false, reason: 'unavailable' };
}

/**
 * Until its hash falls into its agent's shard, so that a cluster makes, finds and revokes it in one step with its
 * agent; in the embedded shape, too, whose journal a cluster can take over. Some sixty draws, less than a millisecond.
 */
function drawKey(agentId: number, pepper: Pepper): NewApiKey & { hash: string } {
  for (;;) {
    const drawn = createApiKey();
    const hash = hashApiKey(drawn.key, pepper);
    if (shardOfKeyHash(hash, SHARDS) === shardOfAgent(agentId, SHARDS)) return { ...drawn, hash };
  }
}
