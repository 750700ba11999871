import { z } from 'zod';
import { videoFile } from '../events/ledger-event.ts';
import type { VideoJob } from './video-job.ts';

const nano = z.string().regex(/^\d{1,20}$/);
const time = z.int().nonnegative();
const id = z.int().nonnegative();

/** A video as it stands in snapshots and in the history. */
export const videoJobJson = z.strictObject({
  videoId: z.string(),
  agentId: id,
  keyId: id,
  callId: id,
  idempotencyKey: z.string().nullable(),
  model: z.string(),
  providerId: z.string(),
  upstreamModel: z.string(),
  orderFile: z.string(),
  estimatedNanoUsd: nano,
  createdAtMs: time,
  claim: z.strictObject({ nonce: z.string(), atMs: time }).nullable(),
  submitted: z.strictObject({ providerJobId: z.string(), atMs: time }).nullable(),
  end: z
    .strictObject({
      atMs: time,
      chargedNanoUsd: nano,
      errorCode: z.string().nullable(),
      file: videoFile.nullable(),
    })
    .nullable(),
});
export type VideoJobJson = z.infer<typeof videoJobJson>;

/** In the schema's order, so that what was read is printed as it was. */
export const printVideoJob = (job: VideoJob): VideoJobJson => ({
  videoId: job.videoId,
  agentId: job.agentId,
  keyId: job.keyId,
  callId: job.callId,
  idempotencyKey: job.idempotencyKey,
  model: job.model,
  providerId: job.providerId,
  upstreamModel: job.upstreamModel,
  orderFile: job.orderFile,
  estimatedNanoUsd: String(job.estimatedNanoUsd),
  createdAtMs: job.createdAtMs,
  claim: job.claim,
  submitted: job.submitted,
  end: job.end && { ...job.end, chargedNanoUsd: String(job.end.chargedNanoUsd) },
});

export const parseVideoJob = (json: VideoJobJson): VideoJob => ({
  ...json,
  estimatedNanoUsd: BigInt(json.estimatedNanoUsd),
  end: json.end && { ...json.end, chargedNanoUsd: BigInt(json.end.chargedNanoUsd) },
});
