import { type AttoUsd, attoUsd, maxBigint } from '#core/money.ts';

/** The videos of the simulator: one model for every way in which a real row can surprise an importer. */
export interface SimVideoModel {
  id: string;
  name: string;
  /** `null`, as in rows of models that edit or upscale. */
  resolutions: readonly string[] | null;
  aspectRatios: readonly string[] | null;
  durations: readonly number[] | null;
  frameImages: readonly string[] | null;
  references: number;
  /** `null`: not said. */
  generateAudio: boolean | null;
  seed: boolean | null;
  skus: Readonly<Record<string, string>> | null;
  /** What it really takes: said once more by hand, so that who reads the keys wrongly is found out. */
  priceAtto(video: SimVideo): AttoUsd;
}

export interface SimVideo {
  seconds: number;
  widthPx: number;
  heightPx: number;
  resolution: string;
  sound: boolean;
  images: number;
}

const model = (
  given: Pick<SimVideoModel, 'id' | 'name' | 'skus' | 'priceAtto'> & Partial<SimVideoModel>,
): SimVideoModel => ({
  resolutions: ['720p', '480p'],
  aspectRatios: ['16:9', '9:16', '1:1'],
  durations: [4, 1, 2],
  frameImages: [],
  references: 0,
  generateAudio: false,
  seed: false,
  ...given,
});

const free = (): AttoUsd => 0n;
const perSecond = (usd: string, { seconds }: SimVideo): AttoUsd => attoUsd(usd) * BigInt(seconds);

export const simVideoModels: readonly SimVideoModel[] = [
  model({
    id: 'faregate-sim/clip',
    name: 'Sim Clip',
    frameImages: ['first_frame', 'last_frame'],
    generateAudio: true,
    seed: true,
    skus: {
      duration_seconds_with_audio: '0.08',
      duration_seconds_without_audio: '0.05',
      duration_seconds_with_audio_480p: '0.04',
      duration_seconds_without_audio_480p: '0.025',
    },
    priceAtto(video) {
      const small = video.resolution === '480p';
      if (video.sound) return perSecond(small ? '0.04' : '0.08', video);
      return perSecond(small ? '0.025' : '0.05', video);
    },
  }),
  model({
    id: 'faregate-sim/reel',
    name: 'Sim Reel',
    references: 3,
    skus: {
      cents_per_video_output_second_480p: '2',
      cents_per_video_output_second_720p: '3.5',
      cents_per_image_input: '1',
      minimum_cents_per_generation: '4',
    },
    priceAtto(video) {
      const made = perSecond(video.resolution === '480p' ? '0.02' : '0.035', video);
      return maxBigint(made + attoUsd('0.01') * BigInt(video.images), attoUsd('0.04'));
    },
  }),
  model({
    id: 'faregate-sim/dream',
    name: 'Sim Dream',
    aspectRatios: ['16:9', '21:9'],
    frameImages: ['first_frame'],
    seed: true,
    skus: { video_tokens: '0.000000007' },
    priceAtto: ({ widthPx, heightPx, seconds }) =>
      attoUsd('0.000000007') * BigInt(Math.ceil((widthPx * heightPx * 24 * seconds) / 1024)),
  }),
  model({
    id: 'faregate-sim/upscale',
    name: 'Sim Upscale',
    resolutions: null,
    aspectRatios: null,
    durations: null,
    frameImages: null,
    generateAudio: null,
    seed: null,
    skus: { cents_per_megapixel_second: '1' },
    priceAtto: free,
  }),
  model({ id: 'faregate-sim/wish', name: 'Sim Wish', skus: { credits_per_wish: '3' }, priceAtto: free }),
  model({ id: 'faregate-sim/unpriced', name: 'Sim Unpriced', skus: null, priceAtto: free }),
];

export const findSimVideoModel = (id: string): SimVideoModel | undefined =>
  simVideoModels.find((each) => each.id === id);

/** Short side by resolution, the other by the ratio; whole and even, as the codec wants it. */
export function sidesOf(resolution: string, aspectRatio: string): { widthPx: number; heightPx: number } {
  const short = Number(/^(\d+)p$/.exec(resolution)?.[1] ?? 480);
  const [width = 16, height = 9] = aspectRatio.split(':').map(Number);
  const even = (side: number): number => Math.round(side / 2) * 2;
  return width >= height
    ? { widthPx: even((short * width) / height), heightPx: short }
    : { widthPx: short, heightPx: even((short * height) / width) };
}
