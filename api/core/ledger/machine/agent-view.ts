import { startOfDayMs } from '../../clock.ts';
import type { AgentSummary, AgentView, HoldView, KeyView } from '../ledger.ts';
import { runningCalls } from './agent-queries.ts';
import { agentStatus } from './agent-status.ts';
import { periodOf, periodSumOf, sumSince } from './periods.ts';
import type { AgentState, Hold, KeyState } from './state.ts';

/** A copy, so that a reader cannot see it change. */
export function toAgentView(agent: AgentState, nowMs: number): AgentView {
  return {
    ...toAgentSummary(agent),
    version: agent.version,
    statusBySource: Array.from(agent.statusBySource, ([source, said]) => ({ source, ...said })),
    lots: agent.lots.map((lot) => ({ ...lot })),
    grantedNanoUsd: agent.grantedNanoUsd,
    chargedNanoUsd: agent.chargedNanoUsd,
    expiredNanoUsd: agent.expiredNanoUsd,
    movedInNanoUsd: agent.movedInNanoUsd,
    movedOutNanoUsd: agent.movedOutNanoUsd,
    runningCalls: runningCalls(agent, nowMs),
    holds: Array.from(agent.holds.values(), (hold) => toHoldView(agent.agentId, hold)),
    keys: Array.from(agent.keys.values(), (key) => toKeyView(key, agent.keyVersions.of(key.keyId), nowMs)),
    chargedTodayNanoUsd: sumSince(agent.chargedToday, startOfDayMs(nowMs), nowMs),
  };
}

export function toAgentSummary(agent: AgentState): AgentSummary {
  const { agentId, name, token, createdAtMs } = agent;
  return { agentId, name, token, status: agentStatus(agent), createdAtMs };
}

export function toHoldView(agentId: number, hold: Hold): HoldView {
  const { callId, keyId, kind, nanoUsd, startedAtMs, timeLimitMs, call, generationId, pending } = hold;
  return { agentId, callId, keyId, kind, nanoUsd, startedAtMs, timeLimitMs, call, generationId, pending };
}

function toKeyView(key: KeyState, version: number, nowMs: number): KeyView {
  const { keyId, label, prefix, createdAtMs, createdByKeyId, revokedAtMs, lastUsedAtMs } = key;
  const monthNanoUsd = sumSince(key.spent.month, periodOf('monthly', nowMs).startsAtMs, nowMs);
  const limit = toLimitView(key, nowMs);
  return {
    keyId,
    version,
    label,
    prefix,
    createdAtMs,
    createdByKeyId,
    revokedAtMs,
    lastUsedAtMs,
    limit,
    monthNanoUsd,
  };
}

function toLimitView(key: KeyState, nowMs: number): KeyView['limit'] {
  if (key.limit === null) return null;
  const { limitNanoUsd, reset } = key.limit;
  const { startsAtMs, resetsAtMs } = periodOf(reset, nowMs);
  const spentNanoUsd = sumSince(periodSumOf(key, reset), startsAtMs, nowMs);
  return { limitNanoUsd, reset, spentNanoUsd, heldNanoUsd: key.heldNanoUsd, resetsAtMs };
}
