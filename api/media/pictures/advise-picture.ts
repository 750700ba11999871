import { imageHoldAtto } from '#core/catalog/image-price.ts';
import { attoToNanoUp, type NanoUsd } from '#core/money.ts';
import type { StartAdvice } from '../../inference/refuse-start.ts';
import type { PicturePlan } from './picture-plan.ts';

/** The most that so many of the wanted pictures cost, rounded up once. `null`: it has no bound. */
export function pictureHold(
  { model, shape }: Pick<PicturePlan, 'model' | 'shape'>,
  pictures = shape.pictures,
): NanoUsd | null {
  const atto = imageHoldAtto(model, { ...shape, pictures });
  return atto === null ? null : attoToNanoUp(atto);
}

/** Fewer pictures hold less. */
export const advisePicture = (plan: PicturePlan): StartAdvice => ({
  param: plan.shape.pictures > 1 ? 'n' : null,
  toFit(availableNanoUsd, remedy) {
    const fitting = largestFitting(plan, availableNanoUsd);
    return fitting === null
      ? `Not even one such picture fits: choose a smaller size or a lower quality, ${remedy}.`
      : `The largest \`n\` that fits is ${fitting}.`;
  },
  fittingNow(availableNanoUsd) {
    const fitting = largestFitting(plan, availableNanoUsd);
    return fitting === null ? null : `Now the largest \`n\` that fits is ${fitting}.`;
  },
});

function largestFitting(plan: PicturePlan, availableNanoUsd: NanoUsd): number | null {
  for (let pictures = plan.shape.pictures - 1; pictures > 0; pictures--) {
    const hold = pictureHold(plan, pictures);
    if (hold !== null && hold <= availableNanoUsd) return pictures;
  }
  return null;
}
