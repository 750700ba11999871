import { imageHoldAtto } from '#core/catalog/image-price.ts';
import { attoToNanoUp, type NanoUsd } from '#core/money.ts';
import type { StartAdvice } from '../../inference/hold/start-advice.ts';
import type { ImagePlan } from './image-plan.ts';

/** The most that so many of the wanted images cost, rounded up once. `null`: it has no bound. */
export function imageHold(
  { model, shape }: Pick<ImagePlan, 'model' | 'shape'>,
  images = shape.images,
): NanoUsd | null {
  const atto = imageHoldAtto(model, { ...shape, images });
  return atto === null ? null : attoToNanoUp(atto);
}

/** Fewer images hold less. */
export const adviseImage = (plan: ImagePlan): StartAdvice => ({
  param: plan.shape.images > 1 ? 'n' : null,
  fit(availableNanoUsd, remedy) {
    const fitting = largestFitting(plan, availableNanoUsd);
    if (fitting === null) {
      const words = `Not even one such image fits: choose a smaller size or a lower quality, ${remedy}.`;
      return { changes: null, needNanoUsd: imageHold(plan, 1), words };
    }
    const words = `The largest \`n\` that fits is ${fitting}.`;
    return { changes: [{ field: 'n', value: fitting }], needNanoUsd: null, words };
  },
});

function largestFitting(plan: ImagePlan, availableNanoUsd: NanoUsd): number | null {
  for (let images = plan.shape.images - 1; images > 0; images--) {
    const hold = imageHold(plan, images);
    if (hold !== null && hold <= availableNanoUsd) return images;
  }
  return null;
}
