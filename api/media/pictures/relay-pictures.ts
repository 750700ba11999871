import type { PictureType } from '#core/files/file-name.ts';
import { pictureTypeOf } from '#core/files/picture-type.ts';
import { PICTURE_ANSWER_BYTES } from '#core/limits.ts';
import { apiError } from '../../contract/errors.ts';
import { answerHeaders, EVENT_STREAM } from '../../inference/hold/answer-headers.ts';
import { failureOf } from '../../inference/hold/call-failure.ts';
import type { Usage } from '../../inference/price/usage.ts';
import type { UpstreamRequest } from '../../inference/upstream/upstream-request.ts';
import { BrokenAnswer, upstreamChunks } from '../upstream-chunks.ts';
import { eventData } from './event-data.ts';
import type { PictureAttempt } from './picture-attempt.ts';
import type { PictureCall } from './picture-call.ts';
import { PictureScan } from './picture-scan.ts';
import { type PictureSink, type ReadFrame, readFrame, takePicture } from './read-pictures.ts';

/** A stream: partial pictures pass on as they come, the finished one goes to `sink`, and its event is ours to write. */
export async function relayPictures(
  call: PictureCall,
  upstream: UpstreamRequest,
  sink: PictureSink,
): Promise<PictureAttempt> {
  let usage: Usage | null = null;
  let made: { created: number | null } | null = null;
  try {
    for await (const data of eventData(upstreamChunks(upstream, PICTURE_ANSWER_BYTES))) {
      if (isDone(data)) break;
      const { frame, picture, type } = await readEvent(call, data);
      usage = frame.usage ?? usage;
      if (frame.kind === 'failed') {
        // What came behind the picture does not take it back.
        if (made !== null) break;
        return { kind: 'failed', error: frame.error, usage, delivered: 0 };
      }
      if (type === null) continue;
      switch (frame.value.type) {
        case 'image_generation.partial_image':
          await passOn(call, frame.value.partial_image_index, picture, type);
          break;
        case 'image_generation.completed': {
          if (made !== null) break;
          const kept = call.caller.gone || (await takePicture(call, sink, type, once(picture)));
          if (!kept) return { kind: 'failed', error: apiError('gateway_error'), usage, delivered: 1 };
          made = frame;
        }
      }
      // Whoever waits for the picture need not wait for the provider to close the stream.
      if (made !== null && usage !== null && usage.reportedAttoUsd !== null) break;
    }
  } catch (error) {
    if (!(error instanceof BrokenAnswer)) throw error;
    if (made === null) return { kind: 'failed', error: failureOf(call, error.failure), usage, delivered: 0 };
  }
  if (made === null) return { kind: 'failed', error: apiError('provider_error'), usage, delivered: 0 };
  return { kind: 'made', usage, created: made.created, delivered: 1 };
}

interface PictureEvent {
  frame: ReadFrame;
  picture: readonly Buffer[];
  /** `null`: it has no picture, or none of a type that is shown here. */
  type: PictureType | null;
}

async function readEvent({ asked }: PictureCall, data: Buffer): Promise<PictureEvent> {
  const scan = new PictureScan(once([data]), 'event');
  const picture: Buffer[] = [];
  while (await scan.nextPicture())
    for (let piece = await scan.readPicture(); piece !== null; piece = await scan.readPicture())
      picture.push(piece);
  const start = picture[0];
  return {
    frame: readFrame(scan.frame, asked),
    picture,
    type: start === undefined ? null : pictureTypeOf(start),
  };
}

async function passOn(
  call: PictureCall,
  index: unknown,
  picture: readonly Buffer[],
  type: PictureType,
): Promise<void> {
  if ((await call.gate) === 'shut') return;
  if (!call.caller.committed) call.caller.begin(answerHeaders(call, EVENT_STREAM));
  await call.write(
    Buffer.from(
      `data: ${JSON.stringify({
        type: 'image_generation.partial_image',
        partial_image_index: Number.isSafeInteger(index) ? index : 0,
        b64_json: Buffer.concat(picture).toString('base64'),
        media_type: type,
      })}\n\n`,
    ),
  );
}

async function* once(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
}

const isDone = (data: Buffer): boolean => data.length < 16 && data.toString('latin1').trim() === '[DONE]';
