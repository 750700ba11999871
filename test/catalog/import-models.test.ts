import { expect, test } from 'vitest';
import type { Model } from '#core/catalog/catalog.ts';
import type { ImportedList } from '#core/catalog/import-source.ts';
import { importModels } from '../../api/providers/openrouter/lists/import-models.ts';
import { atto, row } from './support.ts';

const NOW = Date.parse('2026-11-18T10:00:00Z');

const read = (...rows: unknown[]): ImportedList<Model> | null => importModels({ data: rows }, 'p', NOW);

/**
 * The list always holds one good model, so that a refused row is seen as refused and not as an empty list.
 */
const notServed = (given: unknown): readonly string[] | undefined => read(row('good/one'), given)?.notServed;

test('a row becomes a model that can be held and called', () => {
  const list = read(
    row('acme/large', { pricing: { prompt: '0.0000025', completion: '0.00001', request: '0.001' } }),
  );
  expect(list).toEqual({
    notServed: [],
    models: [
      {
        id: 'acme/large',
        name: 'Name of acme/large',
        contextLength: 128_000,
        maxOutputTokens: 16_384,
        inputModalities: ['text', 'image'],
        createdAtMs: 1_750_000_000_000,
        about: expect.any(Object),
        endpoints: [
          {
            providerId: 'p',
            upstreamModel: 'acme/large',
            contextLength: null,
            maxOutputTokens: null,
            prices: {
              prompt: atto('0.0000025'),
              completion: atto('0.00001'),
              request: atto('0.001'),
              cacheRead: null,
              cacheWrite: null,
              cacheWrite1h: null,
              internalReasoning: null,
              image: null,
              webSearch: null,
              overrides: [],
            },
          },
        ],
      },
    ],
  });
});

test('an unknown longest answer is as long as the context, an unknown context is taken from the top provider', () => {
  const top = { context_length: 5_000, max_completion_tokens: null };
  const [model] = read(row('a/b', { context_length: null, top_provider: top }))?.models ?? [];
  expect(model).toMatchObject({ contextLength: 5_000, maxOutputTokens: null });
});

test.each<[string, Record<string, unknown>]>([
  ['free', row('x/y', { pricing: { prompt: '0', completion: '0', request: '0' } })],
  ['a free version', row('x/y:free', { pricing: { prompt: '0', completion: '0' } })],
  ['a free version with a price', row('x/y:free')],
  ['a batch version', row('x/y:batch')],
  ['a batch version under another suffix', row('x/y:batch:thinking')],
  ['a router by its price', row('x/y', { pricing: { prompt: '-1', completion: '-1' } })],
  ['a router by its tokenizer', row('x/y', { architecture: { tokenizer: 'Router' } })],
  ['a router by its author', row('openrouter/auto')],
  ['an alias', row('~x/y-latest')],
  [
    'searching the web in a loop without a limit',
    row('x/y-deep-research', { pricing: { prompt: '1', completion: '1', web_search: '0.005' } }),
  ],
  ['retired', row('x/y', { expiration_date: '2026-11-17' })],
  ['without text in its answers', row('x/y', { architecture: { output_modalities: ['image'] } })],
  ['without a price', row('x/y', { pricing: { prompt: '0.1' } })],
  ['without any prices', row('x/y', { pricing: null })],
  ['with a price in words', row('x/y', { pricing: { prompt: 'cheap', completion: '0.1' } })],
  ['with a price that went through a float', row('x/y', { pricing: { prompt: 1e-7, completion: '0.1' } })],
  ['with a negative price', row('x/y', { pricing: { prompt: '-0.1', completion: '0.1' } })],
  [
    'with a cache price that cannot be read',
    row('x/y', { pricing: { prompt: '1', completion: '1', input_cache_write: '?' } }),
  ],
  [
    'with a special price that cannot be read',
    row('x/y', { pricing: { prompt: '1', completion: '1', overrides: [{ prompt: 'NaN' }] } }),
  ],
  [
    'without any bound of its context',
    row('x/y', { context_length: null, top_provider: { context_length: null } }),
  ],
])('a model is not served that is: %s', (_what, given) => {
  expect(notServed(given)).toEqual([given.id]);
});

test('a model is served that only has such a name, or only has a price for searches', () => {
  const pricing = { prompt: '1', completion: '1', web_search: '0.01' };
  expect(notServed(row('x/deepresearch-30b'))).toEqual([]);
  const list = read(row('x/y', { pricing }));
  expect(list?.models[0]?.endpoints[0]?.prices.webSearch).toBe(atto('0.01'));
});

test('a model is served through its last day', () => {
  expect(notServed(row('x/y', { expiration_date: '2026-11-18' }))).toEqual([]);
  expect(notServed(row('x/y', { expiration_date: 'soon' }))).toEqual([]);
});

test('a paid edition with a suffix of its own is served under its whole id', () => {
  expect(read(row('x/y:thinking'))?.models[0]?.id).toBe('x/y:thinking');
});

test('odd fields beside the price cost nobody the model', () => {
  const odd = {
    name: 7,
    created: 'x',
    expiration_date: 5,
    top_provider: 'x',
    benchmarks: { a: 1 },
    description: null,
  };
  expect(read(row('x/y', odd))?.models[0]).toMatchObject({ id: 'x/y', name: 'x/y', createdAtMs: null });
});

test('a write to the cache for an hour has a price of its own', () => {
  const pricing = {
    prompt: '1',
    completion: '1',
    input_cache_read: '0.1',
    input_cache_write: '1.25',
    input_cache_write_1h: '2',
  };
  expect(read(row('x/y', { pricing }))?.models[0]?.endpoints[0]?.prices).toMatchObject({
    cacheRead: atto('0.1'),
    cacheWrite: atto('1.25'),
    cacheWrite1h: atto('2'),
  });
});

test('a discount lowers no hold', () => {
  const pricing = { prompt: '1', completion: '1', discount: 0.5 };
  expect(read(row('x/y', { pricing }))?.models[0]?.endpoints[0]?.prices.prompt).toBe(atto('1'));
});

test('prices under conditions are kept: long prompts by their length, times of day as unknown', () => {
  const overrides = [
    {
      min_prompt_tokens: 200_000,
      prompt: '2',
      completion: '3',
      input_cache_write: '4',
      input_cache_write_1h: '5',
    },
    { utc_start: 100, utc_end: 900, prompt: '6' },
  ];
  const [model] = read(row('x/y', { pricing: { prompt: '1', completion: '1', overrides } }))?.models ?? [];
  const none = { prompt: null, completion: null, cacheRead: null, cacheWrite: null, cacheWrite1h: null };
  expect(model?.endpoints[0]?.prices.overrides).toEqual([
    {
      ...none,
      minPromptTokens: 200_000,
      prompt: atto('2'),
      completion: atto('3'),
      cacheWrite: atto('4'),
      cacheWrite1h: atto('5'),
    },
    { ...none, minPromptTokens: null, prompt: atto('6') },
  ]);
});

test('dearer tokens of sound and images are held for, cheaper ones change nothing', () => {
  const [dear, cheap] =
    read(
      row('x/dear', {
        pricing: {
          prompt: '1',
          completion: '1',
          audio: '2',
          image_token: '3',
          image_output: '8',
          audio_output: '7',
          overrides: [{ min_prompt_tokens: 5, audio: '4' }],
        },
      }),
      row('x/cheap', { pricing: { prompt: '1', completion: '1', audio: '0.5', image_output: '1' } }),
    )?.models ?? [];
  const none = { prompt: null, completion: null, cacheRead: null, cacheWrite: null, cacheWrite1h: null };
  expect(dear?.endpoints[0]?.prices.overrides).toEqual([
    { ...none, minPromptTokens: null, prompt: atto('4'), completion: atto('8') },
    { ...none, minPromptTokens: 5 },
  ]);
  expect(cheap?.endpoints[0]?.prices.overrides).toEqual([]);
});

test('an id that is listed twice is served as listed first', () => {
  const list = read(row('x/y', { name: 'first' }), row('x/y', { name: 'second' }));
  expect(list?.models.map((model) => model.name)).toEqual(['first']);
});

test.each<[string, unknown]>([
  ['nothing', null],
  ['an error in a 200', { error: { message: 'busy' } }],
  ['an empty list', { data: [] }],
  ['a list of nothing that can be served', { data: [row('x/y:free')] }],
  ['a list without end', { data: Array.from({ length: 5_001 }, (_, at) => row(`x/${at}`)) }],
])('an answer is no list that replaces a good one: %s', (_what, answer) => {
  expect(importModels(answer, 'p', NOW)).toBeNull();
});

test('rows that are no models are passed over', () => {
  expect(read(null, 5, {}, { id: 7 }, { id: 'x'.repeat(300) }, row('good/one'))).toMatchObject({
    models: [{ id: 'good/one' }],
    notServed: [],
  });
});
