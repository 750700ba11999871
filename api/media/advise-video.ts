import type { VideoModel } from '#core/catalog/video-model.ts';
import { fromPriceNanoUsd } from '#core/catalog/video-price.ts';
import { formatUsd } from '#core/money.ts';
import type { StartAdvice } from '../inference/hold/start-advice.ts';

/** No single number decides a video's price: length, resolution, sound and images do. So the least that one costs is named. */
export const adviseVideo = (model: VideoModel): StartAdvice => ({
  param: null,
  fit(availableNanoUsd, remedy) {
    const least = fromPriceNanoUsd(model);
    if (least !== null && least > availableNanoUsd)
      return {
        changes: null,
        needNanoUsd: least,
        words: `No video of this model fits: ${remedy.replace(/^or /, '')}.`,
      };
    const shortest = least === null ? '' : ` The shortest and smallest one holds $${formatUsd(least)}.`;
    return {
      changes: null,
      needNanoUsd: null,
      words: `Order a shorter or smaller video, ${remedy}.${shortest}`,
    };
  },
});
