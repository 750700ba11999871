import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway, until } from '../support/gateway.ts';
import { startTestProvider, type TestProvider } from '../support/provider.ts';

let provider: TestProvider;
let gateway: TestGateway;

beforeAll(async () => {
  provider = await startTestProvider();
  gateway = await startTestGateway({ provider });
  await until(() => gateway.running.deps.catalog.imageModels().length > 0);
});
afterAll(async () => {
  await gateway.stop();
  await provider.close();
});

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(gateway.baseUrl + path, { headers });

interface List {
  object: string;
  data: { id: string; [field: string]: unknown }[];
}

const read = async (path: string): Promise<List> => JSON.parse(await (await get(path)).text());
const entry = (list: List, id: string) => list.data.find((each) => each.id === id);

test('video models are listed with what they take and what the shortest, smallest one costs', async () => {
  const list = await read('/videos/models');
  expect(list.object).toBe('list');
  expect(list.data.map(({ id }) => id)).toEqual([
    'faregate-sim/clip',
    'faregate-sim/reel',
    'faregate-sim/dream',
  ]);
  expect(entry(list, 'faregate-sim/clip')).toEqual({
    id: 'faregate-sim/clip',
    object: 'model',
    name: 'Sim Clip',
    supported_resolutions: ['720p', '480p'],
    supported_aspect_ratios: ['16:9', '9:16', '1:1'],
    supported_durations: [1, 2, 4],
    supported_frame_images: ['first_frame', 'last_frame'],
    max_input_references: 0,
    generate_audio: true,
    seed: true,
    extends: false,
    from_price: '0.025',
  });
  expect(entry(list, 'faregate-sim/reel')).toMatchObject({ max_input_references: 3, from_price: '0.04' });
});

test('image models are listed with their fields and the price of each billed item', async () => {
  const list = await read('/images/models');
  expect(list.data.map(({ id }) => id)).toEqual([
    'faregate-sim/paint',
    'faregate-sim/sketch',
    'faregate-sim/develop',
  ]);
  expect(entry(list, 'faregate-sim/paint')).toEqual({
    id: 'faregate-sim/paint',
    object: 'model',
    name: 'Sim Paint',
    reads_images: false,
    streaming: false,
    parameters: {
      n: { type: 'range', min: 1, max: 4 },
      resolution: { type: 'enum', values: ['512', '1K', '2K'] },
      aspect_ratio: { type: 'enum', values: ['1:1', '16:9', '9:16', '3:2'] },
      output_format: { type: 'enum', values: ['png', 'webp'] },
      seed: { type: 'range', min: 0, max: 2_147_483_647 },
    },
    pricing: [
      { billable: 'output_image', unit: 'image', usd: '0.01', variant: '512' },
      { billable: 'output_image', unit: 'image', usd: '0.02', variant: '1k' },
      { billable: 'output_image', unit: 'image', usd: '0.04', variant: '2k' },
    ],
  });
  expect(entry(list, 'faregate-sim/develop')).toMatchObject({ reads_images: true, streaming: true });
  // Pinned to the endpoint of no special tier: these are its prices.
  expect(entry(list, 'faregate-sim/sketch')?.pricing).toContainEqual({
    billable: 'output_image',
    unit: 'token',
    usd: '0.00003',
  });
});

describe.each(['/videos/models', '/images/models'])('GET %s', (path) => {
  test.each<[string, Record<string, string>]>([
    ['no key', {}],
    ['a wrong key', { authorization: 'Bearer fg_wrong' }],
    ['two different keys', { authorization: 'Bearer fg_one', 'x-api-key': 'fg_two' }],
    ['no bearer', { authorization: 'Basic dXNlcjpwYXNz' }],
  ])('answers the same with %s', async (_, headers) => {
    const plain = await (await get(path)).text();
    const answer = await get(path, headers);
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe(plain);
  });

  test('may be kept for minutes, and who has it already is told so in a line', async () => {
    const first = await get(path);
    const etag = first.headers.get('etag') ?? '';
    expect(first.headers.get('cache-control')).toBe('public, max-age=300');
    expect(first.headers.get('access-control-allow-origin')).toBe('*');
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`]) {
      const again = await get(path, { 'if-none-match': known });
      expect(again.status).toBe(304);
      expect(await again.text()).toBe('');
      expect(again.headers.get('etag')).toBe(etag);
    }
    expect((await get(path, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('is the same with a query string, and by HEAD has no body', async () => {
    expect(await (await get(`${path}?page=2`)).text()).toBe(await (await get(path)).text());
    const head = await fetch(gateway.baseUrl + path, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
  });

  test('names no provider', async () => {
    const text = await (await get(path)).text();
    for (const hidden of ['SimCloud', 'sim-cloud', 'SimFast', provider.baseUrl])
      expect(text).not.toContain(hidden);
  });
});

test('the list of video models is no video: its path wins over that of a video by its id', async () => {
  expect((await get('/videos/vid_aaaaaaaaaaaaaaaaaaaa')).status).toBe(401);
  expect((await get('/videos/models')).status).toBe(200);
});

test('a model that the operator stops is gone from the list at once, which then has another ETag', async () => {
  const { catalog, config } = gateway.running.deps;
  const started = config.current();
  const before = await get('/videos/models');
  catalog.apply({ ...started, videos: { ...started.videos, stopped: ['faregate-sim/clip'] } });
  const after = await get('/videos/models', { 'if-none-match': before.headers.get('etag') ?? '' });
  catalog.apply(started);
  expect(after.status).toBe(200);
  expect(after.headers.get('etag')).not.toBe(before.headers.get('etag'));
  expect(await after.text()).not.toContain('faregate-sim/clip');
  expect((await get('/videos/models')).headers.get('etag')).toBe(before.headers.get('etag'));
});

test('an empty list is not kept: it may be full in a second', async () => {
  await using empty = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers: [{ id: sim, kind: simulator, baseUrl: PROVIDER_URL, catalog: none }]
`,
  });
  const answer = await fetch(`${empty.baseUrl}/videos/models`);
  expect(await answer.json()).toEqual({ object: 'list', data: [] });
  expect(answer.headers.get('cache-control')).toBe('no-cache');
});
