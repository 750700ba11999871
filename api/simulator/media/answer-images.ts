import { SECOND_MS } from '#core/clock.ts';
import { type AttoUsd, parseAttoUsd } from '#core/money.ts';
import { parseJson } from '#core/parse-json.ts';
import { jsonAnswer, scripted, textAnswer } from '../answers.ts';
import type { BillEntry } from '../bill-book.ts';
import { refusal, streamError } from '../error-body.ts';
import type { TokenUse } from '../prices.ts';
import type { ScriptBook } from '../script-book.ts';
import type { Rule } from '../script-rule.ts';
import type { Answer, Delivery, Piece } from '../send.ts';
import { noRuns } from '../server-tools.ts';
import { chatCounters, usageText } from '../usage-text.ts';
import type { MediaAnswer } from './answer-videos.ts';
import { callOf, type ImageRequest, readImageRequest } from './image-request.ts';
import { padPng, pngOf, webpOf } from './media-files.ts';

export interface ImageSetting {
  seed: string;
  script: ScriptBook;
  nowMs: number;
  nextOrdinal(): number;
}

export interface ImagePlan extends MediaAnswer {
  /** `null`: nothing was made, nothing is billed. */
  bill(delivery: Delivery): BillEntry | null;
}

/** `POST /images`. */
export async function planImages(
  text: string,
  { seed, script, nowMs, nextOrdinal }: ImageSetting,
): Promise<ImagePlan> {
  const reading = readImageRequest(parseJson(text), seed);
  const rule = script.take({ path: '/images', ...(reading.ok ? callOf(reading.request) : {}) });
  if (!reading.ok) {
    const refused = textAnswer(reading.status, refusal(reading.status, reading.message));
    return { rule, answer: scripted(refused, rule), generationId: null, bill: () => null };
  }
  const { request } = reading;
  const createdAtSeconds = Math.floor(nowMs / SECOND_MS);
  const ordinal = nextOrdinal().toString(36).padStart(8, '0');
  const generationId = `gen-img-${createdAtSeconds}-${request.digest.slice(0, 12)}${ordinal}`;
  const use = tokensOf(request);
  const costAtto = rule.billUsd === undefined ? request.costAtto : (parseAttoUsd(rule.billUsd) ?? 0n);
  const images = await imagesOf(request, rule);
  const reply = { request, rule, images, use, costAtto, createdAtSeconds };
  const headers = { 'x-generation-id': generationId };
  const answer = scripted(
    request.stream ? streamed(reply, headers) : jsonAnswer(200, jsonText(reply), headers),
    rule,
  );
  const failed = answer.status >= 400 || rule.error !== undefined;
  return {
    rule,
    answer,
    generationId: failed ? null : generationId,
    bill: (delivery) =>
      failed && rule.billUsd === undefined
        ? null
        : {
            generationId,
            model: request.model.id,
            providerName: request.endpoint.providerName,
            costAtto,
            use,
            streamed: request.stream,
            cancelled: delivery.state === 'hung_up',
            finishReason: failed ? 'error' : 'stop',
            createdAtMs: nowMs,
            lookupMisses: rule.lookupMisses,
          },
  };
}

interface ImageReply {
  request: ImageRequest;
  rule: Rule;
  images: readonly SentImage[];
  use: TokenUse;
  costAtto: AttoUsd;
  createdAtSeconds: number;
}

function jsonText(reply: ImageReply): string {
  const data = reply.images.map(imageText).join(',');
  const usage = usageOf(reply);
  return `{"created":${reply.createdAtSeconds},"data":[${data}]${usage === null ? '' : `,"usage":${usage}`}}`;
}

function streamed(reply: ImageReply, headers: Record<string, string>): Answer {
  const { rule, images, createdAtSeconds } = reply;
  const events: string[] = [];
  images.forEach((image, index) => {
    for (let part = 0; part < PARTIALS; part++) {
      events.push(
        `{"type":"image_generation.partial_image","partial_image_index":${part},"b64_json":"${image.base64}"}`,
      );
    }
    const usage = index === images.length - 1 ? usageOf(reply) : null;
    events.push(
      `{"type":"image_generation.completed",${imageText(image).slice(1, -1)},"created":${createdAtSeconds}${usage === null ? '' : `,"usage":${usage}`}}`,
    );
  });
  if (rule.error?.at === 'stream') {
    const error = JSON.stringify(streamError(rule.status ?? 502, rule.error));
    events.splice(rule.error.afterChunks, events.length, `{"type":"error","error":${error}}`);
  }
  const data = events.map((each, at) => (at === rule.malformedChunk ? each.slice(0, each.length / 2) : each));
  if (rule.done) data.push('[DONE]');
  const pieces = data.map(
    (each): Piece => ({ data: `data: ${each}${rule.lineEnd}${rule.lineEnd}`, textBytes: 0 }),
  );
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...headers },
    pieces,
    endless: null,
  };
}

/** Events before each streamed image. */
const PARTIALS = 2;

interface SentImage {
  base64: string;
  mediaType: string;
}

function imagesOf({ made, format, digest }: ImageRequest, { images = {} }: Rule): Promise<SentImage[]> {
  const type = images.type ?? format;
  return Promise.all(
    Array.from({ length: images.count ?? made.images }, async (_, at) => {
      const bytes = await bytesOf(type, made, digest + at, images.bytes ?? 0);
      return { base64: bytes.toString('base64'), mediaType: mediaTypes[type] };
    }),
  );
}

const mediaTypes = {
  png: 'image/png',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  garbage: 'image/png',
} as const;

async function bytesOf(
  type: keyof typeof mediaTypes,
  made: ImageRequest['made'],
  seed: string,
  bytes: number,
): Promise<Buffer> {
  switch (type) {
    case 'png':
      return padPng(await pngOf(made, seed), bytes);
    case 'webp':
      return webpOf(made, seed);
    case 'svg':
      return Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    case 'garbage':
      return Buffer.from('This is no image.');
    default:
      return type satisfies never;
  }
}

const imageText = ({ base64, mediaType }: SentImage): string =>
  `{"b64_json":"${base64}","media_type":"${mediaType}"}`;

const usageOf = ({ rule, use, costAtto }: ImageReply): string | null =>
  rule.usageAt === 'missing' ? null : usageText(chatCounters(use, noRuns), costAtto, rule);

const tokensOf = ({ made }: ImageRequest): TokenUse => ({
  promptTokens: made.promptTokens,
  cachedTokens: 0,
  completionTokens: made.outputTokens,
  reasoningTokens: 0,
  images: made.references,
});
