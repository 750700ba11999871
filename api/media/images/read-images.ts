import type { ImageType } from '#core/files/file-name.ts';
import { IMAGE_TYPE_BYTES, imageTypeOf } from '#core/files/image-type.ts';
import { isRecord } from '#core/is-record.ts';
import { IMAGE_ANSWER_BYTES } from '#core/limits.ts';
import { apiError } from '../../contract/errors.ts';
import { failureOf } from '../../inference/hold/call-failure.ts';
import { answerBounds, readJsonObject } from '../../inference/json/json-object.ts';
import { chatCounts, type Usage, usageOfAnswer } from '../../inference/price/usage.ts';
import { type AskedEndpoint, readUpstreamError } from '../../inference/upstream/upstream-error.ts';
import type { UpstreamRequest } from '../../inference/upstream/upstream-request.ts';
import { BrokenAnswer, upstreamChunks } from '../upstream-chunks.ts';
import type { ImageAttempt } from './image-attempt.ts';
import type { ImageCall } from './image-call.ts';
import { ImageScan } from './image-scan.ts';

/** Where images go. Throws what `bytes` throws, or whatever keeps it from taking them. */
export interface ImageSink {
  take(type: ImageType, bytes: AsyncIterable<Buffer>): Promise<void>;
}

/** A whole JSON answer: each image goes to `sink` as it comes. */
export async function readImages(
  call: ImageCall,
  upstream: UpstreamRequest,
  sink: ImageSink,
): Promise<ImageAttempt> {
  const scan = new ImageScan(upstreamChunks(upstream, IMAGE_ANSWER_BYTES));
  let delivered = 0;
  let lost = false;
  try {
    while (await scan.nextImage()) {
      const start = await readStart(scan);
      const type = imageTypeOf(start);
      if (type === null) continue;
      delivered++;
      // Read on all the same: what it cost stands at the end.
      if (call.caller.gone || lost) continue;
      lost = !(await takeImage(call, sink, type, image(start, scan)));
    }
  } catch (error) {
    if (!(error instanceof BrokenAnswer)) throw error;
    return { kind: 'failed', error: failureOf(call, error.failure), usage: null, delivered };
  }
  const read = readFrame(scan.frame, call.asked);
  if (read.kind === 'failed') return { ...read, delivered };
  const { usage, created } = read;
  if (lost) return { kind: 'failed', error: apiError('gateway_error'), usage, delivered };
  if (delivered === 0) return { kind: 'failed', error: apiError('provider_error'), usage, delivered };
  return { kind: 'made', usage, created, delivered };
}

/** False: storage does not take it. That is no fault of the caller's, nor of the provider's. */
export async function takeImage(
  call: ImageCall,
  sink: ImageSink,
  type: ImageType,
  bytes: AsyncIterable<Buffer>,
): Promise<boolean> {
  try {
    await sink.take(type, bytes);
    return true;
  } catch (error) {
    if (error instanceof BrokenAnswer) throw error;
    call.options.gateway.log.error('an image could not be stored', { ...call.logFields, error });
    return false;
  }
}

/** Enough of an image to tell its type. */
async function readStart(scan: ImageScan): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let bytes = 0; bytes < IMAGE_TYPE_BYTES; ) {
    const piece = await scan.readImage();
    if (piece === null) break;
    pieces.push(piece);
    bytes += piece.length;
  }
  return Buffer.concat(pieces);
}

async function* image(start: Buffer, scan: ImageScan): AsyncGenerator<Buffer> {
  yield start;
  for (let piece = await scan.readImage(); piece !== null; piece = await scan.readImage()) yield piece;
}

/** What an answer, or an event of a stream, says besides its image. */
export type ReadFrame =
  | { kind: 'read'; value: Record<string, unknown>; usage: Usage | null; created: number | null }
  | { kind: 'failed'; error: ReturnType<typeof apiError>; usage: Usage | null };

export function readFrame(frame: string, asked: AskedEndpoint): ReadFrame {
  const read = readJsonObject(Buffer.from(frame), answerBounds);
  if (typeof read === 'string') return { kind: 'failed', error: apiError('provider_error'), usage: null };
  const { object, value } = read;
  const usage = usageOfAnswer(object, chatCounts)?.usage ?? null;
  if (isRecord(value.error) || typeof value.error === 'string')
    return { kind: 'failed', error: readUpstreamError(200, value, asked).error, usage };
  return { kind: 'read', value, usage, created: timeOf(value.created) };
}

const timeOf = (created: unknown): number | null =>
  typeof created === 'number' && Number.isSafeInteger(created) && created > 0 ? created : null;
