import { afterEach, expect, test } from 'vitest';
import type { CatalogSettings } from '#core/catalog/catalog-settings.ts';
import { createCatalog, type LiveCatalog } from '#core/catalog/create-catalog.ts';
import type { ImageModel } from '#core/catalog/image-model.ts';
import type { VideoModel } from '#core/catalog/video-model.ts';
import { fromPriceNanoUsd } from '#core/catalog/video-price.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { atto, provider, row, settings } from './support.ts';

const videoRow = (id: string, usdPerSecond = '0.05') => ({
  id,
  name: id,
  supported_resolutions: ['720p'],
  supported_aspect_ratios: ['16:9'],
  supported_durations: [4],
  supported_frame_images: [],
  generate_audio: false,
  seed: false,
  pricing_skus: { duration_seconds: usdPerSecond },
});

const videoModel = (id: string, given: Partial<VideoModel> = {}): VideoModel => ({
  id,
  name: id,
  createdAtMs: null,
  supportedResolutions: ['720p'],
  supportedAspectRatios: ['16:9'],
  supportedDurations: [4],
  supportedFrameImages: [],
  maxInputReferences: 0,
  generateAudio: false,
  seed: false,
  extends: false,
  providerId: 'p',
  upstreamModel: id,
  skus: new Map([['duration_seconds', atto('0.01')]]),
  ...given,
});

const imageModel = (id: string): ImageModel => ({
  id,
  name: id,
  createdAtMs: null,
  readsImages: false,
  streaming: false,
  parameters: new Map(),
  pricing: [{ billable: 'output_image', unit: 'image', price: atto('0.01'), variant: null }],
  outputTokensMax: new Map(),
  inputImageTokensMax: null,
  providerId: 'p',
  upstreamModel: id,
  endpointTag: null,
});

interface Answers {
  videos: unknown[] | string;
  /** By id, in dollars for one image. */
  images: Record<string, number> | string;
}

const open: LiveCatalog[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

function start(given: CatalogSettings, answers: Answers) {
  const clock = createFakeClock();
  const logged: string[] = [];
  const note = (event: string) => void logged.push(event);
  const catalog = createCatalog({
    settings: given,
    clock,
    log: { info: note, warn: note, error: note },
    bundledSimulatorUrl: null,
    async fetchJson(_, path) {
      if (path === '/models') return { data: [row('text/model')] };
      if (path === '/videos/models') {
        if (typeof answers.videos === 'string') throw new Error(answers.videos);
        return { data: answers.videos };
      }
      if (typeof answers.images === 'string') throw new Error(answers.images);
      if (path === '/images/models') return { data: Object.keys(answers.images).map((id) => ({ id })) };
      const id = path.split('/').slice(3, -1).join('/');
      const pricing = [{ billable: 'output_image', unit: 'image', cost_usd: answers.images[id] }];
      return { id, endpoints: [{ provider_tag: 'cloud', pricing }] };
    },
  });
  open.push(catalog);
  const advance = async (ms: number): Promise<void> => {
    clock.advance(ms);
    for (let turn = 0; turn < 5; turn++) await new Promise(setImmediate);
  };
  return { catalog, answers, logged, advance };
}

const good: Answers = { videos: [videoRow('acme/clip')], images: { 'acme/painter': 0.03 } };

test('video and image models are found once their lists have come, each kind by itself', async () => {
  const { catalog } = start(settings(), { ...good });
  expect(catalog.findVideoModel('acme/clip').status).toBe('unavailable');
  expect(catalog.findImageModel('acme/painter').status).toBe('unavailable');
  await catalog.refresh();
  expect(catalog.findVideoModel('acme/clip')).toMatchObject({ status: 'served', model: { id: 'acme/clip' } });
  expect(catalog.findImageModel('acme/painter')).toMatchObject({ status: 'served' });
  expect(catalog.findVideoModel('acme/painter').status).toBe('unknown');
  expect(catalog.findVideoModel('acme/clop')).toMatchObject({ status: 'unknown', nearest: ['acme/clip'] });
  expect(catalog.find('acme/clip').status).toBe('unknown');
});

test('a list that fails keeps what is served, until it is too old', async () => {
  const { catalog, answers, logged, advance } = start(settings(), { ...good });
  await catalog.refresh();
  answers.videos = 'The provider answered 500.';
  await advance(HOUR_MS);
  expect(catalog.findVideoModel('acme/clip').status).toBe('served');
  answers.videos = [];
  await advance(MINUTE_MS);
  expect(catalog.findVideoModel('acme/clip').status).toBe('served');
  await advance(DAY_MS);
  await advance(MINUTE_MS);
  expect(catalog.findVideoModel('acme/clip').status).toBe('unavailable');
  expect(catalog.videoModels()).toEqual([]);
  // The other lists came all the time.
  expect(catalog.findImageModel('acme/painter').status).toBe('served');
  expect(catalog.find('text/model').status).toBe('served');
  expect(logged).toEqual([
    'a list of video models did not come, it is asked for again',
    'a list of video models is too old, they are not served until it comes',
  ]);
  answers.videos = [videoRow('acme/clip')];
  await advance(MINUTE_MS);
  expect(catalog.findVideoModel('acme/clip').status).toBe('served');
});

test('a price that jumps is held back until the operator takes it', async () => {
  const { catalog, answers, advance } = start(settings(), { ...good });
  await catalog.refresh();
  answers.videos = [videoRow('acme/clip', '0.5')];
  answers.images = { 'acme/painter': 0.3 };
  await advance(HOUR_MS);
  const prices = () => [
    catalog.videoModels()[0]?.skus.get('duration_seconds'),
    catalog.imageModels()[0]?.pricing[0]?.price,
  ];
  expect(prices()).toEqual([atto('0.05'), atto('0.03')]);
  expect(catalog.status().map(({ list, heldBack }) => [list, heldBack])).toEqual([
    ['models', []],
    ['video models', ['acme/clip']],
    ['image models', ['acme/painter']],
  ]);
  await catalog.acceptPrices();
  expect(prices()).toEqual([atto('0.5'), atto('0.3')]);
});

test("the operator's margin is in every price, rounded up", async () => {
  const margin = settings({
    providers: [provider({ priceFactorPpm: 1_055_000n })],
    videos: {
      models: [videoModel('own/clip', { skus: new Map([['duration_seconds', 1n]]) })],
      stopped: [],
      changes: new Map(),
    },
  });
  const { catalog } = start(margin, { ...good });
  await catalog.refresh();
  const [own, imported] = catalog.videoModels();
  expect(own?.skus.get('duration_seconds')).toBe(2n);
  expect(imported?.skus.get('duration_seconds')).toBe(atto('0.05275'));
  expect(catalog.imageModels()[0]?.pricing[0]?.price).toBe(atto('0.03165'));
  expect(imported && fromPriceNanoUsd(imported)).toBe(211_000_000n);
});

test('own models win over imported ones of the same id, and stopped ones are not served', async () => {
  const own = settings({
    videos: { models: [videoModel('acme/clip')], stopped: ['acme/stopped'], changes: new Map() },
    images: { models: [imageModel('own/painter')], stopped: ['acme/painter'] },
  });
  const { catalog } = start(own, { ...good, videos: [videoRow('acme/clip'), videoRow('acme/stopped')] });
  await catalog.refresh();
  expect(catalog.videoModels().map(({ id, skus }) => [id, skus.get('duration_seconds')])).toEqual([
    ['acme/clip', atto('0.01')],
  ]);
  expect(catalog.findVideoModel('acme/stopped').status).toBe('not_served');
  expect(catalog.findImageModel('acme/painter').status).toBe('not_served');
  expect(catalog.imageModels().map(({ id }) => id)).toEqual(['own/painter']);
});

test('what no list says of an imported model the configuration may say', async () => {
  const changed = settings({
    videos: {
      models: [],
      stopped: [],
      changes: new Map([['acme/clip', { maxInputReferences: 3, extends: true }]]),
    },
  });
  const { catalog } = start(changed, { ...good });
  await catalog.refresh();
  expect(catalog.videoModels()[0]).toMatchObject({ maxInputReferences: 3, extends: true, name: 'acme/clip' });
});

test('a changed configuration counts at once', async () => {
  const { catalog } = start(settings(), { ...good });
  await catalog.refresh();
  const before = catalog.videoModels();
  expect(catalog.videoModels()).toBe(before);
  catalog.apply(settings({ videos: { models: [], stopped: ['acme/clip'], changes: new Map() } }));
  expect(catalog.findVideoModel('acme/clip').status).toBe('not_served');
  expect(catalog.findImageModel('acme/painter').status).toBe('served');
});
