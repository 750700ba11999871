import { DAY_MS } from '../clock.ts';
import type { LedgerEventOf } from '../events/ledger-event.ts';
import { LedgerEventError } from './ledger-errors.ts';
import type { AgentState, KeyState, LedgerState } from './state.ts';

export function applyKeyPut(state: LedgerState, agent: AgentState, event: LedgerEventOf<'key_put'>): void {
  const limit =
    event.limit === null
      ? null
      : { limitNanoUsd: BigInt(event.limit.limitNanoUsd), reset: event.limit.reset };
  const key = agent.keys.get(event.keyId);
  if (key !== undefined) {
    if (key.revokedAtMs !== null) throw new LedgerEventError(event, 'the key is revoked');
    if (key.hash !== event.hash) throw new LedgerEventError(event, 'the key has another hash');
    agent.keyVersions.note(event.keyId, event.version);
    key.label = event.label;
    key.limit = limit;
    return;
  }
  if (state.keysByHash.has(event.hash)) throw new LedgerEventError(event, 'the hash belongs to another key');
  agent.keys.set(event.keyId, newKey(event, limit));
  agent.keyVersions.note(event.keyId, event.version);
  state.keysByHash.set(event.hash, { agentId: agent.agentId, keyId: event.keyId });
  if (event.madeOverMcp) {
    const young = agent.mcpKeysMadeAtMs.filter((madeAtMs) => madeAtMs > event.atMs - DAY_MS);
    agent.mcpKeysMadeAtMs = [...young, event.atMs];
  }
}

export function applyKeyRevoked(agent: AgentState, event: LedgerEventOf<'key_revoked'>): void {
  const key = agent.keys.get(event.keyId);
  if (key === undefined) throw new LedgerEventError(event, 'no such key');
  if (key.revokedAtMs !== null) throw new LedgerEventError(event, 'the key is revoked');
  agent.keyVersions.note(event.keyId, event.version);
  key.revokedAtMs = event.atMs;
}

function newKey(event: LedgerEventOf<'key_put'>, limit: KeyState['limit']): KeyState {
  const { keyId, label, prefix, hash, createdByKeyId } = event;
  const nothing = () => ({ periodStartMs: 0, nanoUsd: 0n });
  return {
    keyId,
    label,
    prefix,
    hash,
    createdAtMs: event.atMs,
    createdByKeyId,
    revokedAtMs: null,
    lastUsedAtMs: null,
    limit,
    spent: { day: nothing(), week: nothing(), month: nothing() },
    heldNanoUsd: 0n,
  };
}
