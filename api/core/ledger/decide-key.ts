import { DAY_MS } from '../clock.ts';
import type { LedgerEventOf } from '../events/ledger-event.ts';
import { agentStatus } from './agent-status.ts';
import type { ActingKeyRefusal, PutKey, PutKeyResult, RevokeKey, RevokeKeyResult } from './command.ts';
import { changed, type Decision, requireAmount, unchanged } from './decision.ts';
import type { AgentState, KeyState, LedgerState } from './state.ts';

export function decidePutKey(state: LedgerState, command: PutKey, nowMs: number): Decision<PutKeyResult> {
  const agent = state.agents.get(command.agentId);
  if (agent === undefined) return unchanged({ ok: false, reason: 'unknown_agent' });
  const key = agent.keys.get(command.keyId);
  const repeated = key !== undefined && key.revokedAtMs === null && isSame(key, command);
  const acting = refuseActingKey(agent, command.actingKeyId, repeated);
  if (acting !== null) return unchanged(acting);
  if (repeated) return unchanged({ ok: true, repeated: true });
  return key === undefined ? makeKey(state, agent, command, nowMs) : changeKey(agent, key, command, nowMs);
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
  const event: LedgerEventOf<'key_revoked'> = {
    v: 1,
    type: 'key_revoked',
    agentId: command.agentId,
    version: agent.version + 1,
    atMs: nowMs,
    keyId: command.keyId,
  };
  return changed({ ok: true, repeated: false }, event);
}

/**
 * Spec, Authentication 5: only a key without a spending limit manages keys. A repeated command is answered as it
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

function isSame(key: KeyState, command: PutKey): boolean {
  return (
    (command.hash === null || command.hash === key.hash) &&
    command.label === key.label &&
    command.limit?.limitNanoUsd === key.limit?.limitNanoUsd &&
    command.limit?.reset === key.limit?.reset
  );
}

function makeKey(
  state: LedgerState,
  agent: AgentState,
  command: PutKey,
  nowMs: number,
): Decision<PutKeyResult> {
  const { hash, prefix, actingKeyId, madeOverMcp } = command;
  if (hash === null) return unchanged({ ok: false, reason: 'unknown_key' });
  // Spec, Agent status: no new keys over MCP while suspended; the operator may still prepare one.
  if (actingKeyId !== null && agentStatus(agent) !== 'active') {
    return unchanged({ ok: false, reason: 'agent_not_active' });
  }
  if (state.keysByHash.has(hash)) return unchanged({ ok: false, reason: 'hash_taken' });
  if (activeKeys(agent) >= command.limits.activeKeys) {
    return unchanged({ ok: false, reason: 'too_many_active_keys' });
  }
  if (madeOverMcp && mcpKeysInDay(agent, nowMs) >= command.limits.mcpKeysPerDay) {
    return unchanged({ ok: false, reason: 'too_many_mcp_keys' });
  }
  return keyPut(agent, command, { hash, prefix, createdByKeyId: actingKeyId, madeOverMcp }, nowMs);
}

/** Only label and limit change. What the key has spent stays counted, so that a limit set late counts it. */
function changeKey(agent: AgentState, key: KeyState, command: PutKey, nowMs: number): Decision<PutKeyResult> {
  if (command.hash !== null && command.hash !== key.hash) return unchanged({ ok: false, reason: 'id_taken' });
  if (key.revokedAtMs !== null) return unchanged({ ok: false, reason: 'key_revoked' });
  const { hash, prefix, createdByKeyId } = key;
  return keyPut(agent, command, { hash, prefix, createdByKeyId, madeOverMcp: false }, nowMs);
}

type KeyOrigin = Pick<LedgerEventOf<'key_put'>, 'hash' | 'prefix' | 'createdByKeyId' | 'madeOverMcp'>;

function keyPut(
  agent: AgentState,
  command: PutKey,
  origin: KeyOrigin,
  nowMs: number,
): Decision<PutKeyResult> {
  const { limit } = command;
  if (limit !== null) requireAmount(limit.limitNanoUsd);
  const event: LedgerEventOf<'key_put'> = {
    v: 1,
    type: 'key_put',
    agentId: command.agentId,
    version: agent.version + 1,
    atMs: nowMs,
    keyId: command.keyId,
    label: command.label,
    limit: limit === null ? null : { limitNanoUsd: String(limit.limitNanoUsd), reset: limit.reset },
    ...origin,
  };
  return changed({ ok: true, repeated: false }, event);
}

function activeKeys(agent: AgentState): number {
  let active = 0;
  for (const key of agent.keys.values()) if (key.revokedAtMs === null) active++;
  return active;
}

const mcpKeysInDay = (agent: AgentState, nowMs: number): number =>
  agent.mcpKeysMadeAtMs.filter((madeAtMs) => madeAtMs > nowMs - DAY_MS).length;
