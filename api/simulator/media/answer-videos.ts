import { formatAttoUsd } from '#core/money.ts';
import { parseJson } from '#core/parse-json.ts';
import { jsonAnswer, scripted, textAnswer } from '../answers.ts';
import { refusal } from '../error-body.ts';
import type { ScriptBook } from '../script-book.ts';
import type { Rule } from '../script-rule.ts';
import type { Answer } from '../send.ts';
import { type AskedPart, fileAnswer } from './file-answer.ts';
import { callOf } from './image-request.ts';
import { mp4Of } from './media-files.ts';
import type { VideoBook, VideoJobEntry, VideoState } from './video-book.ts';
import { readVideoRequest } from './video-request.ts';

export interface VideoSetting {
  seed: string;
  script: ScriptBook;
  videos: VideoBook;
}

export interface MediaAnswer {
  rule: Rule;
  answer: Answer;
  generationId: string | null;
}

/** `POST /videos`. A job is made whether or not its caller gets to see the answer. */
export function submitVideo(
  text: string,
  address: string,
  { seed, script, videos }: VideoSetting,
): MediaAnswer {
  const reading = readVideoRequest(parseJson(text), seed);
  const rule = script.take({ path: '/videos', ...(reading.ok ? callOf(reading.request) : {}) });
  if (!reading.ok)
    return { rule, answer: scripted(refused(reading.status, reading.message), rule), generationId: null };
  const failing = (rule.status ?? (rule.error === undefined ? 202 : 500)) >= 400;
  if (!(rule.video?.taken ?? !failing)) {
    return { rule, answer: scripted(refused(rule.status ?? 500, 'Not taken'), rule), generationId: null };
  }
  const job = videos.add(reading.request, rule);
  const { id, generationId } = job;
  const row = { id, generation_id: generationId, polling_url: `${address}/videos/${id}`, status: 'pending' };
  return { rule, answer: scripted(jsonAnswer(202, JSON.stringify(row)), rule), generationId };
}

/** `GET /videos/{id}`. */
export function pollVideo(id: string, address: string, { script, videos }: VideoSetting): MediaAnswer {
  const job = videos.find(id);
  const rule = script.take({ path: '/videos/{id}', model: job?.model, lastUserText: job?.prompt });
  const answer =
    job === undefined
      ? refused(404, `Video ${id} not found`)
      : jsonAnswer(200, jobText(job, videos.polled(job), address));
  return { rule, answer: scripted(answer, rule), generationId: null };
}

/** The cost is written by hand: a float would lose its last digits, and a script may want it wrong. */
function jobText(job: VideoJobEntry, state: VideoState, address: string): string {
  const { id, generationId, plan } = job;
  const row = {
    id,
    generation_id: generationId,
    polling_url: `${address}/videos/${id}`,
    status: state,
    ...(state === 'completed' ? { unsigned_urls: [`${address}/videos/${id}/content?index=0`] } : {}),
    ...(state === 'failed' ? { error: plan.error } : {}),
  };
  const shown = state === 'completed' && plan.costText !== null && job.polls > plan.costAfterPolls;
  const cost = plan.costText ?? formatAttoUsd(job.costAtto);
  const usage = shown ? `,"usage":{"cost":${cost},"is_byok":false}` : '';
  return `${JSON.stringify(row).slice(0, -1)}${usage}}`;
}

/** `GET /videos/{id}/content`. */
export async function sendVideo(
  id: string,
  headers: AskedPart,
  { script, videos }: VideoSetting,
): Promise<MediaAnswer> {
  const job = videos.find(id);
  const rule = script.take({ path: '/videos/{id}/content', model: job?.model, lastUserText: job?.prompt });
  if (job === undefined || videos.stateOf(job) !== 'completed') {
    return { rule, answer: scripted(refused(404, `Video ${id} has no content`), rule), generationId: null };
  }
  job.downloads += 1;
  const isPage = rule.content?.type === 'html';
  const { video, digest } = job.request;
  const file = isPage
    ? Buffer.from('<html><body>Sign in to see your video.</body></html>')
    : await mp4Of(video, digest);
  const content = {
    file,
    bytes: rule.content?.bytes ?? file.length,
    contentType: isPage ? 'text/html; charset=utf-8' : 'video/mp4',
    etag: `"${digest.slice(0, 16)}"`,
  };
  return { rule, answer: scripted(fileAnswer(content, headers), rule), generationId: null };
}

const refused = (status: number, message: string): Answer => textAnswer(status, refusal(status, message));
