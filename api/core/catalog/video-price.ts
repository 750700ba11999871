import { type AttoUsd, attoToNanoUp, maxBigint, minBigint, type NanoUsd } from '../money.ts';
import type { VideoModel, VideoShape } from './video-model.ts';
import { parseVideoSku, type VideoRate } from './video-sku.ts';
import { videoTokens } from './video-tokens.ts';

/**
 * The most that a video of this shape costs by its price keys, not rounded. `null`: no key says what it costs, so it
 * cannot be made.
 */
export function videoPriceAtto({ skus }: Pick<VideoModel, 'skus'>, shape: VideoShape): AttoUsd | null {
  const rates: { rate: VideoRate; cost: AttoUsd }[] = [];
  let fees = 0n;
  let least = 0n;
  for (const [key, price] of skus) {
    const sku = parseVideoSku(key);
    if (sku === null) return null;
    // Of cents or of dollars: a hundredth may be finer than the unit, so it is rounded up.
    const times = (count: bigint): AttoUsd => (sku.cents ? (price * count + 99n) / 100n : price * count);
    switch (sku.bills) {
      case 'second':
        rates.push({ rate: sku, cost: times(BigInt(shape.durationSeconds)) });
        break;
      case 'token': {
        const tokens = videoTokens(shape);
        // A resolution of unknown size has no bound of its tokens.
        if (tokens !== null) rates.push({ rate: sku, cost: times(tokens) });
        break;
      }
      case 'reference_second':
        if (shape.inputReferences > 0) fees += times(BigInt(shape.durationSeconds));
        break;
      case 'image':
        fees += times(BigInt(shape.frameImages + shape.inputReferences));
        break;
      case 'reference':
        fees += times(BigInt(shape.inputReferences));
        break;
      case 'least':
        least = maxBigint(least, times(1n));
        break;
      default:
        return sku satisfies never;
    }
  }
  const made = dearestOfMostSpecific(rates, shape);
  return made === null ? null : maxBigint(made + fees, least);
}

/** What is shown as `from_price`: the shortest, smallest video, silent, from the fewest images that it needs. */
export function fromPriceNanoUsd(model: VideoModel): NanoUsd | null {
  let least: AttoUsd | null = null;
  for (const images of [0, 1]) {
    for (const shape of plainShapes(model, images)) {
      const price = videoPriceAtto(model, shape);
      if (price !== null) least = least === null ? price : minBigint(least, price);
    }
    if (least !== null) return attoToNanoUp(least);
  }
  return null;
}

function plainShapes(model: VideoModel, images: number): VideoShape[] {
  const { supportedResolutions, supportedAspectRatios, supportedDurations, supportedFrameImages } = model;
  const asFrames = supportedFrameImages.length > 0;
  return supportedResolutions.flatMap((resolution) =>
    supportedAspectRatios.flatMap((aspectRatio) =>
      supportedDurations.map((durationSeconds) => ({
        durationSeconds,
        resolution,
        aspectRatio,
        generateAudio: false,
        frameImages: asFrames ? images : 0,
        inputReferences: asFrames ? 0 : images,
        continues: false,
      })),
    ),
  );
}

function dearestOfMostSpecific(
  all: readonly { rate: VideoRate; cost: AttoUsd }[],
  shape: VideoShape,
): AttoUsd | null {
  const fitting = all.filter(({ rate }) => fits(rate, shape));
  const ofSound = fitting.filter(({ rate }) => rate.sound === null || rate.sound === shape.generateAudio);
  // A model that is priced with sound alone bills a silent video no higher.
  const left = ofSound.length > 0 || shape.generateAudio ? ofSound : fitting;
  return left
    .filter(({ rate }) => !left.some((other) => isMoreSpecific(other.rate, rate)))
    .reduce<AttoUsd | null>((sum, { cost }) => (sum === null ? cost : maxBigint(sum, cost)), null);
}

function fits({ mode, resolution, videoInput }: VideoRate, shape: VideoShape): boolean {
  // The price of another resolution says nothing about this one.
  if (resolution !== null && resolution !== shape.resolution.toLowerCase()) return false;
  if (videoInput !== null && videoInput !== shape.continues) return false;
  const images = shape.frameImages + shape.inputReferences > 0;
  switch (mode) {
    case null:
      return true;
    case 'text':
      return !images && !shape.continues;
    case 'image':
      return images && !shape.continues;
    case 'continuation':
      return shape.continues;
    default:
      return mode satisfies never;
  }
}

/** Says all that the other says, and more. Of two that each say something of their own neither is. */
const isMoreSpecific = (rate: VideoRate, other: VideoRate): boolean =>
  asked.every((each) => other[each] === null || rate[each] !== null) &&
  asked.some((each) => other[each] === null && rate[each] !== null);

const asked = ['mode', 'sound', 'resolution', 'videoInput'] as const;
