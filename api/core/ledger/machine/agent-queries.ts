import type { VideoJob } from '../../videos/video-job.ts';
import type { KeyLookup, Unavailable } from '../ledger.ts';
import { agentStatus } from './agent-status.ts';
import type { AgentState, KeyOwner, LedgerState } from './state.ts';
import { isVideoKept } from './video-table.ts';

/** Slots in use: a call whose process stopped renewing its lease has left its slot, though not its hold. */
export function runningCalls(agent: AgentState, nowMs: number): number {
  let running = 0;
  for (const endsAtMs of agent.leases.values()) if (endsAtMs > nowMs) running++;
  return running;
}

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

/** Those that the ledger still knows at `nowMs`. */
export function findVideo(agent: AgentState | undefined, videoId: string, nowMs: number): VideoJob | null {
  const job = agent?.videos.get(videoId);
  return job !== undefined && isVideoKept(job, nowMs) ? job : null;
}

export function findVideoByKey(
  agent: AgentState | undefined,
  idempotencyKey: string,
  nowMs: number,
): VideoJob | null {
  const job = agent?.videos.findByKey(idempotencyKey);
  return job !== undefined && isVideoKept(job, nowMs) ? job : null;
}

export function openVideos(state: LedgerState): VideoJob[] {
  const open: VideoJob[] = [];
  for (const { videos } of state.agents.values()) {
    if (videos.open === 0) continue;
    for (const job of videos) if (job.end === null) open.push(job);
  }
  return open;
}
