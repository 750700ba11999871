import { type Clock, SECOND_MS } from '#core/clock.ts';
import { BrokenAnswer } from '../upstream-chunks.ts';
import type { ImageFiles } from './image-output.ts';

/**
 * Storage that has failed is not used for new images for this long, because each image is paid for before
 * it is stored.
 */
export const STORAGE_REST_MS = 15 * SECOND_MS;

export interface RestingFiles extends ImageFiles {
  /** What was to be stored last was not: nothing is made for this storage now. */
  resting(): boolean;
}

/**
 * An image is stored when its provider has been paid, and is free when that fails: whoever asked again and again while the
 * disk is full would spend the operator's money for nothing.
 */
export function restAfterFailure(files: ImageFiles, clock: Clock): RestingFiles {
  let restsUntilMs = Number.NEGATIVE_INFINITY;
  return {
    resting: () => clock.monotonicMs() < restsUntilMs,
    async write(name, chunks) {
      try {
        return await files.write(name, chunks);
      } catch (error) {
        if (!(error instanceof BrokenAnswer)) restsUntilMs = clock.monotonicMs() + STORAGE_REST_MS;
        throw error;
      }
    },
    delete: (name) => files.delete(name),
    getLink: (name, untilMs) => files.getLink(name, untilMs),
  };
}
