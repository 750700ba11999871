import { expect, test } from 'vitest';
import { loadConfig } from '../../api/config/config.ts';
import { YAML_PROBLEMS_MAX } from '../../api/config/config-document.ts';
import { PROVIDER_KIND_NAMES } from '../../api/providers/provider-kinds.ts';
import { FILE, filesOf, linesOf, load, mistakes } from './support.ts';

const PROVIDER = 'providers: [{ id: p, kind: openai, baseUrl: "http://localhost:1/v1" }]\n';

test('a mistake names the file, the line, the column and the path', async () => {
  const wrong = load('limits:\n  burst: many\n');
  await expect(wrong).rejects.toThrow(
    `The configuration has a problem:\n  ${FILE}:2:10 limits.burst: has to be a number`,
  );
});

const cases: [string, string, string[]][] = [
  [
    'an unknown key names the nearest one',
    'limits:\n  callPerMinute: 5',
    ['2:3 limits.callPerMinute: is no known key; did you mean callsPerMinute?'],
  ],
  [
    'swapped letters are found too',
    'server: { prot: 80 }',
    ['1:11 server.prot: is no known key; did you mean port?'],
  ],
  ['an unknown key at the top', 'modles: []', ['1:1 modles: is no known key; did you mean models?']],
  [
    'an unknown key deep inside a list',
    `${PROVIDER}models:\n  - id: m\n    contextLength: 10\n    endpoints:\n      - { provider: p, model: m, pricing: { promt: "1", completion: "1" } }`,
    [
      '6:43 models[0].endpoints[0].pricing.prompt: is missing',
      '6:45 models[0].endpoints[0].pricing.promt: is no known key; did you mean prompt?',
    ],
  ],
  [
    'a secret in the place of a key is not shown',
    'providers:\n  - { id: p, kind: simulator, sk-or-v1-0123456789abcdef: 1, AKIAIOSFODNN7EXAMPLE: 2 }',
    ['2:31 providers[0].…: is no known key', '2:61 providers[0].…: is no known key'],
  ],
  [
    'nor is one in the place of a price key, of the name of a field, or a short one',
    'videoModels:\n  - pricing: { AKIAIOSFODNN7EXAMPLE: 1 }\nimageModels:\n  - parameters: { AKIAIOSFODNN7EXAMPLE: {} }\np4ss.w0rd!: 1',
    [
      '2:5 videoModels[0].id: is missing',
      '2:16 videoModels[0].pricing.…: is no price key of a router, such as duration_seconds_720p',
      '4:5 imageModels[0].id: is missing',
      '4:19 imageModels[0].parameters.…: has to be the name of a field',
      '5:1 …: is no known key',
    ],
  ],
  ['a key like no other has no suggestion', 'zzzz: 1', ['1:1 zzzz: is no known key']],
  [
    'two unknown keys of one map are two mistakes',
    'limits:\n  aaa: 1\n  bbb: 2',
    ['2:3 limits.aaa: is no known key', '3:3 limits.bbb: is no known key'],
  ],
  [
    'prototype keys are unknown keys',
    '__proto__: { stopped: true }\nconstructor: 1',
    ['1:1 __proto__: is no known key', '2:1 constructor: is no known key'],
  ],
  [
    'a key in the file is refused with the way out',
    'providers:\n  - { id: p, kind: simulator, apiKey: sk-1 }',
    [
      '2:31 providers[0].apiKey: a key never stands in this file; name a variable with apiKeyEnv or a file with apiKeyFile',
    ],
  ],
  [
    'a price as a bare number',
    `${PROVIDER}models: [{ id: m, contextLength: 9, endpoints: [{ provider: p, model: m, pricing: { prompt: 0.1, completion: "1" } }] }]`,
    [
      '2:93 models[0].endpoints[0].pricing.prompt: has to stand in quotes, as "0.0000025": a bare number is a float',
    ],
  ],
  [
    'a margin as a bare number',
    'providers:\n  - { id: p, kind: simulator, priceFactor: 1.055 }',
    ['2:44 providers[0].priceFactor: has to stand in quotes, as "1.055": a bare number is a float'],
  ],
  [
    'dollars as a bare number',
    'capacity: { perCallUsd: 50 }',
    ['1:25 capacity.perCallUsd: has to stand in quotes, as "12.5": a bare number is a float'],
  ],
  [
    'a price that is none',
    `${PROVIDER}models: [{ id: m, contextLength: 9, endpoints: [{ provider: p, model: m, pricing: { prompt: "-1", completion: "cheap" } }] }]`,
    [
      '2:93 models[0].endpoints[0].pricing.prompt: is no price: dollars per unit, as "0.0000025"',
      '2:111 models[0].endpoints[0].pricing.completion: is no price: dollars per unit, as "0.0000025"',
    ],
  ],
  [
    'a dialect that nobody knows',
    'providers: [{ id: p, kind: openai, baseUrl: "http://localhost:1/v1", dialect: unheard-of }]',
    [
      '1:79 providers[0].dialect: has to be other or openai or vllm or sglang or ollama or self-hosted or groq or together or fireworks or deepseek or moonshot or mistral or google',
    ],
  ],
  [
    'a dialect where there is only one',
    'providers: [{ id: p, kind: anthropic, dialect: other }]',
    ['1:48 providers[0].dialect: is for providers of kind openai only'],
  ],
  [
    'a margin of nothing',
    'providers: [{ id: p, kind: simulator, priceFactor: "0.0" }]',
    ['1:52 providers[0].priceFactor: has to be more than 0'],
  ],
  [
    'more dollars than a balance can hold',
    'capacity: { poolUsd: "9000000.1" }',
    ['1:22 capacity.poolUsd: is more than 9000000 dollars'],
  ],
  [
    'a number out of its range',
    'limits: { runningCalls: 0, callMs: 99999999 }',
    ['1:25 limits.runningCalls: has to be at least 1', '1:36 limits.callMs: has to be at most 7200000'],
  ],
  [
    'a notice that is longer than its drain',
    'server: { drainMs: 1000, drainNoticeMs: 1001 }',
    ['1:41 server.drainNoticeMs: is more than drainMs, which it is a part of'],
  ],
  ['a text where a list belongs', 'providers: openai', ['1:12 providers: has to be a list']],
  [
    'an empty block',
    'server: { port: 1 }\nlimits:\n',
    ['2:8 limits: is empty; give it a value, or leave the key out'],
  ],
  ['a yes that is no boolean', 'stopped: yes', ['1:10 stopped: has to be true or false']],
  [
    'a kind of provider that nobody serves',
    'providers: [{ id: p, kind: nothing }]',
    [`1:28 providers[0].kind: has to be ${PROVIDER_KIND_NAMES.join(' or ')}`],
  ],
  [
    'a provider that nothing can be translated for',
    'providers: [{ id: p, kind: openai, baseUrl: "http://x/v1", formats: [responses] }]',
    ['1:69 providers[0].formats: has to name chat/completions or messages'],
  ],
  [
    'a format that nobody speaks',
    'providers: [{ id: p, kind: openai, baseUrl: "http://x/v1", formats: [completions] }]',
    ['1:70 providers[0].formats[0]: has to be chat/completions or responses or messages'],
  ],
  [
    'an S3 store of which nothing is said',
    'files: { kind: s3 }',
    [
      '1:8 files.endpoint: is missing: kind s3 needs it',
      '1:8 files.bucket: is missing: kind s3 needs it',
      '1:8 files.accessKeyIdEnv: is missing: write accessKeyIdEnv or accessKeyIdFile',
      '1:8 files.secretAccessKeyEnv: is missing: write secretAccessKeyEnv or secretAccessKeyFile',
    ],
  ],
  [
    'keys of an S3 store beside the local folder',
    'files: { bucket: images }',
    ['1:18 files.bucket: belongs to kind s3'],
  ],
  [
    'a key of an S3 store in the file',
    'files: { kind: s3, endpoint: "http://h", bucket: images, accessKeyIdEnv: NOT_SET, secretAccessKey: abc }',
    ['1:83 files.secretAccessKey: is no known key; did you mean secretAccessKeyEnv?'],
  ],
  ['a provider that misses its kind', 'providers:\n  - id: p', ['2:5 providers[0].kind: is missing']],
  [
    'an openai provider without address',
    'providers:\n  - { id: p, kind: openai }',
    ['2:5 providers[0].baseUrl: is missing: a provider of kind openai needs an address'],
  ],
  [
    'an address of the wrong type is one mistake',
    'providers:\n  - { id: p, kind: openai, baseUrl: 5 }',
    ['2:37 providers[0].baseUrl: has to be a text'],
  ],
  [
    'a base URL with the path of a format',
    'providers: [{ id: p, kind: openai, baseUrl: "http://x/v1/chat/completions/" }]',
    ['1:45 providers[0].baseUrl: has to end before /chat/completions and the like, which are appended'],
  ],
  [
    'an address with a password',
    'providers: [{ id: p, kind: openai, baseUrl: "https://u:geheim@host/v1" }]',
    ['1:45 providers[0].baseUrl: is no http or https address without user, query and fragment'],
  ],
  [
    'an address whose host name has an empty label',
    'providers: [{ id: p, kind: openai, baseUrl: "https://models..example.com/v1" }]',
    ['1:45 providers[0].baseUrl: is no http or https address without user, query and fragment'],
  ],
  [
    'prices that a server of kind openai does not list',
    'providers: [{ id: p, kind: openai, baseUrl: http://h/v1, catalog: import }]',
    [
      '1:67 providers[0].catalog: cannot be import: servers of kind openai list no prices; write its models below',
    ],
  ],
  [
    'two ways to the key',
    'providers: [{ id: p, kind: simulator, apiKeyEnv: A, apiKeyFile: /f }]',
    ['1:65 providers[0].apiKeyFile: stands beside apiKeyEnv; keep one of the two'],
  ],
  [
    'ids that stand twice',
    'providers: [{ id: p, kind: simulator }, { id: p, kind: simulator }]\nmodels: [{ id: m, stopped: true }, { id: m, stopped: true }]',
    ['1:47 providers[1].id: stands twice in this list', '2:42 models[1].id: stands twice in this list'],
  ],
  [
    'an endpoint at no provider',
    `${PROVIDER.replace('id: p', 'id: vllm')}models:\n  - id: m\n    contextLength: 9\n    endpoints:\n      - { provider: vlm, model: m, pricing: { prompt: "1", completion: "1" } }`,
    ['6:21 models[0].endpoints[0].provider: names no provider of this configuration; did you mean vllm?'],
  ],
  [
    'a model without what it takes to serve it',
    'models:\n  - id: m',
    ['2:5 models[0].contextLength: is missing', '2:5 models[0].endpoints: is missing'],
  ],
  [
    'a model id that ends in a steering suffix',
    'models: [{ id: "a/b:free", stopped: true }]',
    ['1:16 models[0].id: ends in a suffix that callers add to ids (:online, :free and the like)'],
  ],
  [
    'a proxy network that is none',
    'server: { trustedProxies: [10.0.0.0/8, 10.0.0.0/33, anywhere] }',
    [
      '1:40 server.trustedProxies[1]: is no IP address or CIDR range',
      '1:53 server.trustedProxies[2]: is no IP address or CIDR range',
    ],
  ],
  [
    'a header name that would replace another',
    'server: { callIdHeader: Content-Length }',
    ['1:25 server.callIdHeader: has to be a lower-case header name that begins with x-'],
  ],
  [
    'a call id header under the name of another',
    'server: { callIdHeader: x-hold-usd }',
    ['1:25 server.callIdHeader: is the name of another header that this service sends or reads'],
  ],
  ['the whole file is a list', '- a', ['1:1 has to be a map of keys']],
  ['a key that stands twice', 'stopped: true\nstopped: false', ['2:1 is no YAML: Map keys must be unique']],
  [
    'text that is no YAML',
    'limits: [1',
    ['1:11 is no YAML: Flow sequence in block collection must be sufficiently indented and end with a ]'],
  ],
];

test.each(cases)('%s', async (_name, yaml, expected) => {
  expect(await mistakes(yaml)).toEqual(expected);
});

test('a file that is no YAML is told by its first mistakes, however many follow from them', async () => {
  const told = await mistakes('['.repeat(20_000));
  expect(told).toHaveLength(YAML_PROBLEMS_MAX);
  for (const line of told) expect(line).toMatch(/^\d+:\d+ is no YAML: /);
});

test('all mistakes are listed at once, in the order of the file, whatever kind they are', async () => {
  const yaml = [
    'limits: { burst: -1, brst: 2 }',
    'providers:',
    '  - { id: p, kind: openai, baseUrl: http://h/v1, apiKeyEnv: NOT_SET }',
    'models:',
    '  - { id: m, contextLength: 9, endpoints: [{ provider: q, model: m, pricing: { prompt: 0.1 } }] }',
  ].join('\n');
  const error = linesOf(loadConfig({ FAREGATE_CONFIG: FILE, PORT: 'http' }, filesOf({ [FILE]: yaml })));
  expect(await error).toEqual([
    'environment PORT: has to be a port number, from 0 to 65535',
    '1:18 limits.burst: has to be at least 1',
    '1:22 limits.brst: is no known key; did you mean burst?',
    '3:61 providers[0].apiKeyEnv: names an environment variable that is not set',
    '5:56 models[0].endpoints[0].provider: names no provider of this configuration',
    '5:78 models[0].endpoints[0].pricing.completion: is missing',
    '5:88 models[0].endpoints[0].pricing.prompt: has to stand in quotes, as "0.0000025": a bare number is a float',
  ]);
});

test('mistakes behind an anchor are found where the anchor stands', async () => {
  const yaml =
    'providers:\n  - &base { id: p, kind: nothing }\nmodels: []\nserver: { trustedProxies: &t [x] }';
  expect(await mistakes(yaml)).toEqual([
    `2:26 providers[0].kind: has to be ${PROVIDER_KIND_NAMES.join(' or ')}`,
    '4:31 server.trustedProxies[0]: is no IP address or CIDR range',
  ]);
});

test('a file that expands without end is refused, not expanded', async () => {
  const levels = Array.from({ length: 12 }, (_, at) => `l${at + 1}: &l${at + 1} [${`*l${at}, `.repeat(10)}]`);
  const [first] = await mistakes(['l0: &l0 [a]', ...levels].join('\n'));
  expect(first).toBe('1:1 has anchors or aliases that cannot be followed');
});

test('a file that is missing or too large stops the start', async () => {
  expect(await linesOf(loadConfig({ FAREGATE_CONFIG: '/no/such' }, filesOf({})))).toEqual([
    '/no/such cannot be read (ENOENT: there is no such file); FAREGATE_CONFIG names it',
  ]);
  expect(await mistakes(`# ${'x'.repeat(1024 * 1024)}`)).toEqual([
    '/etc/faregate/faregate.yaml is larger than 1048576 bytes',
  ]);
});

test('both ports on one number are refused', async () => {
  expect(await linesOf(loadConfig({ PORT: '9090' }))).toEqual([
    'environment INTERNAL_PORT: is the same as PORT: each needs its own',
  ]);
});

test('no mistake repeats a value, so a key pasted in the wrong place stays unseen', async () => {
  const pasted = 'gsk_verysecret';
  const yaml = [
    'providers:',
    `  - { id: a, kind: openai, baseUrl: "https://x:${pasted}@h/v1", apiKeyEnv: ${pasted} }`,
    `  - { id: b, kind: ${pasted}, apiKeyFile: ${pasted}, priceFactor: ${pasted} }`,
    `  - { id: c, kind: simulator, apiKey: ${pasted}, key: "${pasted}" }`,
    'server:',
    `  publicUrl: ${pasted}`,
  ].join('\n');
  const lines = await mistakes(yaml, { OTHER: pasted });
  expect(lines.length).toBeGreaterThanOrEqual(8);
  expect(lines.join('\n')).not.toContain(pasted);
  for (const broken of [`a: ${pasted}\na: "${pasted}`, `a: |${pasted}`, `a: ]${pasted}`, `a: !${pasted}! {}`])
    expect((await mistakes(broken)).join('\n')).not.toContain(pasted);
});
