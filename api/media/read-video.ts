import { parseFileName } from '#core/files/file-name.ts';
import { RETRY_AFTER_MAX_MS, VIDEO_KEPT_MS, VIDEO_LINK_MS } from '#core/limits.ts';
import { type VideoJob, videoStatus } from '#core/videos/video-job.ts';
import type { Caller } from '../contract/caller.ts';
import { type ApiError, apiError, isApiError } from '../contract/errors.ts';
import { isVideoId } from '../contract/video-request.ts';
import { findVideo } from './find-video.ts';
import type { VideoDeps } from './video-deps.ts';

/** Spec: Limits, video job reads. Whatever the agent's status: who has ordered may see what became of it. */
export async function readVideo(
  deps: VideoDeps,
  { agentId, keyId }: Caller,
  videoId: string,
): Promise<VideoJob | ApiError> {
  const waitMs = await deps.reads.take(keyId, 1);
  if (waitMs === 'unavailable') return apiError('service_unavailable');
  if (waitMs > 0) return tooManyReads(waitMs, deps.gateway.limits().videoReadsPerMinute);
  return find(deps, agentId, videoId);
}

/** A link to the file, for an hour, but never beyond the file's own end. */
export async function linkToVideo(
  deps: VideoDeps,
  { agentId }: Caller,
  videoId: string,
): Promise<string | ApiError> {
  const job = await find(deps, agentId, videoId);
  if (isApiError(job)) return job;
  const nowMs = deps.gateway.clock.now();
  const file = job.end?.file ?? null;
  if (file === null || videoStatus(job, nowMs) !== 'completed') return apiError('not_ready');
  const name = parseFileName(file.path);
  if (name === null || deps.files === null) throw new Error('The file of a video has no place here.');
  return deps.files.getLink(name, Math.min(nowMs + VIDEO_LINK_MS, file.madeAtMs + VIDEO_KEPT_MS));
}

/** Another agent's video answers like one that never was. */
async function find({ gateway: { ledger }, videos }: VideoDeps, agentId: number, videoId: string) {
  if (!isVideoId(videoId)) return noVideo();
  const job = await findVideo({ ledger, videos }, agentId, videoId);
  return job === 'unavailable' ? apiError('service_unavailable') : (job ?? noVideo());
}

const noVideo = (): ApiError => apiError('not_found', { message: 'This agent has no video with this id.' });

const tooManyReads = (retryAfterMs: number, perMinute: number): ApiError =>
  apiError('rate_limited', {
    retryAfterMs: Math.min(retryAfterMs, RETRY_AFTER_MAX_MS),
    message: `This key reads video jobs more than ${perMinute} times a minute; poll each about every 10 seconds.`,
  });
