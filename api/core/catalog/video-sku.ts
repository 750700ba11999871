/** What a provider's price key bills, read from its name alone. */
export type VideoSku =
  | VideoRate
  /** By the second of what is read; by the image that is read, as frame or reference; as reference; the least of a video. */
  | { bills: 'reference_second' | 'image' | 'reference' | 'least'; cents: boolean };

/** `null`: whatever is asked for. */
export interface VideoRate {
  bills: 'second' | 'token';
  cents: boolean;
  mode: 'text' | 'image' | 'continuation' | null;
  sound: boolean | null;
  /** Lower case, as `720p`. */
  resolution: string | null;
  videoInput: boolean | null;
}

const RESOLUTION = String.raw`(?:_(?<resolution>\d{3,4}p|\d{1,2}k))?`;
const SOUND = '(?:_(?<sound>with|without)_audio)?';

const RATES: readonly { pattern: RegExp; bills: VideoRate['bills']; mode: VideoRate['mode'] }[] = [
  { pattern: rate(`duration_seconds${SOUND}${RESOLUTION}`), bills: 'second', mode: null },
  { pattern: rate(`text_to_video_duration_seconds${SOUND}${RESOLUTION}`), bills: 'second', mode: 'text' },
  { pattern: rate(`image_to_video_duration_seconds${SOUND}${RESOLUTION}`), bills: 'second', mode: 'image' },
  { pattern: rate(`cents_per_second_output${RESOLUTION}`), bills: 'second', mode: null },
  { pattern: rate(`cents_per_video_output_second${RESOLUTION}${SOUND}`), bills: 'second', mode: null },
  {
    pattern: rate(`cents_per_second_video_continuation${RESOLUTION}`),
    bills: 'second',
    mode: 'continuation',
  },
  {
    pattern: rate(`video_tokens${RESOLUTION}(?:_(?<input>with|without)_video_input)?${SOUND}`),
    bills: 'token',
    mode: null,
  },
];

const OTHERS: ReadonlyMap<string, VideoSku> = new Map([
  ['reference_duration_seconds', { bills: 'reference_second', cents: false }],
  ['cents_per_image_input', { bills: 'image', cents: true }],
  ['reference_images', { bills: 'reference', cents: false }],
  ['minimum_cents_per_generation', { bills: 'least', cents: true }],
]);

/** `null`: nobody knows what it bills, or by what; then no video of its model has a bound. */
export function parseVideoSku(key: string): VideoSku | null {
  const other = OTHERS.get(key);
  if (other !== undefined) return other;
  for (const { pattern, bills, mode } of RATES) {
    const groups = pattern.exec(key)?.groups;
    if (groups === undefined) continue;
    const { sound, resolution = null, input } = groups;
    const cents = key.startsWith('cents_');
    return { bills, cents, mode, sound: isWith(sound), resolution, videoInput: isWith(input) };
  }
  return null;
}

function rate(pattern: string): RegExp {
  return new RegExp(`^${pattern}$`);
}

const isWith = (word: string | undefined): boolean | null => (word === undefined ? null : word === 'with');
