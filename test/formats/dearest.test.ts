import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { timesFactorUp } from '#core/money.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { FORMATS, requestIn } from './requests.ts';

/** The simulator bills all that it legally may; the margin makes every price a fraction of a nano-dollar. */
let gateway: TestGateway;
const FACTOR = '1.0553';
beforeAll(async () => {
  gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
capacity: { perCallUsd: "5000", poolUsd: "100000", dailySharePerAgentUsd: "1000000" }
providers:
  - { id: sim, kind: simulator, baseUrl: PROVIDER_URL, catalog: import, priceFactor: "${FACTOR}" }
  - { id: claude, kind: anthropic, baseUrl: PROVIDER_URL, priceFactor: "${FACTOR}" }
models:
  - id: acme/unpriced
    contextLength: 32768
    endpoints:
      - { provider: claude, model: faregate-sim/small, pricing: { prompt: "0.000001", completion: "0.000005" } }
  - id: acme/claude
    contextLength: 131072
    maxOutputTokens: 8192
    inputModalities: [text, image]
    endpoints:
      - { provider: claude, model: faregate-sim/searcher, pricing: { prompt: "0.000001", completion: "0.000005", cacheRead: "0.0000001", cacheWrite: "0.00000125", cacheWrite1h: "0.000002", webSearch: "0.01" } }
`,
  });
});
afterAll(() => gateway.stop());

const MODELS = ['small', 'large', 'long', 'thinker', 'vision', 'searcher'].map(
  (name) => `faregate-sim/${name}`,
);
/** Fits the shortest context by the tokens that a real tokenizer makes of it, and none by its bytes. */
const LONG_TEXT = 'wörd ✓ '.repeat(6_000);

/** What each format sends, by what it asks for. */
const options: Record<string, Partial<Record<FormatName, object>>> = {
  'a few words': { chat: {}, responses: {}, messages: {} },
  'a cap': {
    chat: { max_tokens: 33 },
    responses: { max_output_tokens: 33 },
    messages: { max_tokens: 33 },
  },
  'a stream': {
    chat: { stream: true, stream_options: { include_usage: true } },
    responses: { stream: true },
    messages: { stream: true },
  },
  'a long prompt': {
    chat: { messages: [{ role: 'user', content: LONG_TEXT }], max_tokens: 10 },
    responses: { input: LONG_TEXT, max_output_tokens: 10 },
    messages: { messages: [{ role: 'user', content: LONG_TEXT }], max_tokens: 10 },
  },
  'three choices': { chat: { n: 3, max_tokens: 50 } },
  'a prediction': { chat: { prediction: { type: 'content', content: 'x'.repeat(500) } } },
  'an image': {
    chat: {
      messages: [
        { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png' } }] },
      ],
    },
    responses: {
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'https://example.com/a.png' }] }],
    },
    messages: {
      messages: [
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }],
        },
      ],
    },
  },
  reasoning: {
    chat: { reasoning: { effort: 'high' } },
    responses: { reasoning: { effort: 'high' } },
    messages: { thinking: { type: 'enabled', budget_tokens: 1_024 }, max_tokens: 2_000 },
  },
  functions: {
    chat: {
      tools: [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }],
      tool_choice: 'required',
    },
    responses: {
      tools: [{ type: 'function', name: 'f', parameters: { type: 'object' } }],
      tool_choice: 'required',
    },
    messages: { tools: [{ name: 'f', input_schema: { type: 'object' } }], tool_choice: { type: 'any' } },
  },
  fallbacks: {
    chat: { models: ['faregate-sim/large'] },
    responses: { models: ['faregate-sim/large'] },
    messages: { models: ['faregate-sim/large'] },
  },
};

const search = (parameters: object) => ({ type: 'openrouter:web_search', parameters });
const searchOptions: Record<string, object> = {
  'a search': { tools: [search({})] },
  'a search by the short name': { tools: [{ type: 'web_search' }] },
  'a search of another engine': {
    tools: [search({ engine: 'parallel', mode: 'advanced', max_results: 25 })],
  },
  'a deep search': {
    tools: [search({ engine: 'exa', mode: 'deep-reasoning', max_uses: 30 })],
    max_tool_calls: 30,
  },
  'a search with much text': { tools: [search({ search_context_size: 'high', max_uses: 2 })] },
  'two searches, a fetch and the clock': {
    tools: [
      search({ max_uses: 2 }),
      { type: 'web_search_preview', search_context_size: 'low' },
      { type: 'openrouter:web_fetch', parameters: { max_content_tokens: 3_000 } },
      { type: 'openrouter:datetime' },
    ],
  },
  'a fetch': { tools: [{ type: 'openrouter:web_fetch' }] },
  'one step': { tools: [search({ max_uses: 9 })], max_tool_calls: 1 },
  'a list of ends': {
    tools: [search({})],
    stop_server_tools_when: [
      { type: 'has_tool_call', tool_name: 'f' },
      { type: 'step_count_is', step_count: 2 },
    ],
  },
  'a plugin that searches': { plugins: [{ id: 'web' }] },
  'plugins that search and fetch': {
    plugins: [
      { id: 'web', max_uses: 3 },
      { id: 'web-fetch', max_uses: 2 },
    ],
  },
  'a search by options': { web_search_options: { search_context_size: 'medium' } },
  'a tool of Anthropic’s': {
    tools: [
      { type: 'web_search_20260209', name: 'web_search' },
      { type: 'web_fetch_20250910', name: 'web_fetch' },
    ],
  },
};

/** Beyond the length from which prices rise. */
const VERY_LONG_TEXT = 'wörd ✓ '.repeat(30_000);

const cases = FORMATS.flatMap((format) => [
  ...Object.entries(options).flatMap(([what, by]) =>
    by[format] === undefined ? [] : [{ format, what, extra: by[format] }],
  ),
  ...Object.entries(searchOptions).map(([what, extra]) => ({ format, what, extra })),
]);

/** The provider's bill of the newest call and what was held for it. */
async function dearestCall(format: FormatName, body: object, status = 200, asked = format) {
  const agent = await gateway.newAgent({ creditUsd: '5000' });
  gateway.provider.next({ path: pathOf(asked), dearest: true });
  const response = await gateway.post(body, { path: pathOf(format), agent });
  const text = await response.text();
  expect(`${response.status} ${response.status === status ? '' : text}`).toBe(`${status} `);
  const view = await gateway.settled(agent);
  const bill = gateway.provider.lastBill();
  const [record] = await gateway.calls(agent);
  if (record === undefined) throw new Error('no record');
  return { view, bill, heldNanoUsd: record.reservedNanoUsd, text };
}

const withMargin = (nanoUsd: bigint): bigint => timesFactorUp(nanoUsd, 1_055_300n);

const file = {
  chat: {
    messages: [
      { role: 'user', content: [{ type: 'file', file: { file_url: 'https://example.com/a.pdf' } }] },
    ],
  },
  responses: {
    input: [{ role: 'user', content: [{ type: 'input_file', file_url: 'https://example.com/a.pdf' }] }],
  },
  messages: {
    messages: [
      {
        role: 'user',
        content: [{ type: 'document', source: { type: 'url', url: 'https://example.com/a.pdf' } }],
      },
    ],
  },
};

it.each(FORMATS)('a file never costs more than was held: %s', async (format) => {
  const request = requestIn(format, 'faregate-sim/searcher', file[format]);
  const { bill, heldNanoUsd } = await dearestCall(format, request);
  expect(bill.use.promptTokens).toBe(131_072);
  expect(withMargin(bill.costNanoUsd)).toBeLessThanOrEqual(heldNanoUsd);
});

describe.each(MODELS)('%s at its dearest', (model) => {
  it.each(cases)('never costs more than was held: $format, $what', async ({ format, extra }) => {
    const { view, bill, heldNanoUsd } = await dearestCall(format, requestIn(format, model, extra));
    expect(withMargin(bill.costNanoUsd)).toBeLessThanOrEqual(heldNanoUsd);
    // Rounded up once, with the margin: the bill is rounded by itself here.
    expect(view.chargedNanoUsd).toBeLessThanOrEqual(withMargin(bill.costNanoUsd));
    expect(view.chargedNanoUsd).toBeGreaterThan(withMargin(bill.costNanoUsd - 2n));
  });
});

it.each(FORMATS)('a prompt of another price never costs more than was held: %s', async (format) => {
  const body = requestIn(format, 'faregate-sim/long', {
    messages: [{ role: 'user', content: VERY_LONG_TEXT }],
    ...(format === 'responses' ? { input: VERY_LONG_TEXT, messages: undefined } : {}),
  });
  const { bill, heldNanoUsd } = await dearestCall(format, body);
  expect(withMargin(bill.costNanoUsd)).toBeLessThanOrEqual(heldNanoUsd);
  // Bytes at the higher price: 300,000 of them are above its limit of 200,000.
  expect(bill.costNanoUsd).toBeGreaterThan(300_000n * 75n);
});

describe('a search of the model’s own, at a provider that bills by its price list', () => {
  it.each([
    ['one', { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 1 }] }, 1],
    [
      'as many as were asked for',
      { tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 4 }] },
      4,
    ],
    ['as many as a loop has by default', { tools: [{ type: 'web_search_20260318', name: 'web_search' }] }, 5],
  ])('is held and charged for each: %s', async (_what, extra, searches) => {
    const request = requestIn('messages', 'acme/claude', { ...extra, max_tokens: 100 });
    const { view, heldNanoUsd, text } = await dearestCall('messages', request);
    expect(JSON.parse(text).usage.server_tool_use.web_search_requests).toBe(searches);
    expect(view.chargedNanoUsd).toBeGreaterThan(BigInt(searches) * 10_553_000n);
    expect(view.chargedNanoUsd).toBeLessThanOrEqual(heldNanoUsd);
  });

  it.each(['chat', 'responses'] as const)('answers with what it found on %s', async (format) => {
    const extra = format === 'responses' ? { max_output_tokens: 100 } : { max_tokens: 100 };
    const request = requestIn(format, 'acme/claude:online', extra);
    for (const stream of [false, true]) {
      const { view, heldNanoUsd, text } = await dearestCall(format, { ...request, stream }, 200, 'messages');
      expect(text).toContain('"annotations":[{"type":"url_citation"');
      expect(text).toContain('https://example.com/found');
      expect(view.chargedNanoUsd).toBeGreaterThan(10_553_000n);
      expect(view.chargedNanoUsd).toBeLessThanOrEqual(heldNanoUsd);
    }
  });

  it.each(FORMATS)(
    'is left out by name, at no cost, on %s where it is of another kind and merely offered',
    async (format) => {
      const agent = await gateway.newAgent();
      const extra = { tools: [{ type: 'openrouter:web_fetch' }] };
      const response = await gateway.post(requestIn(format, 'acme/claude', extra), {
        path: pathOf(format),
        agent,
      });
      await response.text();
      expect([response.status, response.headers.get('x-ignored-fields')]).toEqual([
        200,
        expect.stringMatching(/^tools/),
      ]);
      expect((await gateway.settled(agent)).chargedNanoUsd).toBeLessThan(10_000_000n);
    },
  );

  it.each(FORMATS)('is refused by name on %s where it is of another kind and required', async (format) => {
    const agent = await gateway.newAgent();
    const extra = { tools: [{ type: 'openrouter:web_fetch' }], provider: { require_parameters: true } };
    const response = await gateway.post(requestIn(format, 'acme/claude', extra), {
      path: pathOf(format),
      agent,
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: 'tool_not_served', message: expect.stringContaining('`openrouter:web_fetch`') },
    });
  });
});

describe.each(FORMATS)(':online on %s', (format) => {
  it('searches once, and holds and charges for it', async () => {
    const model = 'faregate-sim/searcher:online';
    const { bill, heldNanoUsd, text } = await dearestCall(format, requestIn(format, model));
    expect(withMargin(bill.costNanoUsd)).toBeLessThanOrEqual(heldNanoUsd);
    expect(text).toContain('"web_search_requests":1');
    const sent = JSON.parse(gateway.provider.lastRequest(pathOf(format)).body.toString());
    expect(sent.model).toBe('faregate-sim/searcher');
    expect(sent.plugins).toEqual([expect.objectContaining({ id: 'web', engine: 'exa', max_uses: 1 })]);
  });

  it('is refused where nobody searches at a known price', async () => {
    const agent = await gateway.newAgent();
    const request = requestIn(format, 'acme/unpriced:online');
    const response = await gateway.post(request, { path: pathOf(format), agent });
    expect(await response.json()).toMatchObject({ error: { code: 'tool_not_served' } });
    expect((await gateway.settled(agent)).chargedNanoUsd).toBe(0n);
  });
});
