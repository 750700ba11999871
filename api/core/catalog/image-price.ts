import { type AttoUsd, maxBigint } from '../money.ts';
import type { ImageModel, ImagePrice } from './image-model.ts';

/** What decides the price of images. `null`: the caller did not say. */
export interface ImageShape {
  images: number;
  promptBytes: number;
  references: number;
  resolution: string | null;
  size: string | null;
  quality: string | null;
}

/** The most that such a request costs by the price lines, not rounded. `null`: it has no bound. */
export function imageHoldAtto(model: ImageModel, shape: ImageShape): AttoUsd | null {
  const groups = new Map<string, ImagePrice[]>();
  for (const line of model.pricing) {
    const group = `${line.billable} ${line.unit}`;
    groups.set(group, [...(groups.get(group) ?? []), line]);
  }
  let sum = 0n;
  for (const lines of groups.values()) {
    const dearest = dearestOf(model, lines, shape);
    if (dearest === null) return null;
    sum += dearest;
  }
  return sum;
}

/** One line of each billed item counts; which one is known only as far as the caller has said what it wants. */
function dearestOf(model: ImageModel, lines: readonly ImagePrice[], shape: ImageShape): AttoUsd | null {
  const possible = lines.filter(({ variant }) => variant === null || isPossible(variant, shape));
  let most = 0n;
  for (const line of possible.length > 0 ? possible : lines) {
    const units = unitsMax(model, line, shape);
    if (units === null) return null;
    most = maxBigint(most, units * line.price);
  }
  return most;
}

const TIER = /^(512|\d(\.\d)?k)$/;
const PIXELS = /^(\d{1,5})x(\d{1,5})$/;
const QUALITY = /^(low|medium|high)$/;

function isPossible(variant: string, shape: ImageShape): boolean {
  const wanted = variant.toLowerCase();
  const size = shape.size?.toLowerCase() ?? null;
  if (QUALITY.test(wanted)) {
    const quality = shape.quality?.toLowerCase() ?? 'auto';
    return !QUALITY.test(quality) || quality === wanted;
  }
  if (PIXELS.test(wanted)) return size === null || !PIXELS.test(size) || size === wanted;
  if (TIER.test(wanted)) {
    // A size in pixels wins over a tier, and to which tier it belongs is the provider's to say.
    const tier = size ?? shape.resolution?.toLowerCase() ?? null;
    return tier === null || !TIER.test(tier) || tier === wanted;
  }
  return true;
}

function unitsMax(
  model: ImageModel,
  { billable, unit, variant }: ImagePrice,
  shape: ImageShape,
): bigint | null {
  switch (billable) {
    case 'output_image': {
      const images = BigInt(shape.images);
      // A router may make one request of each image.
      if (unit === 'image' || unit === 'request') return images;
      if (unit === 'megapixel') return images * megapixelsMax(model, shape);
      const tokens = outputTokensMax(model, variant, shape);
      return tokens === null ? null : images * BigInt(tokens);
    }
    case 'input_image':
    case 'input_reference': {
      const references = BigInt(shape.references);
      if (unit === 'image' || unit === 'request') return references;
      if (unit === 'megapixel') return references * LARGEST_MEGAPIXELS;
      if (references === 0n) return 0n;
      return model.inputImageTokensMax === null ? null : references * BigInt(model.inputImageTokensMax);
    }
    case 'input_text':
      if (unit === 'request') return BigInt(shape.images);
      // Never fewer bytes than tokens; each image may read the prompt anew.
      return unit === 'token' ? BigInt(shape.images * (shape.promptBytes + PROMPT_FRAME_TOKENS)) : null;
    default:
      return billable satisfies never;
  }
}

/** What a provider's own frame may add to a prompt. */
const PROMPT_FRAME_TOKENS = 512;

/** Tiers are areas, and a little more at some shapes of the image; a started megapixel counts. */
const MEGAPIXELS: ReadonlyMap<string, bigint> = new Map([
  ['512', 1n],
  ['0.5k', 1n],
  ['1k', 2n],
  ['2k', 5n],
  ['4k', 18n],
]);
/** No model that is known makes or reads a larger image. */
const LARGEST_MEGAPIXELS = 18n;

function megapixelsMax({ parameters }: ImageModel, { size, resolution }: ImageShape): bigint {
  const asked = size ?? resolution;
  const known = asked === null ? null : megapixelsOf(asked);
  if (known !== null) return known;
  const tiers = parameters.get('resolution');
  const sizes = parameters.get('size');
  const values = [tiers, sizes].flatMap((each) => (each?.type === 'enum' ? each.values : []));
  if (values.length === 0) return LARGEST_MEGAPIXELS;
  return values.map((value) => megapixelsOf(String(value)) ?? LARGEST_MEGAPIXELS).reduce(maxBigint);
}

function megapixelsOf(asked: string): bigint | null {
  const [, width, height] = PIXELS.exec(asked.toLowerCase()) ?? [];
  if (width === undefined || height === undefined) return MEGAPIXELS.get(asked.toLowerCase()) ?? null;
  return (BigInt(width) * BigInt(height) + 999_999n) / 1_000_000n;
}

function outputTokensMax(
  { outputTokensMax: known }: ImageModel,
  variant: string | null,
  shape: ImageShape,
): number | null {
  const exact = variant === null ? undefined : known.get(variant.toLowerCase());
  if (exact !== undefined) return exact;
  const possible = [...known].filter(([of]) => of === '' || isPossible(of, shape));
  const counts = (possible.length > 0 ? possible : [...known]).map(([, tokens]) => tokens);
  return counts.length === 0 ? null : Math.max(...counts);
}

/** The largest request of all has a hold. A free model is not served. */
export function isBounded(model: ImageModel): boolean {
  const asked = { images: 1, promptBytes: 1, references: model.readsImages ? 1 : 0 };
  const hold = imageHoldAtto(model, { ...asked, resolution: null, size: null, quality: null });
  return hold !== null && hold > 0n;
}
