import type { PictureType } from '#core/files/file-name.ts';
import { PICTURE_TYPE_BYTES, pictureTypeOf } from '#core/files/picture-type.ts';
import { isRecord } from '#core/is-record.ts';
import { PICTURE_ANSWER_BYTES } from '#core/limits.ts';
import { apiError } from '../../contract/errors.ts';
import { failureOf } from '../../inference/hold/call-failure.ts';
import { answerBounds, readJsonObject } from '../../inference/json/json-object.ts';
import { chatCounts, type Usage, usageOfAnswer } from '../../inference/price/usage.ts';
import { type AskedEndpoint, readUpstreamError } from '../../inference/upstream/upstream-error.ts';
import type { UpstreamRequest } from '../../inference/upstream/upstream-request.ts';
import { BrokenAnswer, upstreamChunks } from '../upstream-chunks.ts';
import type { PictureAttempt } from './picture-attempt.ts';
import type { PictureCall } from './picture-call.ts';
import { PictureScan } from './picture-scan.ts';

/** Where pictures go. Throws what `bytes` throws, or whatever keeps it from taking them. */
export interface PictureSink {
  take(type: PictureType, bytes: AsyncIterable<Buffer>): Promise<void>;
}

/** A whole JSON answer: each picture goes to `sink` as it comes. */
export async function readPictures(
  call: PictureCall,
  upstream: UpstreamRequest,
  sink: PictureSink,
): Promise<PictureAttempt> {
  const scan = new PictureScan(upstreamChunks(upstream, PICTURE_ANSWER_BYTES));
  let delivered = 0;
  let lost = false;
  try {
    while (await scan.nextPicture()) {
      const start = await readStart(scan);
      const type = pictureTypeOf(start);
      if (type === null) continue;
      delivered++;
      // Read on all the same: what it cost stands at the end.
      if (call.caller.gone || lost) continue;
      lost = !(await takePicture(call, sink, type, picture(start, scan)));
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
export async function takePicture(
  call: PictureCall,
  sink: PictureSink,
  type: PictureType,
  bytes: AsyncIterable<Buffer>,
): Promise<boolean> {
  try {
    await sink.take(type, bytes);
    return true;
  } catch (error) {
    if (error instanceof BrokenAnswer) throw error;
    call.options.gateway.log.error('a picture could not be stored', { ...call.logFields, error });
    return false;
  }
}

/** Enough of a picture to tell its type. */
async function readStart(scan: PictureScan): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let bytes = 0; bytes < PICTURE_TYPE_BYTES; ) {
    const piece = await scan.readPicture();
    if (piece === null) break;
    pieces.push(piece);
    bytes += piece.length;
  }
  return Buffer.concat(pieces);
}

async function* picture(start: Buffer, scan: PictureScan): AsyncGenerator<Buffer> {
  yield start;
  for (let piece = await scan.readPicture(); piece !== null; piece = await scan.readPicture()) yield piece;
}

/** What an answer, or an event of a stream, says besides its picture. */
export type ReadFrame =
  | { kind: 'read'; value: Record<string, unknown>; usage: Usage | null; created: number | null }
  | { kind: 'failed'; error: ReturnType<typeof apiError>; usage: Usage | null };

export function readFrame(frame: string, asked: AskedEndpoint): ReadFrame {
  const read = readJsonObject(Buffer.from(frame), answerBounds);
  if (typeof read === 'string') return { kind: 'failed', error: apiError('provider_error'), usage: null };
  const { object, value } = read;
  const usage = usageOfAnswer(object, value, chatCounts)?.usage ?? null;
  if (isRecord(value.error) || typeof value.error === 'string')
    return { kind: 'failed', error: readUpstreamError(200, value, asked).error, usage };
  return { kind: 'read', value, usage, created: timeOf(value.created) };
}

const timeOf = (created: unknown): number | null =>
  typeof created === 'number' && Number.isSafeInteger(created) && created > 0 ? created : null;
