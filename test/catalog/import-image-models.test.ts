import { expect, test } from 'vitest';
import { toProvider } from '#core/catalog/catalog-snapshot.ts';
import type { ImageModel } from '#core/catalog/image-model.ts';
import { type ImportedList, ProviderAnswerError } from '#core/catalog/import-source.ts';
import {
  IMAGE_ENDPOINT_FETCHES,
  readImageModels,
} from '../../api/providers/openrouter/lists/import-image-models.ts';
import { atto, provider as providerSettings } from './support.ts';

const line = (given: Record<string, unknown> = {}) => ({
  billable: 'output_image',
  unit: 'image',
  cost_usd: 0.03,
  ...given,
});
const endpoint = (given: Record<string, unknown> = {}) => ({
  provider_name: 'Cloud',
  provider_slug: 'cloud',
  provider_tag: 'cloud',
  supported_parameters: {
    n: { type: 'range', min: 1, max: 4 },
    resolution: { type: 'enum', values: ['1K', '2K'] },
  },
  allowed_passthrough_parameters: [],
  supports_streaming: false,
  pricing: [line()],
  ...given,
});

type Endpoints = Record<string, unknown[] | Error>;

/** As the provider answers: a list, and behind it the endpoints of each model. */
async function read(
  endpoints: Endpoints,
  { before = null, rows }: { before?: ImportedList<ImageModel> | null; rows?: unknown } = {},
) {
  const asked: string[] = [];
  let running = 0;
  let most = 0;
  const list = await readImageModels({
    provider: toProvider(providerSettings(), null),
    nowMs: 0,
    before,
    async fetchJson(_, path) {
      asked.push(path);
      running += 1;
      most = Math.max(most, running);
      await new Promise(setImmediate);
      running -= 1;
      if (path === '/images/models') {
        if (rows instanceof Error) throw rows;
        return (
          rows ?? { data: Object.keys(endpoints).map((id) => ({ id, name: `Name of ${id}`, created: 5 })) }
        );
      }
      const id = path.slice('/images/models/'.length, -'/endpoints'.length);
      const found = endpoints[id] ?? [];
      if (found instanceof Error) throw found;
      return { id, endpoints: found };
    },
  });
  return { list, asked, most };
}

const only = async (...endpoints: unknown[]): Promise<ImageModel | undefined> =>
  (await read({ 'acme/painter': endpoints })).list?.models[0];

test('a model with its endpoint becomes one that can be held and called', async () => {
  expect(await only(endpoint())).toEqual({
    id: 'acme/painter',
    name: 'Name of acme/painter',
    createdAtMs: 5_000,
    readsImages: false,
    streaming: false,
    parameters: new Map([
      ['n', { type: 'range', min: 1, max: 4 }],
      ['resolution', { type: 'enum', values: ['1K', '2K'] }],
    ]),
    pricing: [{ billable: 'output_image', unit: 'image', price: atto('0.03'), variant: null }],
    outputTokensMax: new Map(),
    inputImageTokensMax: null,
    providerId: 'p',
    upstreamModel: 'acme/painter',
    endpointTag: 'cloud',
  });
});

test('of several endpoints one of no special tier is pinned, and its prices and fields count', async () => {
  const flex = endpoint({ provider_tag: 'cloud/flex', pricing: [line({ cost_usd: 0.01 })] });
  const priority = endpoint({ provider_tag: 'cloud/priority', pricing: [line({ cost_usd: 0.09 })] });
  const plain = endpoint({ provider_tag: 'other', supports_streaming: true });
  expect(await only(flex, priority, plain)).toMatchObject({
    endpointTag: 'other',
    streaming: true,
    pricing: [{ price: atto('0.03') }],
  });
  expect((await only(flex, priority))?.endpointTag).toBe('cloud/flex');
});

test('an endpoint without a name is served only where there is no other', async () => {
  const nameless = endpoint({ provider_tag: null, provider_slug: null });
  expect((await only(nameless))?.endpointTag).toBeNull();
  expect((await only(nameless, endpoint()))?.endpointTag).toBe('cloud');
  expect(await only(nameless, nameless)).toBeUndefined();
  expect((await only(endpoint({ provider_tag: null })))?.endpointTag).toBe('cloud');
});

test('an endpoint with an unbounded bill is passed over', async () => {
  const fonts = endpoint({ provider_tag: 'fonts', pricing: [line(), line({ billable: 'input_font' })] });
  expect((await only(fonts, endpoint()))?.endpointTag).toBe('cloud');
});

test.each<[string, Record<string, unknown>]>([
  ['a price for fonts', { pricing: [line(), line({ billable: 'input_font' })] }],
  ['a price by an unknown unit', { pricing: [line({ unit: 'hour' })] }],
  ['a price by tokens of which nobody knows how many', { pricing: [line({ unit: 'token' })] }],
  [
    'a price of references by tokens of which nobody knows how many',
    {
      supported_parameters: { input_references: { type: 'range', min: 0, max: 1 } },
      pricing: [line(), line({ billable: 'input_image', unit: 'token' })],
    },
  ],
  ['a negative price', { pricing: [line({ cost_usd: -1 })] }],
  ['a price as text', { pricing: [line({ cost_usd: '0.03' })] }],
  ['no price', { pricing: [] }],
  ['nothing but a free price', { pricing: [line({ cost_usd: 0 })] }],
  [
    'drawings for its only format',
    { supported_parameters: { output_format: { type: 'enum', values: ['svg'] } } },
  ],
])('a model with %s is not served', async (_, given) => {
  const { list } = await read({ 'acme/painter': [endpoint(given)], 'good/one': [endpoint()] });
  expect(list?.models.map(({ id }) => id)).toEqual(['good/one']);
  expect(list?.notServed).toEqual(['acme/painter']);
});

test.each(['~acme/latest', '.acme/painter', 'acme/..', 'acme/painter:free'])(
  'the model %s is not served, nor asked for',
  async (id) => {
    const { list, asked } = await read({ [id]: [endpoint()] });
    expect(list).toEqual({ models: [], notServed: [id] });
    expect(asked).toEqual(['/images/models']);
  },
);

test('tokens of models that are known have their bound', async () => {
  const { list } = await read({
    'google/gemini-3-pro-image': [endpoint({ pricing: [line({ unit: 'token' })] })],
  });
  const tokens = list?.models[0]?.outputTokensMax.get('1k') ?? 0;
  // What was seen to be billed: 1120 tokens, and some words beside the image.
  expect(tokens).toBeGreaterThanOrEqual(1_120 + 87 / 10);
});

test('fields are read as the endpoint has them, less what is not for a caller to say', async () => {
  const model = await only(
    endpoint({
      supported_parameters: {
        n: { type: 'range', min: 1, max: 100 },
        output_format: { type: 'enum', values: ['png', 'svg'] },
        transparent: { type: 'boolean' },
        input_references: { type: 'range', min: 0, max: 99 },
        stream: { type: 'boolean' },
        provider: { type: 'enum', values: ['x'] },
        seed: { type: 'odd' },
        strength: { type: 'range', min: 1, max: 0 },
        'Bad name': { type: 'boolean' },
      },
    }),
  );
  expect(model?.readsImages).toBe(true);
  expect(Object.fromEntries(model?.parameters ?? [])).toEqual({
    n: { type: 'range', min: 1, max: 10 },
    output_format: { type: 'enum', values: ['png'] },
    transparent: { type: 'enum', values: [false, true] },
    input_references: { type: 'range', min: 0, max: 16 },
  });
});

test('endpoints are asked for a few at a time, each once, and the order of the list stays', async () => {
  const ids = Array.from({ length: 23 }, (_, at) => `acme/m${at}`);
  const { list, asked, most } = await read(Object.fromEntries(ids.map((id) => [id, [endpoint()]])));
  expect(list?.models.map(({ id }) => id)).toEqual(ids);
  expect(asked).toHaveLength(24);
  expect(most).toBe(IMAGE_ENDPOINT_FETCHES);
});

test('endpoints that do not come cost no other model, and a known one stays as it was', async () => {
  const { list: before } = await read({ 'a/a': [endpoint()], 'b/b': [endpoint()] });
  const failing = {
    'a/a': new Error('No answer.'),
    'b/b': [endpoint({ provider_tag: 'new' })],
    'c/c': new Error('No.'),
  };
  const { list } = await read(failing, { before });
  expect(list?.models.map(({ id, endpointTag }) => [id, endpointTag])).toEqual([
    ['a/a', 'cloud'],
    ['b/b', 'new'],
  ]);
});

test('a list none of whose endpoints comes has not come', async () => {
  await expect(read({ 'a/a': new Error('No answer.') })).rejects.toThrow('No answer.');
});

test('a provider that has no such list makes no images, and any other failure is one', async () => {
  const absent = new ProviderAnswerError('The provider answered 404.', 404);
  expect((await read({}, { rows: absent })).list).toEqual({ models: [], notServed: [] });
  const down = new ProviderAnswerError('The provider answered 503.', 503);
  await expect(read({}, { rows: down })).rejects.toThrow('503');
  expect((await read({}, { rows: { models: [] } })).list).toBeNull();
});
