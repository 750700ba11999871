import { videoPriceAtto } from '#core/catalog/video-price.ts';
import type { FileName } from '#core/files/file-name.ts';
import type { FileStore } from '#core/files/file-store.ts';
import { MEGABYTE, VIDEO_ORDER_IMAGES_BYTES_MAX } from '#core/limits.ts';
import { attoToNanoUp, type NanoUsd } from '#core/money.ts';
import { videoStatus } from '#core/videos/video-job.ts';
import { type ApiError, apiError, isApiError } from '../contract/errors.ts';
import type { VideoRequest } from '../contract/video-request.ts';
import type { ImageLink } from '../inference/linked-images/linked-media.ts';
import { checkImages } from './check-images.ts';
import { findVideo } from './find-video.ts';
import { readVideoOrder, type VideoOrderRead } from './read-video-order.ts';
import type { VideoDeps } from './video-deps.ts';
import type { SentAlong } from './write-video-order.ts';

/** An order that nothing but money and room can refuse any more. */
export interface PlannedVideo extends VideoOrderRead {
  files: FileStore;
  holdNanoUsd: NanoUsd;
  previousJobId: string | null;
  sentAlong: SentAlong;
}

export async function planVideo(
  deps: VideoDeps,
  agentId: number,
  body: Record<string, unknown>,
): Promise<PlannedVideo | ApiError> {
  const { files, gateway } = deps;
  // Not a wait: clients would ask again and again for what only the operator can add.
  if (files === null) return apiError('not_found', { message: NO_FILES });
  const order = readVideoOrder(gateway.catalog, body);
  if (isApiError(order)) return order;
  const { request } = order;
  const sentAlong = await placeImages(deps, agentId, linksOf(request));
  if (isApiError(sentAlong)) return sentAlong;
  const previousJobId = await findPrevious(deps, agentId, order);
  if (isApiError(previousJobId)) return previousJobId;
  const price = videoPriceAtto(order.model, order.shape);
  if (price === null) return apiError('invalid_request', { param: 'resolution', message: NO_PRICE });
  return { ...order, files, holdNanoUsd: attoToNanoUp(price), previousJobId, sentAlong };
}

const NO_FILES = 'This gateway keeps no files, so it makes no videos.';
const NO_PRICE = 'The model has no price for a video like this; choose another `resolution` or `duration`.';

function linksOf({ frame_images, input_references }: VideoRequest): ImageLink[] {
  const named = (field: string, images: { image_url: { url: string } }[] | null | undefined) =>
    (images ?? []).map(({ image_url }, at) => ({
      link: image_url.url,
      param: `${field}[${at}].image_url.url`,
    }));
  return [...named('frame_images', frame_images), ...named('input_references', input_references)];
}

/** The images whose links only this gateway's neighbours can follow: their bytes go with the order. */
async function placeImages(
  { files, refusePrivate, gateway: { log, limits } }: VideoDeps,
  agentId: number,
  links: readonly ImageLink[],
): Promise<SentAlong | ApiError> {
  const checked = await checkImages(
    { files, refusePrivate, log, linksMax: limits().linksPerCall },
    agentId,
    links,
  );
  if (isApiError(checked)) return checked;
  const sentAlong = new Map<string, FileName>();
  let bytes = 0;
  for (const image of checked) {
    const { link, param, own } = image;
    if (own === null || (await refusePrivate(link)) === null) continue;
    sentAlong.set(link, own);
    bytes += image.bytes;
    if (bytes <= VIDEO_ORDER_IMAGES_BYTES_MAX) continue;
    const most = Math.floor(VIDEO_ORDER_IMAGES_BYTES_MAX / MEGABYTE);
    return apiError('invalid_request', {
      param,
      message: `\`${param}\`: the uploads of one video have at most ${most} MB together; send smaller images.`,
    });
  }
  return sentAlong;
}

/** Spec: Video request fields, previous_job_id. Another agent's answers like one that never was. */
async function findPrevious(
  { gateway: { ledger, clock }, videos }: VideoDeps,
  agentId: number,
  { request: { previous_job_id: videoId }, provider }: VideoOrderRead,
): Promise<string | null | ApiError> {
  if (videoId === null || videoId === undefined) return null;
  const job = await findVideo({ ledger, videos }, agentId, videoId);
  if (job === 'unavailable') return apiError('service_unavailable');
  const refuse = (message: string) => apiError('invalid_request', { param: 'previous_job_id', message });
  if (job === null) return refuse('`previous_job_id`: this agent has no such video.');
  const status = videoStatus(job, clock.now());
  if (status !== 'completed' || job.submitted === null) {
    return refuse(`\`previous_job_id\` has to be a completed video; this one is \`${status}\`.`);
  }
  return job.providerId === provider.id
    ? job.submitted.providerJobId
    : refuse('`previous_job_id` has to be a video of a model that this one can carry on; this one is not.');
}
