import { expect, test } from 'vitest';
import { importVideoModels } from '../../api/providers/openrouter/lists/import-video-models.ts';
import { atto } from './support.ts';

const row = (given: Record<string, unknown> = {}): Record<string, unknown> => ({
  id: 'acme/clip',
  name: 'Acme Clip',
  created: 1_750_000_000,
  supported_resolutions: ['720p', '1080p'],
  supported_aspect_ratios: ['16:9', '9:16'],
  supported_sizes: null,
  supported_durations: [8, 4, 8],
  supported_frame_images: ['last_frame', 'first_frame', 'middle_frame'],
  generate_audio: true,
  seed: true,
  allowed_passthrough_parameters: ['style'],
  pricing_skus: { duration_seconds_with_audio: '0.08', duration_seconds_without_audio: '0.05' },
  ...given,
});

const read = (...rows: unknown[]) => importVideoModels({ data: rows }, 'p');
const only = (given: Record<string, unknown>) => read(row(given))?.models[0];

test('a row becomes a model of which every listed video has a price', () => {
  expect(read(row())).toEqual({
    notServed: [],
    models: [
      {
        id: 'acme/clip',
        name: 'Acme Clip',
        createdAtMs: 1_750_000_000_000,
        supportedResolutions: ['720p', '1080p'],
        supportedAspectRatios: ['16:9', '9:16'],
        supportedDurations: [4, 8],
        supportedFrameImages: ['first_frame', 'last_frame'],
        maxInputReferences: 0,
        generateAudio: true,
        seed: true,
        extends: false,
        providerId: 'p',
        upstreamModel: 'acme/clip',
        skus: new Map([
          ['duration_seconds_with_audio', atto('0.08')],
          ['duration_seconds_without_audio', atto('0.05')],
        ]),
      },
    ],
  });
});

test.each<[string, Record<string, unknown>]>([
  ['no resolutions, as models that upscale', { supported_resolutions: null }],
  ['no durations', { supported_durations: null }],
  ['no aspect ratios', { supported_aspect_ratios: null }],
  ['an empty list of resolutions', { supported_resolutions: [] }],
  ['a duration of no whole seconds', { supported_durations: [4.5] }],
  ['no prices', { pricing_skus: null }],
  ['an empty list of prices', { pricing_skus: {} }],
  ['a price key that nobody knows', { pricing_skus: { duration_seconds: '0.05', credits: '1' } }],
  ['a price by the megapixel', { pricing_skus: { cents_per_megapixel_second: '1' } }],
  ['a price that is no decimal', { pricing_skus: { duration_seconds: 'cheap' } }],
  ['a negative price', { pricing_skus: { duration_seconds: '-1' } }],
  ['a price as a number, which has been a float', { pricing_skus: { duration_seconds: 0.05 } }],
  ['nothing but free prices', { pricing_skus: { duration_seconds: '0' } }],
  ['prices of no resolution that it lists', { pricing_skus: { duration_seconds_4k: '0.1' } }],
  ['an alias for an id', { id: '~acme/clip-latest' }],
  ['an id that begins with a dot', { id: '.acme/clip' }],
  ['a name that begins with a dot', { id: 'acme/../clip' }],
  ['the suffix of a free version', { id: 'acme/clip:free' }],
])('a model with %s is not served', (_, given) => {
  const list = read(row({ id: 'good/one' }), row(given));
  expect(list?.models.map(({ id }) => id)).toEqual(['good/one']);
  expect(list?.notServed).toEqual([given.id ?? 'acme/clip']);
});

test('what has no price is not listed of a model, and the rest of it is', () => {
  expect(only({ pricing_skus: { duration_seconds_720p: '0.05' } })).toMatchObject({
    supportedResolutions: ['720p'],
    generateAudio: true,
  });
  expect(only({ pricing_skus: { duration_seconds_without_audio: '0.05' } })?.generateAudio).toBe(false);
  expect(
    only({ pricing_skus: { text_to_video_duration_seconds: '0.05' }, max_input_references: 2 }),
  ).toMatchObject({ supportedFrameImages: [], maxInputReferences: 0 });
  expect(only({ pricing_skus: { image_to_video_duration_seconds: '0.05' } })).toMatchObject({
    supportedFrameImages: ['first_frame', 'last_frame'],
  });
  expect(
    only({ supported_aspect_ratios: ['16:9', 'auto'], pricing_skus: { video_tokens: '0.000007' } }),
  ).toMatchObject({
    supportedAspectRatios: ['16:9'],
  });
});

test('what a row does not say it cannot do', () => {
  expect(only({ generate_audio: null, seed: null, supported_frame_images: null })).toMatchObject({
    generateAudio: false,
    seed: false,
    supportedFrameImages: [],
    maxInputReferences: 0,
    extends: false,
  });
  expect(only({ extends: true })?.extends).toBe(false);
});

test('a provider without video models has an empty list, and what is no list is none', () => {
  expect(read()).toEqual({ models: [], notServed: [] });
  for (const answer of [null, {}, [], { data: {} }, 'no']) expect(importVideoModels(answer, 'p')).toBeNull();
});

test.each([null, 7, 'x', [], {}, { id: 7 }, { id: 'x'.repeat(300) }])(
  'the row %j costs no other model',
  (odd) => {
    expect(read(odd, row())?.models).toHaveLength(1);
  },
);

test('of two rows of one id the first counts', () => {
  expect(read(row(), row({ name: 'Other' }))?.models.map(({ name }) => name)).toEqual(['Acme Clip']);
});
