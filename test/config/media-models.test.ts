import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkCatalog } from '#core/catalog/check-catalog.ts';
import { atto } from '../catalog/support.ts';
import { load, mistakes } from './support.ts';

const PROVIDERS =
  'providers: [{ id: r, kind: simulator, catalog: none }, { id: s, kind: openai, baseUrl: "http://h/v1" }]\n';
const CLIP =
  '{ id: a/clip, provider: r, model: clip-1, resolutions: [720p], aspectRatios: ["16:9"], durations: [8, 4, 8]';
const PAINTER = '{ id: a/painter, provider: r, model: painter-1';
const line = (given: string) => `pricing: [{ billable: output_image, ${given} }]`;

test('own models of videos and images are read as written', async () => {
  const config = await load(`${PROVIDERS}
videoModels:
  - ${CLIP}, frameImages: [first_frame], generateAudio: true, pricing: { duration_seconds: "0.05" } }
imageModels:
  - ${PAINTER}, streaming: true, parameters: { n: { min: 1, max: 4 }, quality: { values: [low, high] } }, ${line('unit: token, usd: "0.00003"')}, outputTokensMax: { any: 1000, high: 6000 } }`);
  expect(config.videos).toEqual({
    models: [
      {
        id: 'a/clip',
        name: 'a/clip',
        createdAtMs: null,
        supportedResolutions: ['720p'],
        supportedAspectRatios: ['16:9'],
        supportedDurations: [4, 8],
        supportedFrameImages: ['first_frame'],
        maxInputReferences: 0,
        generateAudio: true,
        seed: false,
        extends: false,
        providerId: 'r',
        upstreamModel: 'clip-1',
        skus: new Map([['duration_seconds', atto('0.05')]]),
      },
    ],
    stopped: [],
    changes: new Map(),
  });
  expect(config.images.models).toEqual([
    {
      id: 'a/painter',
      name: 'a/painter',
      createdAtMs: null,
      readsImages: false,
      streaming: true,
      parameters: new Map<string, unknown>([
        ['n', { type: 'range', min: 1, max: 4 }],
        ['quality', { type: 'enum', values: ['low', 'high'] }],
      ]),
      pricing: [{ billable: 'output_image', unit: 'token', price: atto('0.00003'), variant: null }],
      outputTokensMax: new Map([
        ['', 1_000],
        ['high', 6_000],
      ]),
      inputImageTokensMax: null,
      providerId: 'r',
      upstreamModel: 'painter-1',
      endpointTag: null,
    },
  ]);
  expect(checkCatalog(config)).toEqual([
    'Provider s runs no model: nothing is imported and no model names it.',
  ]);
});

test('of an own model, too, nothing is listed that has no price', async () => {
  const { videos } = await load(
    `${PROVIDERS}videoModels: [${CLIP.replace('[720p]', '[720p, 1080p]')}, pricing: { duration_seconds_720p: "1" } }]`,
  );
  expect(videos.models[0]?.supportedResolutions).toEqual(['720p']);
});

test('a line may stop a model, or say of an imported one what no list says', async () => {
  const { videos, images } = await load(`
videoModels:
  - { id: x/stopped, stopped: true }
  - { id: x/imported, maxInputReferences: 3, extends: true }
imageModels: [{ id: x/gone, stopped: true }]`);
  expect(videos.stopped).toEqual(['x/stopped']);
  expect(videos.models).toEqual([]);
  expect([...videos.changes]).toEqual([['x/imported', { maxInputReferences: 3, extends: true }]]);
  expect(images).toEqual({ models: [], stopped: ['x/gone'] });
});

test.each<[string, string, string[]]>([
  [
    'a provider that is not there',
    `videoModels: [${CLIP.replace('provider: r', 'provider: rr')}, pricing: { duration_seconds: "1" } }]`,
    ['2:39 videoModels[0].provider: names no provider of this configuration; did you mean r?'],
  ],
  [
    'a provider that makes no images',
    `imageModels: [${PAINTER.replace('provider: r', 'provider: s')}, ${line('unit: image, usd: "1"')} }]`,
    [
      '2:42 imageModels[0].provider: names a provider of kind openai: only openrouter and simulator make videos and images',
    ],
  ],
  [
    'what a whole model needs',
    'videoModels: [{ id: a/clip, provider: r, model: m }]',
    ['resolutions', 'aspectRatios', 'durations', 'pricing'].map(
      (key) => `2:15 videoModels[0].${key}: is missing`,
    ),
  ],
  ['prices of images', `imageModels: [${PAINTER} }]`, ['2:15 imageModels[0].pricing: is missing']],
  [
    'a price of no video that it makes',
    `videoModels: [${CLIP}, pricing: { duration_seconds_4k: "1" } }]`,
    ['2:133 videoModels[0].pricing: says of no video what it costs'],
  ],
  [
    'images without a bound',
    `imageModels: [${PAINTER}, ${line('unit: token, usd: "1"')} }]`,
    [
      '2:72 imageModels[0].pricing: has no bound, or is free: with the unit token, outputTokensMax and inputImageTokensMax are needed',
    ],
  ],
  [
    'a field without values',
    `imageModels: [${PAINTER}, parameters: { n: { min: 2, max: 1 } }, ${line('unit: image, usd: "1"')} }]`,
    ['2:80 imageModels[0].parameters.n: needs values, or a min and a max that is not below it'],
  ],
  [
    'the same id twice',
    'videoModels: [{ id: a/b, stopped: true }, { id: a/b, stopped: true }]',
    ['2:49 videoModels[1].id: stands twice in this list'],
  ],
  [
    'an id with a suffix that callers add',
    'videoModels: [{ id: "a/b:free", stopped: true }]',
    [
      '2:21 videoModels[0].id: begins with a dot, or has a suffix that callers add to ids (:online, :free and the like)',
    ],
  ],
])('a configuration is refused for %s', async (_, yaml, lines) => {
  expect(await mistakes(PROVIDERS + yaml)).toEqual(lines);
});

test('a price key that nobody knows is refused by name', async () => {
  const [line = ''] = await mistakes(`${PROVIDERS}videoModels: [${CLIP}, pricing: { duration: "1" } }]`);
  expect(line).toContain('videoModels[0].pricing');
  expect(line).toContain('is no price key of a router');
});

test('the models in the comments of the example file load once they are no comments', async () => {
  const text = readFileSync(new URL('../../faregate.example.yaml', import.meta.url), 'utf8');
  const [before = '', media = ''] = text.split('# videoModels:');
  const config = await load(`${before}videoModels:${media.replaceAll(/^# ?/gm, '')}`, {
    OPENROUTER_API_KEY: 'k',
  });
  expect(config.videos.models.map(({ id }) => id)).toEqual(['acme/clip']);
  expect([...config.videos.changes.keys()]).toEqual(['vendor/imported']);
  expect(config.images.models.map(({ id }) => id)).toEqual(['acme/painter']);
});
