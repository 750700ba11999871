import { resolve } from 'node:path';
import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { checkCatalog } from '#core/catalog/check-catalog.ts';
import { defaultLimits } from '#core/limits.ts';
import { loadConfig } from '../../api/config/config.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { dialectNameOf, load } from './support.ts';

/** The complete example of a configuration. Older documents print it, so it must load as it is. */
const EXAMPLE = `
server:   { publicUrl: https://gw.example.com/v1, mcpUrl: https://gw.example.com/mcp, trustedProxies: [10.0.0.0/8], callIdHeader: x-service-call-id }
storage:  { mode: embedded, dataDir: .faregate }      # or mode: cluster with redis, kafka and cassandra blocks
files:    { kind: local }                             # or kind: s3 with endpoint, region, bucket, credentials
limits:   { callsPerMinute: 600, burst: 60, runningCalls: 8 }          # every number of the spec's Limits section
capacity: { perCallUsd: "50", poolUsd: "1000", dailySharePerAgentUsd: "200", runningCalls: 2000 }
providers:
  - id: openrouter
    kind: openrouter                # openrouter | openai | anthropic | simulator
    baseUrl: https://openrouter.ai/api/v1
    apiKeyEnv: OPENROUTER_API_KEY
    catalog: import                 # take models and prices from the provider, refreshed hourly; none = only what stands below
    priceFactor: "1.055"            # the operator's margin
  - { id: vllm, kind: openai, baseUrl: http://vllm:8000/v1 }
models:
  - id: acme/small
    name: Acme Small
    contextLength: 32768
    maxOutputTokens: 4096
    inputModalities: [text, image]
    endpoints:                      # who can run it; prices in dollars per token, per request, per search, as decimal strings
      - { provider: vllm, model: small-2026, pricing: { prompt: "0.0000001", completion: "0.0000004", cacheRead: "0.00000005", request: "0" } }
`;

test('the complete example of a configuration loads as it is printed', async () => {
  const config = await load(EXAMPLE, { OPENROUTER_API_KEY: 'or-key' });
  expect(config.server).toEqual({
    host: '127.0.0.1',
    port: 8080,
    internalHost: '127.0.0.1',
    internalPort: 9090,
    publicUrl: 'https://gw.example.com/v1',
    mcpUrl: 'https://gw.example.com/mcp',
    connectionsPerAddress: 1_024,
    internalHostNames: [],
    trustedProxies: ['10.0.0.0/8'],
    callIdHeader: 'x-service-call-id',
    drainNoticeMs: 0,
    drainMs: null,
  });
  expect(config.storage).toEqual({ mode: 'embedded', dataDir: resolve('.faregate') });
  expect(config.limits).toEqual(defaultLimits);
  expect(config.capacity).toEqual({
    perCallNanoUsd: 50_000_000_000n,
    poolNanoUsd: 1_000_000_000_000n,
    dailySharePerAgentNanoUsd: 200_000_000_000n,
    runningCalls: 2_000,
    eventLoopLagMs: 250,
  });
  const [openrouter, vllm] = config.providers;
  expect(openrouter?.kind).toBe(providerKinds.openrouter);
  expect(openrouter).toMatchObject({ catalog: 'import', priceFactorPpm: 1_055_000n });
  expect(openrouter?.apiKey?.reveal()).toBe('or-key');
  expect(vllm).toMatchObject({
    baseUrl: 'http://vllm:8000/v1',
    catalog: 'none',
    apiKey: null,
    stopped: false,
  });
  expect(config.models).toEqual([
    {
      id: 'acme/small',
      name: 'Acme Small',
      contextLength: 32_768,
      maxOutputTokens: 4_096,
      inputModalities: ['text', 'image'],
      endpoints: [
        {
          providerId: 'vllm',
          upstreamModel: 'small-2026',
          contextLength: null,
          maxOutputTokens: null,
          prices: {
            prompt: 100_000_000_000n,
            completion: 400_000_000_000n,
            request: 0n,
            cacheRead: 50_000_000_000n,
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
  ]);
  expect(config.notices).toEqual([expect.stringContaining('Provider vllm is at a private address')]);
  expect(checkCatalog(config)).toEqual([]);
});

test('nothing configured serves the bundled simulator, on loopback, by the default limits', async () => {
  const config = await loadConfig({});
  expect(config.file).toBeNull();
  expect(config.server).toMatchObject({ host: '127.0.0.1', internalHost: '127.0.0.1', publicUrl: null });
  expect(config.providers).toEqual([
    {
      id: 'simulator',
      kind: providerKinds.simulator,
      formats: ['chat', 'responses', 'messages'],
      cancel: 'stops_billing',
      dialect: dialects.other,
      images: null,
      baseUrl: null,
      apiKey: null,
      settings: {},
      catalog: 'import',
      priceFactorPpm: 1_000_000n,
      priceJumpPpm: 3_000_000n,
      listMaxAgeMs: 86_400_000,
      stopped: false,
    },
  ]);
  expect(config.limits).toEqual(defaultLimits);
  expect(config.models).toEqual([]);
});

test('a file that leaves a block out keeps its defaults, an empty file all of them', async () => {
  const {
    file: _file,
    watchedFiles: _files,
    contentHash: _hash,
    demo: _demo,
    ...plain
  } = await loadConfig({});
  expect(await load('# nothing yet\n')).toMatchObject(plain);
  const config = await load('limits: { runningCalls: 3 }');
  expect(config.limits).toEqual({ ...defaultLimits, runningCalls: 3 });
  expect(config.providers).toEqual(plain.providers);
});

describe('a demo agent', () => {
  const demoOf = async (env: Record<string, string>) => (await loadConfig(env)).demo;
  const fileWith = (yaml: string, env: Record<string, string> = {}) =>
    load(yaml, env).then(({ demo, notices }) => ({ demo, notices }));

  test('is made by the first start without a configuration file, with real providers too', async () => {
    expect(await demoOf({})).toBe('first-start');
    expect(await demoOf({ OPENROUTER_API_KEY: 'sk-or-1' })).toBe('first-start');
  });

  test('is never made by a start with a configuration file, on loopback neither', async () => {
    expect((await fileWith('')).demo).toBe('off');
    expect((await fileWith('server: { host: 127.0.0.1, internalHost: "::1" }')).demo).toBe('off');
  });

  test('is made where FAREGATE_DEMO is 1, and not where it is 0', async () => {
    expect((await fileWith('server: { host: 0.0.0.0 }', { FAREGATE_DEMO: '1' })).demo).toBe('on');
    expect(await demoOf({ FAREGATE_DEMO: '1' })).toBe('on');
    expect(await demoOf({ FAREGATE_DEMO: '0' })).toBe('off');
    await expect(demoOf({ FAREGATE_DEMO: 'yes' })).rejects.toThrow('FAREGATE_DEMO: must be 1');
  });
});

describe('the dialect of a server', () => {
  const dialectOf = async (rest: string) => {
    const { providers } = await load(`providers: [{ id: p, kind: openai, ${rest} }]`);
    return providers.map((each) => ({
      dialect: dialectNameOf(each),
      formats: each.formats,
      images: each.images,
    }))[0];
  };
  const own = 'baseUrl: "http://127.0.0.1:8000/v1"';

  test.each([
    [own, 'self-hosted', ['chat']],
    [`${own}, dialect: vllm`, 'vllm', ['chat']],
    [`${own}, dialect: openai`, 'openai', ['chat', 'responses']],
    ['baseUrl: "https://api.openai.com/v1"', 'openai', ['chat', 'responses']],
    ['baseUrl: "https://api.groq.com/openai/v1"', 'groq', ['chat']],
    ['baseUrl: "https://api.groq.com/openai/v1", dialect: other', 'other', ['chat']],
    ['baseUrl: "https://api.groq.com.example.com/v1"', 'other', ['chat']],
    ['baseUrl: "https://api.fireworks.ai/inference/v1"', 'fireworks', ['chat', 'messages']],
    ['baseUrl: "https://api.fireworks.ai/inference/v1", formats: [messages]', 'fireworks', ['messages']],
  ])(
    'is what the operator says, else the vendor’s at its own address: %s',
    async (rest, dialect, formats) => {
      expect(await dialectOf(rest)).toEqual({ dialect, formats, images: null });
    },
  );

  test('may be given links or not, whatever it is', async () => {
    expect(await dialectOf(`${own}, dialect: vllm, images: url`)).toMatchObject({ images: 'url' });
    expect(await dialectOf(`${own}, images: inline`)).toMatchObject({ images: 'inline' });
  });
});

test('a vendor whose key is in the environment is served before the simulator', async () => {
  const config = await loadConfig({ OPENROUTER_API_KEY: 'a', OPENAI_API_KEY: 'b', ANTHROPIC_API_KEY: 'c' });
  expect(
    config.providers.map((each) => [each.id, each.baseUrl, each.catalog, each.apiKey?.reveal()]),
  ).toEqual([
    ['openrouter', 'https://openrouter.ai/api/v1', 'import', 'a'],
    ['openai', 'https://api.openai.com/v1', 'none', 'b'],
    ['anthropic', 'https://api.anthropic.com/v1', 'none', 'c'],
    ['simulator', null, 'import', undefined],
  ]);
  expect(config.models.map((model) => model.id)).toEqual([
    'openai/gpt-4o',
    'openai/gpt-4o-mini',
    'openai/gpt-4.1',
    'openai/gpt-4.1-mini',
    'openai/gpt-4.1-nano',
    'anthropic/claude-opus-4.5',
    'anthropic/claude-sonnet-4.5',
    'anthropic/claude-haiku-4.5',
  ]);
  const [gpt4o] = config.models;
  expect(gpt4o?.endpoints[0]).toMatchObject({
    upstreamModel: 'gpt-4o',
    prices: { prompt: 2_500_000_000_000n, cacheRead: 1_250_000_000_000n, completion: 10_000_000_000_000n },
  });
  expect(config.notices).toEqual([
    'The prices of openai/… models are as last known; check them before real use.',
    'The prices of anthropic/… models are as last known; check them before real use.',
  ]);
});

test('with providers in the file, the environment adds none', async () => {
  const config = await load('providers: []', { OPENROUTER_API_KEY: 'a', OPENAI_API_KEY: 'not one word' });
  expect(config.providers).toEqual([]);
  expect(config.models).toEqual([]);
});

test('the environment wins over the file for ports and folder', async () => {
  const yaml = 'server: { port: 1, internalPort: 2 }\nstorage: { dataDir: /from/file }';
  const env = { PORT: '0', INTERNAL_PORT: '4', FAREGATE_DATA: '/from/env' };
  expect(await load(yaml, env)).toMatchObject({
    server: { port: 0, internalPort: 4 },
    storage: { dataDir: '/from/env' },
  });
  expect(await load(yaml, { PORT: '', INTERNAL_PORT: '', FAREGATE_DATA: '' })).toMatchObject({
    server: { port: 1, internalPort: 2 },
    storage: { dataDir: '/from/file' },
  });
});

test('a key comes from a file as well as from the environment, without its line end', async () => {
  const yaml = 'providers: [{ id: p, kind: openai, baseUrl: "http://h:1/v1/", apiKeyFile: /run/key }]';
  const config = await load(yaml, {}, { '/run/key': 'from-file\n' });
  expect(config.providers[0]?.apiKey?.reveal()).toBe('from-file');
  expect(config.providers[0]?.baseUrl).toBe('http://h:1/v1');
  expect(config.watchedFiles).toEqual(['/etc/faregate/faregate.yaml', '/run/key']);
});

test('no way of printing a configuration shows a secret', async () => {
  const yaml = `providers:
  - { id: a, kind: openrouter, apiKeyEnv: KEY_A }
  - { id: b, kind: openai, baseUrl: "http://h/v1", apiKeyFile: /run/key }`;
  const config = await load(yaml, { KEY_A: 'geheim-a' }, { '/run/key': 'geheim-b' });
  const bigintAsText = (_key: string, value: unknown): unknown =>
    typeof value === 'bigint' ? `${value}` : value;
  const printed = [
    inspect(config, { depth: null, showHidden: true, getters: true }),
    JSON.stringify(config, bigintAsText),
    JSON.stringify(structuredClone({ ...config.providers[0]?.apiKey })),
  ];
  expect(printed.join('\n')).not.toContain('geheim');
  const key = config.providers[0]?.apiKey;
  expect([`${key}`, inspect(key), JSON.stringify(key)]).toEqual(['[secret]', '[secret]', '"[secret]"']);
});

test('the stop switches stop the gateway, a provider and a model', async () => {
  const config = await load(`
stopped: true
providers: [{ id: p, kind: simulator, stopped: true }]
models: [{ id: imported/model, stopped: true }]`);
  expect(config.stopped).toBe(true);
  expect(config.providers[0]?.stopped).toBe(true);
  expect(config.stoppedModels).toEqual(['imported/model']);
  expect(config.models).toEqual([]);
});

test('a long-context price and a margin are read as written', async () => {
  const config = await load(`
providers: [{ id: p, kind: openai, baseUrl: "http://h/v1", priceFactor: "2" }]
models:
  - id: m
    contextLength: 1000000
    endpoints:
      - provider: p
        model: m-1
        contextLength: 500000
        pricing: { prompt: "1e-6", completion: "0.000004", overrides: [{ minPromptTokens: 200000, prompt: "2e-6" }] }`);
  const [endpoint] = config.models[0]?.endpoints ?? [];
  expect(endpoint?.contextLength).toBe(500_000);
  expect(endpoint?.prices.prompt).toBe(1_000_000_000_000n);
  expect(endpoint?.prices.overrides).toEqual([
    {
      minPromptTokens: 200_000,
      prompt: 2_000_000_000_000n,
      completion: null,
      cacheRead: null,
      cacheWrite: null,
      cacheWrite1h: null,
    },
  ]);
});

test('no daily share is written as null', async () => {
  expect(
    (await load('capacity: { dailySharePerAgentUsd: null }')).capacity.dailySharePerAgentNanoUsd,
  ).toBeNull();
});
