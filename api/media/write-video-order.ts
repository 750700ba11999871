import type { VideoModel } from '#core/catalog/video-model.ts';
import type { FileName } from '#core/files/file-name.ts';
import type { FileStore } from '#core/files/file-store.ts';
import { randomBase62 } from '#core/ids.ts';
import { limitTasks } from '#core/limit-tasks.ts';
import { VIDEO_ORDER_IMAGES_BYTES_MAX } from '#core/limits.ts';
import type { ImageLink, VideoOrderBody } from '#core/videos/video-order-body.ts';
import type { VideoRequest } from '../contract/video-request.ts';

/**
 * Orders with images that a process writes at one time. Each has an image in memory for which nothing is
 * held yet.
 */
export const VIDEO_ORDERS_WRITTEN_AT_ONCE = 4;

/** Images that the provider could not fetch from here, by their links. */
export type SentAlong = ReadonlyMap<string, FileName>;

export interface VideoOrderText {
  model: Pick<VideoModel, 'upstreamModel'>;
  request: VideoRequest;
  /** The provider's own id of the video that is carried on. */
  previousJobId: string | null;
  sentAlong: SentAlong;
}

/**
 * Keeps what will be sent to the provider. Of the images that are sent along one at a time is in memory, and not those of
 * every order at one time: a flood of small requests that name a large upload would take it all.
 */
export async function writeVideoOrder(
  files: Pick<FileStore, 'write' | 'read'>,
  name: FileName,
  order: VideoOrderText,
): Promise<void> {
  const write = async () => void (await files.write(name, orderChunks(files, order)));
  await (order.sentAlong.size === 0 ? write() : inTurn(write));
}

const inTurn = limitTasks(VIDEO_ORDERS_WRITTEN_AT_ONCE);

async function* orderChunks(
  files: Pick<FileStore, 'read'>,
  { model, request, previousJobId, sentAlong }: VideoOrderText,
): AsyncGenerator<Uint8Array> {
  // The mark is random, so a caller's text cannot be mistaken for an image's place.
  const mark = randomBase62(24);
  const places: FileName[] = [];
  const place = (url: string): string => {
    const name = sentAlong.get(url);
    return name === undefined ? url : `${mark}${places.push(name) - 1}`;
  };
  const body = orderBody(model.upstreamModel, request, previousJobId, place);
  const [first = '', ...rest] = JSON.stringify(body).split(new RegExp(`${mark}\\d+`));
  yield Buffer.from(first);
  for (const [index, text] of rest.entries()) {
    const name = places[index];
    if (name !== undefined) yield* dataUrl(files, name);
    yield Buffer.from(text);
  }
}

function orderBody(
  model: string,
  request: VideoRequest,
  previousJobId: string | null,
  place: (url: string) => string,
): VideoOrderBody {
  const { prompt, duration, resolution, aspect_ratio, generate_audio, seed } = request;
  const link = (url: string): ImageLink => ({ type: 'image_url', image_url: { url: place(url) } });
  const frames = request.frame_images ?? [];
  const references = request.input_references ?? [];
  return {
    model,
    ...(prompt ? { prompt } : {}),
    duration,
    resolution,
    aspect_ratio,
    generate_audio: generate_audio ?? false,
    ...(seed === null || seed === undefined ? {} : { seed }),
    ...(frames.length === 0
      ? {}
      : {
          frame_images: frames.map(({ image_url, frame_type }) => ({ ...link(image_url.url), frame_type })),
        }),
    ...(references.length === 0
      ? {}
      : { input_references: references.map(({ image_url }) => link(image_url.url)) }),
    ...(previousJobId === null ? {} : { previous_job_id: previousJobId }),
  };
}

/** A multiple of three, so that the base64 of the parts is that of the whole. */
const SLICE_BYTES = 3 * 64 * 1024;

async function* dataUrl(files: Pick<FileStore, 'read'>, name: FileName): AsyncGenerator<Uint8Array> {
  const bytes = await files.read(name, VIDEO_ORDER_IMAGES_BYTES_MAX);
  if (bytes === null) throw new Error('An image of an order was deleted while it was read.');
  yield Buffer.from(`data:${name.contentType};base64,`);
  for (let at = 0; at < bytes.length; at += SLICE_BYTES) {
    yield Buffer.from(bytes.subarray(at, at + SLICE_BYTES).toString('base64'));
  }
}
