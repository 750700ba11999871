import { agentStatus } from './agent-status.ts';
import type { KeyLookup, Unavailable } from './ledger.ts';
import type { KeyOwner, LedgerState } from './state.ts';

/** The first of the hashes that belongs to a key, revoked ones included. */
export function findKey(state: LedgerState, hashes: readonly string[]): Exclude<KeyLookup, Unavailable> {
  for (const hash of hashes) {
    const owner = state.keysByHash.get(hash);
    if (owner === undefined) continue;
    const agent = state.agents.get(owner.agentId);
    const key = agent?.keys.get(owner.keyId);
    if (agent === undefined || key === undefined) continue;
    return { found: true, ...owner, revoked: key.revokedAtMs !== null, agentStatus: agentStatus(agent) };
  }
  return { found: false };
}

/** The same where a start may begin with it. */
export function findLiveKey(state: LedgerState, hashes: readonly string[]): KeyOwner | null {
  const key = findKey(state, hashes);
  return key.found && !key.revoked && key.agentStatus === 'active' ? key : null;
}
