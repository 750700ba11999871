import type { AttoUsd } from '../money.ts';

/** A model of the list of videos; what it does not list is refused before anything is held. */
export interface VideoModel {
  id: string;
  name: string;
  createdAtMs: number | null;
  supportedResolutions: readonly string[];
  supportedAspectRatios: readonly string[];
  /** Whole seconds, ascending. */
  supportedDurations: readonly number[];
  supportedFrameImages: readonly FrameType[];
  maxInputReferences: number;
  generateAudio: boolean;
  seed: boolean;
  /** Whether it carries an earlier video on. */
  extends: boolean;
  providerId: string;
  upstreamModel: string;
  /** The provider's price keys, the operator's margin included: atto-dollars per unit of the key. `video-price.ts` reads them. */
  skus: ReadonlyMap<string, AttoUsd>;
}

export const frameTypes = ['first_frame', 'last_frame'] as const;
export type FrameType = (typeof frameTypes)[number];

/** What decides the price of a video. */
export interface VideoShape {
  durationSeconds: number;
  resolution: string;
  aspectRatio: string;
  generateAudio: boolean;
  frameImages: number;
  inputReferences: number;
  continues: boolean;
}
