import { VIDEO_JOB_KEPT_MS } from '../limits.ts';
import type { VideoJob } from './video-job.ts';

/**
 * Videos that have ended, readable until 90 days after their file is gone: 120 days. The ledger knows the open ones, and for
 * a day those that have ended: ask it first, then this.
 */
export interface VideoHistory {
  /** `null`: this agent has no such video here. */
  find(agentId: number, videoId: string): Promise<VideoJob | null | 'unavailable'>;
  findByKey(agentId: number, idempotencyKey: string): Promise<VideoJob | null | 'unavailable'>;
}

/** `null` for one that is readable no more, though its row still stands. */
export const inTime = (job: VideoJob | null, nowMs: number): VideoJob | null =>
  job?.end != null && nowMs < job.end.atMs + VIDEO_JOB_KEPT_MS ? job : null;
