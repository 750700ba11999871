import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { VideoModel, VideoShape } from '#core/catalog/video-model.ts';
import { fromPriceNanoUsd, videoPriceAtto } from '#core/catalog/video-price.ts';
import { parseVideoSku } from '#core/catalog/video-sku.ts';
import { atto } from './support.ts';

const shape = (given: Partial<VideoShape> = {}): VideoShape => ({
  durationSeconds: 4,
  resolution: '720p',
  aspectRatio: '16:9',
  generateAudio: false,
  frameImages: 0,
  inputReferences: 0,
  continues: false,
  ...given,
});

type Skus = Record<string, string>;

const price = (skus: Skus, given: Partial<VideoShape> = {}): bigint | null =>
  videoPriceAtto({ skus: new Map(Object.entries(skus).map(([key, usd]) => [key, atto(usd)])) }, shape(given));

const veo: Skus = {
  duration_seconds_with_audio: '0.08',
  duration_seconds_without_audio: '0.05',
  duration_seconds_with_audio_720p: '0.05',
  duration_seconds_without_audio_720p: '0.03',
};
const grok: Skus = {
  cents_per_video_output_second_480p: '2',
  cents_per_video_output_second_720p: '3',
  cents_per_video_output_second_1080p: '14',
  cents_per_image_input: '1',
};
const kling: Skus = {
  duration_seconds_720p: '0.07',
  duration_seconds_1080p: '0.1',
  duration_seconds_with_audio: '0.14',
};
const modes: Skus = {
  text_to_video_duration_seconds_720p: '0.1',
  image_to_video_duration_seconds_720p: '0.2',
  reference_images: '0.03',
};

test.each<[string, Skus, Partial<VideoShape>, string | null]>([
  ['by the second', { duration_seconds: '0.05' }, {}, '0.2'],
  ['by the second of its resolution', veo, {}, '0.12'],
  ['with sound by its resolution', veo, { generateAudio: true }, '0.2'],
  ['by sound where no key names its resolution', veo, { resolution: '1080p', generateAudio: true }, '0.32'],
  ['never by the key of another resolution', { duration_seconds_1080p: '0.05' }, {}, null],
  ['in cents where the key says so', grok, {}, '0.12'],
  ['in cents of another resolution', grok, { resolution: '1080P' }, '0.56'],
  ['with a fee for each image', grok, { frameImages: 2 }, '0.14'],
  ['with a fee for each reference as for each image', grok, { inputReferences: 3 }, '0.15'],
  ['silent by its resolution, though sound has a key', kling, {}, '0.28'],
  ['by the dearest of keys that say as much', kling, { generateAudio: true }, '0.56'],
  [
    'by the dearest of keys that each say something of their own',
    { text_to_video_duration_seconds_720p: '0.1', duration_seconds_with_audio: '0.2' },
    { generateAudio: true },
    '0.8',
  ],
  ['by the mode: from words', modes, {}, '0.4'],
  ['by the mode: from images', modes, { frameImages: 1 }, '0.8'],
  ['by the mode: from references, each with its fee', modes, { inputReferences: 2 }, '0.86'],
  [
    'not at all in a mode that has no key',
    { text_to_video_duration_seconds: '0.1' },
    { frameImages: 1 },
    null,
  ],
  ['at its floor', { cents_per_second_output: '28', minimum_cents_per_generation: '200' }, {}, '2'],
  ['above its floor', { cents_per_second_output: '28', minimum_cents_per_generation: '56' }, {}, '1.12'],
  [
    'by the price of continuing',
    { cents_per_second_output: '5', cents_per_second_video_continuation_720p: '9' },
    { continues: true },
    '0.36',
  ],
  [
    'not by the price of continuing',
    { cents_per_second_output: '5', cents_per_second_video_continuation_720p: '9' },
    {},
    '0.2',
  ],
  [
    'silent at the price with sound, where there is no other',
    { duration_seconds_with_audio: '0.08' },
    {},
    '0.32',
  ],
  [
    'never with sound at the silent price',
    { duration_seconds_without_audio: '0.05' },
    { generateAudio: true },
    null,
  ],
  [
    'with the seconds of what it reads',
    { duration_seconds: '0.05', reference_duration_seconds: '0.02' },
    { inputReferences: 1 },
    '0.28',
  ],
  ['not at all by a key that nobody knows', { duration_seconds: '0.05', credits: '1' }, {}, null],
  ['not at all by the megapixel', { duration_seconds: '0.05', cents_per_megapixel_second: '1' }, {}, null],
  ['not at all by a fee alone', { cents_per_image_input: '1' }, { frameImages: 1 }, null],
  ['not at all without keys', {}, {}, null],
])('a video is priced %s', (_, skus, given, usd) => {
  expect(price(skus, given)).toBe(usd === null ? null : atto(usd));
});

describe('tokens of a video', () => {
  const perToken = { video_tokens: '0.000007' };

  test.each<[Partial<VideoShape>, number | null]>([
    [{ durationSeconds: 5 }, 112_712],
    [{ durationSeconds: 5, aspectRatio: '9:16' }, 112_712],
    [{ durationSeconds: 5, resolution: '480p' }, 51_577],
    [{ durationSeconds: 1, resolution: '1080p' }, 52_182],
    // The area of 16:9, where a square of 720 lines would be less.
    [{ durationSeconds: 5, aspectRatio: '1:1' }, 112_712],
    [{ durationSeconds: 5, aspectRatio: '21:9' }, 147_499],
    [{ durationSeconds: 1, resolution: '4K' }, 204_850],
    [{ resolution: 'huge' }, null],
    [{ aspectRatio: 'auto' }, null],
    [{ aspectRatio: '0:1' }, null],
  ])('of %o are %s', (given, tokens) => {
    expect(price(perToken, given)).toBe(tokens === null ? null : atto('0.000007') * BigInt(tokens));
  });

  // As Seedance's answers say, and its list of sizes.
  test.each([
    ['480p', '16:9', (864 * 496 * 121) / 1024],
    ['480p', '4:3', (752 * 560 * 121) / 1024],
    ['480p', '21:9', (992 * 432 * 121) / 1024],
    ['720p', '16:9', 108_900],
    ['720p', '1:1', 108_900],
    ['720p', '4:3', (1112 * 834 * 121) / 1024],
    ['720p', '21:9', (1470 * 630 * 121) / 1024],
    ['1080p', '16:9', 246_840],
    ['1080p', '4:3', (1664 * 1248 * 121) / 1024],
    ['1080p', '21:9', (2206 * 946 * 121) / 1024],
  ])('of five seconds in %s at %s are no fewer than a provider bills', (resolution, aspectRatio, billed) => {
    const held = price({ video_tokens: '1' }, { durationSeconds: 5, resolution, aspectRatio }) ?? 0n;
    expect(Number(held / atto('1'))).toBeGreaterThanOrEqual(billed);
  });

  test('are dearer with a video to read, and only then', () => {
    const both = { video_tokens_without_video_input: '0.000007', video_tokens_with_video_input: '0.000004' };
    expect(price(both, { durationSeconds: 5 })).toBe(atto('0.788984'));
    expect(price(both, { durationSeconds: 5, continues: true })).toBe(atto('0.450848'));
  });
});

test.each([
  'duration_second',
  'per-video-second',
  'generate',
  'cents_per_megapixel_second_upscale',
  'video_tokens_8m',
  'duration_seconds_with_audio_720p_fast',
  ' duration_seconds',
  'DURATION_SECONDS',
  '',
])('nobody knows what the key %j bills', (key) => {
  expect(parseVideoSku(key)).toBeNull();
});

const model = (given: Partial<VideoModel>): VideoModel => ({
  id: 'x/y',
  name: 'Y',
  createdAtMs: null,
  supportedResolutions: ['1080p', '480p'],
  supportedAspectRatios: ['16:9'],
  supportedDurations: [2, 8],
  supportedFrameImages: [],
  maxInputReferences: 0,
  generateAudio: true,
  seed: false,
  extends: false,
  providerId: 'p',
  upstreamModel: 'x/y',
  skus: new Map(),
  ...given,
});
const from = (skus: Skus, given: Partial<VideoModel> = {}) =>
  fromPriceNanoUsd(
    model({ ...given, skus: new Map(Object.entries(skus).map(([key, usd]) => [key, atto(usd)])) }),
  );

test('the price that a list shows is that of the shortest, smallest video, silent, rounded up', () => {
  expect(from({ duration_seconds_480p: '0.01', duration_seconds: '0.05' })).toBe(20_000_000n);
  expect(from({ duration_seconds: '0.0000000001' })).toBe(1n);
  expect(
    from(
      { image_to_video_duration_seconds: '0.1', cents_per_image_input: '1' },
      { supportedFrameImages: ['first_frame'] },
    ),
  ).toBe(210_000_000n);
  expect(from({ image_to_video_duration_seconds: '0.1' }, { maxInputReferences: 1 })).toBe(200_000_000n);
  expect(from({ duration_seconds_720p: '0.1' })).toBeNull();
});

test('a longer video never costs less, nor one with more images', () => {
  const lists = fc.constantFrom(veo, grok, kling, modes, { video_tokens: '0.000007' });
  fc.assert(
    fc.property(
      lists,
      fc.boolean(),
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 8 }),
      (skus, sound, seconds, images) => {
        const given = { generateAudio: sound, durationSeconds: seconds, inputReferences: images };
        const one = price(skus, given);
        if (one === null) return;
        expect(price(skus, { ...given, durationSeconds: seconds + 1 }) ?? 0n).toBeGreaterThanOrEqual(one);
        expect(price(skus, { ...given, inputReferences: images + 1 }) ?? 0n).toBeGreaterThanOrEqual(one);
      },
    ),
  );
});
