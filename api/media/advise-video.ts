import type { StartAdvice } from '../inference/refuse-start.ts';

/** No single number of a video's price: length, resolution, sound and pictures decide it. */
export const adviseVideo: StartAdvice = {
  param: null,
  toFit: (_availableNanoUsd, remedy) => `Order a shorter or smaller video, ${remedy}.`,
  fittingNow: () => null,
};
