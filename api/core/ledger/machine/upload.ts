import { DAY_MS } from '../../clock.ts';
import type { LedgerEventOf } from '../../events/ledger-event.ts';
import type { StartUpload, StartUploadResult } from '../command.ts';
import { agentStatus } from './agent-status.ts';
import { changed, type Decision, headOf, unchanged } from './decision.ts';
import { isAhead } from './is-ahead.ts';
import { spendableNanoUsd } from './lots.ts';
import type { AgentState, LedgerState } from './state.ts';

/** Spec: Limits, upload links. An active agent with credit may start this many in any 24 hours. */
export function decideStartUpload(
  state: LedgerState,
  command: StartUpload,
  nowMs: number,
): Decision<StartUploadResult> {
  const agent = state.agents.get(command.agentId);
  if (agent === undefined) return unchanged({ ok: false, reason: 'unknown_agent' });
  const dayAgoMs = nowMs - DAY_MS;
  const startedAtMs = agent.uploads.get(command.uploadId);
  if (startedAtMs !== undefined && startedAtMs > dayAgoMs) return unchanged({ ok: true, repeated: true });
  const status = agentStatus(agent);
  if (status !== 'active') return unchanged({ ok: false, reason: `agent_${status}` });
  if (spendableNanoUsd(agent, nowMs) === 0n) return unchanged({ ok: false, reason: 'balance' });
  const young = [...agent.uploads.values()].filter((atMs) => atMs > dayAgoMs && !isAhead(atMs, nowMs));
  // More than none where the operator has lowered the limit.
  const tooMany = young.length - command.limits.uploadsPerDay;
  if (tooMany >= 0) {
    const makesRoomAtMs = young.toSorted((a, b) => a - b)[tooMany] ?? nowMs;
    return unchanged({ ok: false, reason: 'uploads_per_day', retryAfterMs: makesRoomAtMs - dayAgoMs });
  }
  const event: LedgerEventOf<'upload_started'> = {
    ...headOf('upload_started', command.agentId, agent, nowMs),
    uploadId: command.uploadId,
  };
  return changed({ ok: true, repeated: false }, event);
}

export function applyUploadStarted(agent: AgentState, event: LedgerEventOf<'upload_started'>): void {
  forgetUploads(agent, event.atMs);
  agent.uploads.set(event.uploadId, event.atMs);
}

/** Those that no longer count. */
export function forgetUploads({ uploads }: AgentState, atMs: number): void {
  for (const [uploadId, startedAtMs] of uploads) {
    if (startedAtMs <= atMs - DAY_MS) uploads.delete(uploadId);
  }
}
