import type { VideoJob } from '../videos/video-job.ts';
import type { AgentState, LedgerState } from './state.ts';
import { isVideoKept } from './video-table.ts';

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
