import type { Provider } from '#core/catalog/catalog.ts';
import type { OwnFormat } from '#core/conversation/own-format.ts';
import { limitTasks } from '#core/limit-tasks.ts';
import { MEGABYTE } from '#core/limits.ts';
import { type ApiError, apiError, isApiError } from '../../contract/errors.ts';
import { failureOf } from '../hold/call-failure.ts';
import type { Gateway } from '../hold/gateway.ts';
import type { HeldCall } from '../hold/held-call.ts';
import { type LinkedImage, missing } from './linked-media.ts';
import { checkPublicHttpsUrl } from './public-link.ts';
import { type LoadedImage, writeImages } from './write-images.ts';

/** Images and bytes that one request sends to a provider in place of their links. */
export const INLINED_IMAGES_MAX = 16;
export const INLINED_BYTES_MAX = 20 * MEGABYTE;
/** Requests of this process that load such images at one time, and their bytes together. */
const INLINED_CALLS_AT_ONCE = 16;
export const INLINED_BYTES_AT_ONCE = 256 * MEGABYTE;

/** A body to be sent. Whoever has sent it says so by `done`. */
export interface SentBody {
  bytes: Buffer;
  done(): void;
}

/** Of what is sent to a provider: images that it cannot, or should not, fetch by their links. */
export function imagesToInline(
  { dialect, kind }: Pick<Provider, 'dialect' | 'kind'>,
  images: readonly LinkedImage[],
): readonly LinkedImage[] {
  if (dialect.images === 'inline' || kind.ownFormat !== null) return images;
  return images.filter(({ link, own }) => own !== null && checkPublicHttpsUrl(link) === null);
}

const inTurn = limitTasks(INLINED_CALLS_AT_ONCE);
/** Of all bodies with images in them that are on their way. */
let bytesOnTheirWay = 0;

/** What has to be known of a call. */
export interface ImageReader extends Pick<HeldCall, 'endedByUs' | 'ended' | 'logFields'> {
  options: Pick<HeldCall['options'], 'agentId'> & {
    gateway: Pick<Gateway, 'files' | 'fetchImage' | 'log'>;
  };
  caller: Pick<HeldCall['caller'], 'gone' | 'committed'>;
}

/** Nobody waits for what it asks for. */
export const isOver = ({
  caller,
  endedByUs,
}: Pick<ImageReader, 'endedByUs'> & { caller: Pick<ImageReader['caller'], 'gone'> }): boolean =>
  caller.gone || endedByUs !== null;

/** The same body with the images in the places of their links. An end of the call does not wait for them. */
export async function inlineImages(
  call: ImageReader,
  images: readonly LinkedImage[],
  body: Buffer,
  ownFormat: OwnFormat | null = null,
): Promise<SentBody | ApiError> {
  const { gateway } = call.options;
  const loading = inTurn(async () => {
    try {
      return await loadAll(call, images);
    } catch (error) {
      gateway.log.error('images of a call could not be read', { ...call.logFields, error });
      return apiError('service_unavailable');
    }
  });
  const loaded = await Promise.race([loading, call.ended]);
  if (loaded === undefined || isOver(call)) return failureOf(call, 'aborted');
  if (isApiError(loaded)) return loaded;
  const bytes = writeImages(body, loaded, ownFormat?.writeImage ?? null);
  if (bytesOnTheirWay + bytes.length > INLINED_BYTES_AT_ONCE) return apiError('gateway_busy');
  bytesOnTheirWay += bytes.length;
  return {
    bytes,
    done() {
      bytesOnTheirWay -= bytes.length;
    },
  };
}

/** Some of them, when the call is over meanwhile. */
async function loadAll(
  call: ImageReader,
  images: readonly LinkedImage[],
): Promise<Map<string, LoadedImage> | ApiError> {
  const loaded = new Map<string, LoadedImage>();
  let left = INLINED_BYTES_MAX;
  for (const image of images) {
    if (isOver(call)) break;
    if (loaded.has(image.link)) continue;
    if (loaded.size === INLINED_IMAGES_MAX) return tooMany(image.param);
    const each = await load(call.options.gateway, image, left);
    if (isApiError(each)) return each;
    left -= each.bytes.length;
    loaded.set(image.link, each);
  }
  return loaded;
}

async function load(
  { files, fetchImage }: ImageReader['options']['gateway'],
  { link, own, param }: LinkedImage,
  bytesMax: number,
): Promise<LoadedImage | ApiError> {
  if (own === null) {
    const fetched = await fetchImage(link, bytesMax);
    return fetched.ok ? fetched : refuse(param, `\`${param}\` ${fetched.words}.`);
  }
  const size = (await files?.size(own)) ?? null;
  if (size !== null && size > bytesMax) return tooMany(param);
  const bytes = size === null ? null : ((await files?.read(own, bytesMax)) ?? null);
  return bytes === null ? missing(param) : { contentType: own.contentType, bytes };
}

const tooMany = (param: string): ApiError =>
  refuse(
    param,
    `\`${param}\` is one too many: this model takes ${INLINED_IMAGES_MAX} images of ${INLINED_BYTES_MAX} bytes together in a request.`,
  );

const refuse = (param: string, message: string): ApiError => apiError('invalid_request', { param, message });
