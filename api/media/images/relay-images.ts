import type { ImageType } from '#core/files/file-name.ts';
import { imageTypeOf } from '#core/files/image-type.ts';
import { IMAGE_ANSWER_BYTES } from '#core/limits.ts';
import { apiError } from '../../contract/errors.ts';
import { answerHeaders, EVENT_STREAM } from '../../inference/hold/answer-headers.ts';
import { failureOf } from '../../inference/hold/call-failure.ts';
import type { Usage } from '../../inference/price/usage.ts';
import type { UpstreamRequest } from '../../inference/upstream/upstream-request.ts';
import { BrokenAnswer, upstreamChunks } from '../upstream-chunks.ts';
import { eventData } from './event-data.ts';
import type { ImageAttempt } from './image-attempt.ts';
import type { ImageCall } from './image-call.ts';
import { ImageScan } from './image-scan.ts';
import { type ImageSink, type ReadFrame, readFrame, takeImage } from './read-images.ts';

/** A stream: partial images pass on as they come, the finished one goes to `sink`, and its event is ours to write. */
export async function relayImages(
  call: ImageCall,
  upstream: UpstreamRequest,
  sink: ImageSink,
): Promise<ImageAttempt> {
  let usage: Usage | null = null;
  let made: { created: number | null } | null = null;
  try {
    for await (const data of eventData(upstreamChunks(upstream, IMAGE_ANSWER_BYTES))) {
      if (isDone(data)) break;
      const { frame, image, type } = await readEvent(call, data);
      usage = frame.usage ?? usage;
      if (frame.kind === 'failed') {
        // What came behind the image does not take it back.
        if (made !== null) break;
        return { kind: 'failed', error: frame.error, usage, delivered: 0 };
      }
      if (type === null) continue;
      switch (frame.value.type) {
        case 'image_generation.partial_image':
          await passOn(call, frame.value.partial_image_index, image, type);
          break;
        case 'image_generation.completed': {
          if (made !== null) break;
          const kept = call.caller.gone || (await takeImage(call, sink, type, once(image)));
          if (!kept) return { kind: 'failed', error: apiError('gateway_error'), usage, delivered: 1 };
          made = frame;
        }
      }
      // Whoever waits for the image need not wait for the provider to close the stream.
      if (made !== null && usage !== null && usage.reportedAttoUsd !== null) break;
    }
  } catch (error) {
    if (!(error instanceof BrokenAnswer)) throw error;
    if (made === null) return { kind: 'failed', error: failureOf(call, error.failure), usage, delivered: 0 };
  }
  if (made === null) return { kind: 'failed', error: apiError('provider_error'), usage, delivered: 0 };
  return { kind: 'made', usage, created: made.created, delivered: 1 };
}

interface ImageEvent {
  frame: ReadFrame;
  image: readonly Buffer[];
  /** `null`: it has no image, or none of a type that is shown here. */
  type: ImageType | null;
}

async function readEvent({ asked }: ImageCall, data: Buffer): Promise<ImageEvent> {
  const scan = new ImageScan(once([data]), 'event');
  const image: Buffer[] = [];
  while (await scan.nextImage())
    for (let piece = await scan.readImage(); piece !== null; piece = await scan.readImage())
      image.push(piece);
  const start = image[0];
  return {
    frame: readFrame(scan.frame, asked),
    image,
    type: start === undefined ? null : imageTypeOf(start),
  };
}

async function passOn(
  call: ImageCall,
  index: unknown,
  image: readonly Buffer[],
  type: ImageType,
): Promise<void> {
  if ((await call.gate) === 'shut') return;
  if (!call.caller.committed) call.caller.begin(answerHeaders(call, EVENT_STREAM));
  await call.write(
    Buffer.from(
      `data: ${JSON.stringify({
        type: 'image_generation.partial_image',
        partial_image_index: Number.isSafeInteger(index) ? index : 0,
        b64_json: Buffer.concat(image).toString('base64'),
        media_type: type,
      })}\n\n`,
    ),
  );
}

async function* once(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
}

const isDone = (data: Buffer): boolean => data.length < 16 && data.toString('latin1').trim() === '[DONE]';
