import { z } from 'zod';
import { DAY_MS, isoTime, MINUTE_MS } from '#core/clock.ts';
import { VIDEO_KEPT_MS, VIDEO_LINK_MS } from '#core/limits.ts';
import { formatUsd } from '#core/money.ts';
import { videoErrorCodes } from '#core/videos/video-error-codes.ts';
import { type VideoJob, videoStatus } from '#core/videos/video-job.ts';
import { usdNumber } from './money.ts';

const VideoUsage = z
  .object({ cost: usdNumber() })
  .meta({ id: 'VideoUsage', description: 'What was charged.' });

const VideoError = z
  .object({
    code: z.string().meta({
      description: `Branch on this.\n${Object.entries(videoErrorCodes)
        .map(([code, why]) => `- \`${code}\`: ${why}`)
        .join('\n')}`,
      examples: ['content_refused'],
    }),
  })
  .meta({ id: 'VideoError', description: 'Why it failed.' });

/** Spec: Video job. */
export const Video = z
  .object({
    id: z.string().meta({ description: '`vid_` followed by 20 letters and digits.' }),
    object: z.literal('video.generation'),
    model: z.string().meta({ description: 'Video model id.' }),
    status: z
      .enum(['pending', 'in_progress', 'completed', 'failed', 'expired'])
      .meta({ description: '`expired`: it was completed, and its file is deleted.' }),
    polling_url: z.url().meta({ description: 'Of this job; poll about every 10 seconds.' }),
    unsigned_urls: z.array(z.url()).meta({
      description:
        'Empty until completed; then URLs to GET with the key: each answers with a link valid for ' +
        `${VIDEO_LINK_MS / MINUTE_MS} minutes.`,
    }),
    estimated_cost: z.number().nonnegative().meta({
      description: 'Most the video can cost, US dollars; held from the balance until the video ends.',
    }),
    usage: VideoUsage.nullable().meta({
      description: 'Once completed: what was charged. A failed video is charged nothing.',
    }),
    error: VideoError.nullable().meta({ description: 'Of a failed video.' }),
    created_at: z.iso.datetime(),
    expires_at: z.iso
      .datetime()
      .nullable()
      .meta({
        description:
          `Null until completed; then ${VIDEO_KEPT_MS / DAY_MS} days after it was made, ` +
          'when the file is deleted.',
      }),
  })
  .meta({ id: 'Video' });
export type Video = z.infer<typeof Video>;

/** As JSON: amounts are written from exact texts, never through a float. */
export function writeVideo(job: VideoJob, nowMs: number, publicUrl: string): string {
  const { videoId, model, estimatedNanoUsd, createdAtMs, end } = job;
  const status = videoStatus(job, nowMs);
  const url = `${publicUrl}/videos/${videoId}`;
  const file = end?.file ?? null;
  return (
    `{"id":"${videoId}","object":"video.generation","model":${JSON.stringify(model)},"status":"${status}",` +
    `"polling_url":"${url}","unsigned_urls":${status === 'completed' ? `["${url}/content"]` : '[]'},` +
    `"estimated_cost":${formatUsd(estimatedNanoUsd)},` +
    `"usage":${end === null || file === null ? 'null' : `{"cost":${formatUsd(end.chargedNanoUsd)}}`},` +
    `"error":${status === 'failed' ? `{"code":${JSON.stringify(end?.errorCode ?? 'gateway_error')}}` : 'null'},` +
    `"created_at":"${isoTime(createdAtMs)}",` +
    `"expires_at":${file === null ? 'null' : `"${isoTime(file.madeAtMs + VIDEO_KEPT_MS)}"`}}`
  );
}
