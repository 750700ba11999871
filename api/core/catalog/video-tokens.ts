import type { VideoShape } from './video-model.ts';

const FRAMES_PER_SECOND = 24;
const PIXELS_PER_TOKEN = 1024;
/** Images are coded in blocks of so many pixels. */
const BLOCK = 16;
/** The shorter side of resolutions that are named by the longer. */
const SHORT_SIDES: ReadonlyMap<string, number> = new Map([
  ['1k', 1024],
  ['2k', 1440],
  ['4k', 2160],
]);

/** Of a model that bills by the token, rounded up; `null`: how large its frames are is not known. */
export function videoTokens({
  resolution,
  aspectRatio,
  durationSeconds,
}: Pick<VideoShape, 'resolution' | 'aspectRatio' | 'durationSeconds'>): bigint | null {
  const short = shortSide(resolution.toLowerCase());
  const ratio = longByShort(aspectRatio);
  if (short === null || ratio === null) return null;
  // Some keep the shorter side, others the area of 16:9: the larger of both.
  const pixels = Math.max(area(short, ratio), area(short, 16 / 9));
  // The image that it starts with is billed, too.
  const frames = FRAMES_PER_SECOND * durationSeconds + 1;
  return BigInt(Math.ceil((pixels * frames) / PIXELS_PER_TOKEN));
}

function shortSide(resolution: string): number | null {
  const lines = /^(\d{3,4})p$/.exec(resolution)?.[1];
  return lines === undefined ? (SHORT_SIDES.get(resolution) ?? null) : Number(lines);
}

function longByShort(aspectRatio: string): number | null {
  const [, width, height] = /^(\d{1,2}(?:\.\d)?):(\d{1,2}(?:\.\d)?)$/.exec(aspectRatio) ?? [];
  const sides = [Number(width), Number(height)];
  return sides.every((side) => side > 0) ? Math.max(...sides) / Math.min(...sides) : null;
}

const area = (short: number, ratio: number): number => sideMax(short) * sideMax(short * ratio);

/** One block more than its name says: of 480p some make 496 lines, of 720p at 4:3 834 by 1112. */
const sideMax = (side: number): number => (Math.ceil(side / BLOCK) + 1) * BLOCK;
