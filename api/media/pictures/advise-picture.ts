import { imageHoldAtto } from '#core/catalog/image-price.ts';
import { attoToNanoUp, type NanoUsd } from '#core/money.ts';
import type { StartAdvice } from '../../inference/hold/start-advice.ts';
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
  fit(availableNanoUsd, remedy) {
    const fitting = largestFitting(plan, availableNanoUsd);
    if (fitting === null) {
      const words = `Not even one such picture fits: choose a smaller size or a lower quality, ${remedy}.`;
      return { changes: null, needNanoUsd: pictureHold(plan, 1), words };
    }
    const words = `The largest \`n\` that fits is ${fitting}.`;
    return { changes: [{ field: 'n', value: fitting }], needNanoUsd: null, words };
  },
});

function largestFitting(plan: PicturePlan, availableNanoUsd: NanoUsd): number | null {
  for (let pictures = plan.shape.pictures - 1; pictures > 0; pictures--) {
    const hold = pictureHold(plan, pictures);
    if (hold !== null && hold <= availableNanoUsd) return pictures;
  }
  return null;
}
