import { type ApiError, apiError } from '../../contract/errors.ts';
import { keepPlacedImages, type PlacedImage } from '../admit/place-inline-images.ts';
import { failureOf } from '../hold/call-failure.ts';
import type { RunningCall } from './running-call.ts';

/** Keeps the images that stood in the request of a held call. An end of the call does not wait for them. `null`: all are kept. */
export async function keepImages(
  call: RunningCall,
  images: readonly PlacedImage[],
): Promise<ApiError | null> {
  const { gateway } = call.options;
  const keeping = keepPlacedImages(images).catch((error: unknown) => {
    gateway.log.error('images of a request could not be kept', { ...call.logFields, error });
    return apiError('service_unavailable');
  });
  const refusal = await Promise.race([keeping, call.ended]);
  const isOver = refusal === undefined || call.caller.gone || call.endedByUs !== null;
  return isOver ? failureOf(call, 'aborted') : refusal;
}
