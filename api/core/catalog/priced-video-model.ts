import type { FrameType, VideoModel } from './video-model.ts';
import { videoPriceAtto } from './video-price.ts';

/** Returns the model without all that has no price, because no hold could cover it. `null`: nothing is left. */
export function priced(model: VideoModel): VideoModel | null {
  const { supportedDurations, supportedFrameImages, maxInputReferences } = model;
  const durationSeconds = supportedDurations[0] ?? 1;
  const hasPrice = (
    resolution: string,
    aspectRatio: string,
    given: { generateAudio?: boolean; frameImages?: number; inputReferences?: number },
  ): boolean => {
    const plain = { generateAudio: false, frameImages: 0, inputReferences: 0, continues: false };
    return videoPriceAtto(model, { durationSeconds, resolution, aspectRatio, ...plain, ...given }) !== null;
  };
  const images =
    supportedFrameImages.length > 0
      ? { frameImages: 1 }
      : maxInputReferences > 0
        ? { inputReferences: 1 }
        : {};
  const isMade = (resolution: string, ratio: string): boolean =>
    hasPrice(resolution, ratio, {}) || hasPrice(resolution, ratio, images);
  const supportedAspectRatios = model.supportedAspectRatios.filter((ratio) =>
    model.supportedResolutions.some((resolution) => isMade(resolution, ratio)),
  );
  const supportedResolutions = model.supportedResolutions.filter((resolution) =>
    supportedAspectRatios.every((ratio) => isMade(resolution, ratio)),
  );
  if (supportedAspectRatios.length === 0 || supportedResolutions.length === 0) return null;
  const everywhere = (given: Parameters<typeof hasPrice>[2]): boolean =>
    supportedResolutions.every((resolution) =>
      supportedAspectRatios.every((ratio) => hasPrice(resolution, ratio, given)),
    );
  const frames: readonly FrameType[] = everywhere({ frameImages: 1 }) ? supportedFrameImages : [];
  return {
    ...model,
    supportedResolutions,
    supportedAspectRatios,
    supportedFrameImages: frames,
    maxInputReferences: everywhere({ inputReferences: 1 }) ? maxInputReferences : 0,
    generateAudio:
      model.generateAudio &&
      (everywhere({ generateAudio: true }) || everywhere({ generateAudio: true, ...images })),
  };
}
