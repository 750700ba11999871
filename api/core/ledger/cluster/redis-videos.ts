import { z } from 'zod';
import type { VideoJob } from '../../videos/video-job.ts';
import { parseVideoJob, videoJobJson } from '../../videos/video-job-json.ts';
import type { ScriptArg } from './redis-scripts.ts';

/** What never changes of a video, as Redis keeps it; see `lua/videos.lua`. */
export function openVideoText(
  job: Omit<VideoJob, 'createdAtMs' | 'claim' | 'submitted' | 'end'> & { createdAtMs?: number },
): string {
  const { videoId, agentId, keyId, callId, idempotencyKey, model, providerId, upstreamModel, orderFile } =
    job;
  const estimatedNanoUsd = String(job.estimatedNanoUsd);
  const names = {
    videoId,
    agentId,
    keyId,
    callId,
    idempotencyKey,
    model,
    providerId,
    upstreamModel,
    orderFile,
  };
  const { createdAtMs } = job;
  return JSON.stringify({ ...names, estimatedNanoUsd, ...(createdAtMs !== undefined && { createdAtMs }) });
}

/** Four texts of `read_video`; `''`: not so far. */
export function toVideoJob(order: string, claim: string, submitted: string, end: string): VideoJob {
  const claimed = timed(claim);
  const taken = timed(submitted);
  return parseVideoJob(
    videoJobJson.parse({
      ...orderJson.parse(JSON.parse(order)),
      claim: claimed && { nonce: claimed.text, atMs: claimed.atMs },
      submitted: taken && { providerJobId: taken.text, atMs: taken.atMs },
      end: end === '' ? null : JSON.parse(end),
    }),
  );
}

/** Of a shard's hash of open videos. */
export function toOpenVideos(fields: ReadonlyMap<string, string>): VideoJob[] {
  const jobs: VideoJob[] = [];
  for (const [name, order] of fields) {
    if (!/^\d+:[^:]+$/.test(name)) continue;
    jobs.push(
      toVideoJob(order, fields.get(`${name}:claim`) ?? '', fields.get(`${name}:submitted`) ?? '', ''),
    );
  }
  return jobs;
}

/** The fields of one video under its name there, as `toVideoJob` reads them. */
export function videoFields(name: string, job: VideoJob): ScriptArg[] {
  const { claim, submitted, end } = job;
  const fields: ScriptArg[] = [name, openVideoText(job)];
  if (claim !== null) fields.push(`${name}:claim`, `${claim.atMs} ${JSON.stringify(claim.nonce)}`);
  if (submitted !== null) {
    fields.push(`${name}:submitted`, `${submitted.atMs} ${JSON.stringify(submitted.providerJobId)}`);
  }
  if (end !== null) {
    const { atMs, chargedNanoUsd, errorCode, file } = end;
    const text = { atMs, chargedNanoUsd: String(chargedNanoUsd), errorCode, file };
    fields.push(`${name}:end`, JSON.stringify(text));
  }
  return fields;
}

const orderJson = z.record(z.string(), z.unknown());
const textJson = z.string();

function timed(text: string): { atMs: number; text: string } | null {
  if (text === '') return null;
  const [, atMs = '', json = ''] = /^(\d+) (.+)$/s.exec(text) ?? [];
  return { atMs: Number(atMs), text: textJson.parse(JSON.parse(json)) };
}
