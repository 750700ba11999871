import { DAY_MS } from '../../clock.ts';
import type { LedgerEventOf } from '../../events/ledger-event.ts';
import type {
  ActingKeyRefusal,
  ChangedSince,
  ChangeKey,
  ChangeKeyResult,
  PutKey,
  PutKeyResult,
  RevokeKey,
  RevokeKeyResult,
} from '../command.ts';
import { agentStatus } from './agent-status.ts';
import { changed, type Decision, headOf, requireAmount, unchanged } from './decision.ts';
import { isAhead } from './is-ahead.ts';
import { newestKeyVersion } from './key-versions.ts';
import { LedgerEventError } from './ledger-errors.ts';
import type { AgentState, KeyState, LedgerState } from './state.ts';

export function decidePutKey(state: LedgerState, command: PutKey, nowMs: number): Decision<PutKeyResult> {
  const agent = state.agents.get(command.agentId);
  if (agent === undefined) return unchanged({ ok: false, reason: 'unknown_agent' });
  const key = agent.keys.get(command.keyId);
  // Whatever has become of its label and limit since.
  const repeated = key !== undefined && key.revokedAtMs === null && key.hash === command.hash;
  const acting = refuseActingKey(agent, command.actingKeyId, repeated);
  if (acting !== null) return unchanged(acting);
  if (repeated) return unchanged({ ok: true, repeated: true });
  if (key === undefined) return makeKey(state, agent, command, nowMs);
  return unchanged({ ok: false, reason: key.hash === command.hash ? 'key_revoked' : 'id_taken' });
}

/** Only label and limit change. What the key has spent stays counted, so that a limit set late counts it. */
export function decideChangeKey(
  state: LedgerState,
  command: ChangeKey,
  nowMs: number,
): Decision<ChangeKeyResult> {
  const agent = state.agents.get(command.agentId);
  const key = agent?.keys.get(command.keyId);
  if (agent === undefined || key === undefined) return unchanged({ ok: false, reason: 'unknown_key' });
  const label = command.label ?? key.label;
  const limit = command.limit === 'keep' ? key.limit : command.limit;
  const repeated = key.revokedAtMs === null && label === key.label && isSameLimit(limit, key.limit);
  const acting = refuseActingKey(agent, command.actingKeyId, repeated);
  if (acting !== null) return unchanged(acting);
  if (key.revokedAtMs !== null) return unchanged({ ok: false, reason: 'key_revoked' });
  if (repeated) return unchanged({ ok: true, repeated: true });
  if (hasChanged(agent.keyVersions.of(key.keyId), command.readVersion)) return unchanged(CHANGED_SINCE);
  return keyPut(agent, { ...key, label, limit, madeOverMcp: false }, nowMs);
}

export function decideRevokeKey(
  state: LedgerState,
  command: RevokeKey,
  nowMs: number,
): Decision<RevokeKeyResult> {
  const agent = state.agents.get(command.agentId);
  const key = agent?.keys.get(command.keyId);
  if (agent === undefined || key === undefined) return unchanged({ ok: false, reason: 'unknown_key' });
  const repeated = key.revokedAtMs !== null;
  const acting = refuseActingKey(agent, command.actingKeyId, repeated);
  if (acting !== null) return unchanged(acting);
  if (repeated) return unchanged({ ok: true, repeated: true });
  if (hasChanged(agent.keyVersions.of(key.keyId), command.readVersion)) return unchanged(CHANGED_SINCE);
  const event: LedgerEventOf<'key_revoked'> = {
    ...headOf('key_revoked', command.agentId, agent, nowMs),
    keyId: command.keyId,
  };
  return changed({ ok: true, repeated: false }, event);
}

/**
 * Spec: Authentication 5. Only a key without a spending limit manages keys. A repeated command is answered as it
 * was even when its acting key has been revoked since, as by its own command.
 */
function refuseActingKey(
  agent: AgentState,
  actingKeyId: number | null,
  repeated: boolean,
): ActingKeyRefusal | null {
  if (actingKeyId === null) return null;
  const acting = agent.keys.get(actingKeyId);
  const revoked = acting === undefined || acting.revokedAtMs !== null;
  if (revoked) return repeated ? null : { ok: false, reason: 'acting_key_revoked' };
  return acting.limit === null ? null : { ok: false, reason: 'acting_key_limited' };
}

const CHANGED_SINCE: ChangedSince = { ok: false, reason: 'changed_since' };

const hasChanged = (version: number, readVersion: number | null): boolean =>
  readVersion !== null && readVersion !== version;

const isSameLimit = (one: KeyState['limit'], other: KeyState['limit']): boolean =>
  one?.limitNanoUsd === other?.limitNanoUsd && one?.reset === other?.reset;

function makeKey(
  state: LedgerState,
  agent: AgentState,
  command: PutKey,
  nowMs: number,
): Decision<PutKeyResult> {
  const { actingKeyId, madeOverMcp } = command;
  // Spec: Agent `status`. A suspended agent gets no new keys over MCP. The operator may still prepare one.
  if (actingKeyId !== null && agentStatus(agent) !== 'active') {
    return unchanged({ ok: false, reason: 'agent_not_active' });
  }
  if (hasChanged(newestKeyVersion(agent), command.readVersion)) return unchanged(CHANGED_SINCE);
  if (state.keysByHash.has(command.hash)) return unchanged({ ok: false, reason: 'hash_taken' });
  if (activeKeys(agent) >= command.limits.activeKeys) {
    return unchanged({ ok: false, reason: 'too_many_active_keys' });
  }
  if (madeOverMcp && mcpKeysInDay(agent, nowMs) >= command.limits.mcpKeysPerDay) {
    return unchanged({ ok: false, reason: 'too_many_mcp_keys' });
  }
  return keyPut(agent, { ...command, createdByKeyId: actingKeyId }, nowMs);
}

type NextKey = Pick<KeyState, 'keyId' | 'label' | 'prefix' | 'hash' | 'limit' | 'createdByKeyId'> &
  Pick<PutKey, 'madeOverMcp'>;

function keyPut(
  agent: AgentState,
  { keyId, label, prefix, hash, limit, createdByKeyId, madeOverMcp }: NextKey,
  nowMs: number,
): Decision<{ ok: true; repeated: false }> {
  if (limit !== null) requireAmount(limit.limitNanoUsd);
  const event: LedgerEventOf<'key_put'> = {
    ...headOf('key_put', agent.agentId, agent, nowMs),
    keyId,
    label,
    prefix,
    hash,
    limit: limit === null ? null : { limitNanoUsd: String(limit.limitNanoUsd), reset: limit.reset },
    createdByKeyId,
    madeOverMcp,
  };
  return changed({ ok: true, repeated: false }, event);
}

function activeKeys(agent: AgentState): number {
  let active = 0;
  for (const key of agent.keys.values()) if (key.revokedAtMs === null) active++;
  return active;
}

const mcpKeysInDay = (agent: AgentState, nowMs: number): number =>
  agent.mcpKeysMadeAtMs.filter((madeAtMs) => madeAtMs > nowMs - DAY_MS && !isAhead(madeAtMs, nowMs)).length;

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
