import { HOUR_MS } from '#core/clock.ts';
import { type FileName, formatFileName } from '#core/files/file-name.ts';
import type { Reserve } from '#core/ledger/command.ts';
import { nanoToAtto } from '#core/money.ts';
import type { VideoJob } from '#core/videos/video-job.ts';
import type { Gateway } from '../inference/hold/gateway.ts';
import { startLimits } from '../inference/hold/start-call.ts';
import type { PlannedVideo } from './plan-video.ts';

/** The time limit of a video in the ledger. Its worker has ended it by then, or its hold is an orphan. */
export const VIDEO_TIME_LIMIT_MS = 6 * HOUR_MS;

/** The most that it can cost, held with all that its worker has to know, in one step. */
export const reserveVideo = (
  gateway: Gateway,
  { model, provider }: PlannedVideo,
  job: VideoJob,
): Reserve => ({
  type: 'reserve',
  agentId: job.agentId,
  keyId: job.keyId,
  callId: job.callId,
  nonce: gateway.nonce,
  kind: 'video',
  nanoUsd: job.estimatedNanoUsd,
  timeLimitMs: VIDEO_TIME_LIMIT_MS,
  callerNowMs: job.createdAtMs,
  call: { model: model.id, modelName: model.name, endpoint: 'videos', stream: false },
  price: {
    providerId: provider.id,
    promptAtto: '0',
    completionAtto: '0',
    cacheReadAtto: '0',
    requestAtto: String(nanoToAtto(job.estimatedNanoUsd)),
    factorPpm: String(provider.priceFactorPpm),
    promptEstimateTokens: 0,
  },
  video: {
    videoId: job.videoId,
    idempotencyKey: job.idempotencyKey,
    upstreamModel: job.upstreamModel,
    orderFile: job.orderFile,
    openVideosMax: gateway.limits().openVideos,
  },
  limits: startLimits(gateway),
});

export interface NewVideoJob extends Pick<VideoJob, 'agentId' | 'keyId' | 'callId' | 'idempotencyKey'> {
  name: FileName;
  nowMs: number;
}

export function newVideoJob(
  { model, holdNanoUsd }: PlannedVideo,
  { name, nowMs, ...of }: NewVideoJob,
): VideoJob {
  return {
    ...of,
    videoId: name.id,
    model: model.id,
    providerId: model.providerId,
    upstreamModel: model.upstreamModel,
    orderFile: formatFileName(name),
    estimatedNanoUsd: holdNanoUsd,
    createdAtMs: nowMs,
    claim: null,
    submitted: null,
    end: null,
  };
}
