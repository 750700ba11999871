import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { GIGABYTE, MEGABYTE } from '#core/limits.ts';
import { formatAttoUsd, parseAttoUsd } from '#core/money.ts';
import { runCli } from '../../api/admin/cli/run-cli.ts';
import { checkClock, compareClocks } from '../../api/admin/doctor/check-clock.ts';
import { checkDisk } from '../../api/admin/doctor/check-data-folder.ts';
import { checkProvider } from '../../api/admin/doctor/check-provider.ts';
import { runChecks } from '../../api/admin/doctor/run-checks.ts';
import { cliEnvironment } from '../../api/config/cli-environment.ts';
import { loadConfig } from '../../api/config/config.ts';
import { testDataDir } from '../support/data-dir.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { startTestGateway, until } from '../support/gateway.ts';
import { startTestProvider, type TestProvider } from '../support/provider.ts';

const KEY = 'sk-0123456789abcdef';

/** The command in this process, on free ports. */
async function doctor(env: Record<string, string>, ...args: string[]) {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const environment = cliEnvironment({ PORT: '0', INTERNAL_PORT: '0', ...env });
  const code = await runCli(['doctor', ...args], { environment, stdin, stdout, stderr });
  stdout.end();
  stderr.end();
  return { code, out: await text(stdout), err: await text(stderr) };
}

const model = (upstreamModel: string, pricing: string) => `
  - id: own/${upstreamModel.replaceAll('/', '-')}
    name: Own
    contextLength: 8192
    inputModalities: [text]
    endpoints: [{ provider: sim, model: ${upstreamModel}, pricing: ${pricing} }]`;

/** What is found of a provider that a test has told what to do. */
const look = (provider: TestProvider, more = '', clock = systemClock) =>
  lookWith(
    `providers: [{ id: sim, kind: simulator, baseUrl: "${provider.baseUrl}", apiKeyEnv: SIM_KEY }]\n${more}`,
    clock,
  );

async function lookWith(yaml: string, clock = systemClock) {
  const config = await loadConfig({ FAREGATE_CONFIG: 'x.yaml', SIM_KEY: KEY }, async () => yaml);
  return (await Promise.all(config.providers.map((each) => checkProvider(each, config, clock)))).flat();
}

async function listedPrices(provider: TestProvider): Promise<{ prompt: string; completion: string }> {
  const { data } = JSON.parse(await (await fetch(`${provider.baseUrl}/models`)).text());
  return data.find(({ id }: { id: string }) => id === 'faregate-sim/small').pricing;
}

test('with no configuration at all, everything that a first start needs is looked at and well', async () => {
  await using folder = await testDataDir();
  const { code, out, err } = await doctor({ FAREGATE_DATA: join(folder.path, 'new') });
  expect([code, err]).toEqual([0, '']);
  expect(out).toMatch(/^CHECK +STATE +FOUND\nconfiguration +ok +no file is named by FAREGATE_CONFIG/);
  expect(out).toMatch(/\ndata folder +ok +\S+\/new is made by the first start, /);
  expect(out).toMatch(/\nprovider simulator +ok +the simulator, which starts with the gateway\n/);
  expect(out).toMatch(/\n\nEverything is as it should be\.\n$/);
});

test('a gateway that runs in the folder is found by its process', async () => {
  await using gateway = await startTestGateway();
  const env = { FAREGATE_CONFIG: gateway.configFile, FAREGATE_DATA: gateway.dataDir };
  const { code, out } = await doctor(env);
  expect(code).toBe(0);
  expect(out).toContain(`the gateway of process ${process.pid} has it`);
  expect(out).toMatch(
    /\nprovider sim +ok +it answers without a key; it lists \d+ models, [1-9]\d* of them with prices/,
  );
  expect(out).toMatch(/\nclock +ok .*as provider sim has it/);
});

test('each mistake of a configuration is a problem with its place, and programs get it as JSON', async () => {
  await using folder = await testDataDir();
  const file = join(folder.path, 'faregate.yaml');
  await writeFile(file, 'server: { prot: 1 }\nlimits: { burst: none }\n');
  const { code, out } = await doctor({ FAREGATE_CONFIG: file }, '--json');
  expect(code).toBe(1);
  expect(JSON.parse(out)).toMatchObject({
    ok: false,
    findings: [
      {
        check: 'configuration',
        state: 'problem',
        found: `${file}:1:11 server.prot: is no known key; did you mean port?`,
      },
      { check: 'configuration', state: 'problem', found: `${file}:2:18 limits.burst: has to be a number` },
    ],
  });
});

test('a key that the provider refuses is a problem, and is not shown', async () => {
  await using provider = await startTestProvider();
  provider.always({ path: '/key', status: 401 });
  const found = await look(provider);
  expect(found).toEqual([
    {
      check: 'provider sim',
      state: 'problem',
      found: 'it refuses the key (401)',
      todo: 'Put one that it knows where apiKeyEnv or apiKeyFile points.',
    },
  ]);
  expect(JSON.stringify(found)).not.toContain(KEY);
});

test('a provider that hangs is a problem after eight seconds, and the others are told all the same', async () => {
  await using provider = await startTestProvider();
  const clock = createFakeClock();
  provider.always({ path: '/models', request: 'ignore' });
  const found = look(provider, '', clock);
  await provider.until(() => provider.requests().some(({ path }) => path.endsWith('/models')));
  clock.advance(8_000);
  expect(await found).toMatchObject([{ state: 'problem', found: 'No whole answer within 8 s.' }]);
});

test('no call that costs anything is made', async () => {
  await using provider = await startTestProvider();
  await look(provider);
  const asked = provider.requests().map(({ method, path }) => `${method} ${path}`);
  expect(asked.toSorted()).toEqual(['GET /api/v1/key', 'GET /api/v1/models']);
});

test('a price below the listed one is a problem, one that only differs a warning, the same is neither', async () => {
  await using provider = await startTestProvider();
  const small = await listedPrices(provider);
  const at = (prompt: string) => `{ prompt: "${prompt}", completion: "${small.completion}", request: "0" }`;
  const own = (prompt: string) => `models:${model('faregate-sim/small', at(prompt))}`;
  const states = async (prompt: string) => (await look(provider, own(prompt))).map(({ state }) => state);
  expect(await states(small.prompt)).toEqual(['ok']);
  expect(await states('0.000000000001')).toEqual(['ok', 'problem']);
  expect(await states('0.01')).toEqual(['ok', 'warning']);
  const [, cheap] = await look(provider, own('0.000000000001'));
  expect(cheap?.found).toBe(`own/faregate-sim-small: prompt is 0.000000000001, and it lists ${small.prompt}`);
});

test('a margin that covers a lower price makes it no problem', async () => {
  await using provider = await startTestProvider();
  const { prompt, completion } = await listedPrices(provider);
  const half = formatAttoUsd((parseAttoUsd(prompt) ?? 0n) / 2n);
  const yaml = (factor: string) => `
providers: [{ id: sim, kind: simulator, baseUrl: "${provider.baseUrl}", priceFactor: "${factor}" }]
models:${model('faregate-sim/small', `{ prompt: "${half}", completion: "${completion}", request: "0" }`)}`;
  const states = async (factor: string) => (await lookWith(yaml(factor))).map(({ state }) => state);
  expect(await states('1.999')).toEqual(['ok', 'problem']);
  expect(await states('2')).toEqual(['ok', 'warning']);
});

test('a model that the provider does not list is named', async () => {
  await using provider = await startTestProvider();
  const pricing = '{ prompt: "0.000001", completion: "0.000001", request: "0" }';
  const found = await look(provider, `models:${model('nobody/has', pricing)}`);
  expect(found[1]).toMatchObject({ state: 'warning', found: 'it does not list nobody/has' });
});

test('what answers something else than a list of models is said to be no provider', async () => {
  await using provider = await startTestProvider();
  provider.always({ path: '/models', status: 200, body: '{"hello":"world"}' });
  expect(await look(provider)).toMatchObject([
    { state: 'problem', found: 'what it answers is no list of models' },
  ]);
});

test('a provider that is stopped is not asked', async () => {
  await using provider = await startTestProvider();
  const found = await lookWith(
    `providers: [{ id: sim, kind: simulator, baseUrl: "${provider.baseUrl}", stopped: true }]`,
  );
  expect(found).toMatchObject([{ state: 'warning' }]);
  expect(provider.requests()).toEqual([]);
});

test('a check that never ends is a problem after its time, and one that breaks hides no other', async () => {
  const clock = createFakeClock();
  const waiting: string[] = [];
  const found = runChecks(
    [
      { name: 'hangs', look: () => new Promise(() => {}) },
      { name: 'breaks', look: () => Promise.reject(new Error('one line\n    at a stack')) },
      { name: 'works', look: async () => [{ check: 'works', state: 'ok', found: 'yes', todo: null }] },
    ],
    { clock, onWaiting: (names) => void waiting.push(names.join(' ')) },
  );
  await expect.poll(() => waiting.at(-1)).toBe('hangs');
  clock.advance(10_000);
  expect((await found).map(({ check, state, found }) => [check, state, found])).toEqual([
    ['hangs', 'problem', 'no answer within 10 s'],
    ['breaks', 'problem', 'one line'],
    ['works', 'ok', 'yes'],
  ]);
  expect(clock.pendingTimers()).toBe(0);
});

test.each([
  [2 * GIGABYTE, undefined],
  [GIGABYTE - 1, 'warning'],
  [100 * MEGABYTE - 1, 'problem'],
  [null, undefined],
])('a disk with %s bytes left is a %s', (free, state) => {
  expect(checkDisk(free)[0]?.state).toBe(state);
});

test("a provider's clock is compared when it answers, however long another takes", async () => {
  await using quick = await startTestProvider();
  const clock = createFakeClock(Date.now());
  let looks = 0;
  const now = () => {
    looks += 1;
    return clock.now();
  };
  const slow = createServer(async (_, res) => {
    await until(() => looks > 0);
    clock.advance(20_000);
    res.end();
  });
  slow.listen(0, '127.0.0.1');
  await once(slow, 'listening');
  const { port } = slow.address() as AddressInfo;
  const config = await loadConfig(
    { FAREGATE_CONFIG: 'x.yaml' },
    async () => `providers:
  - { id: quick, kind: openai, baseUrl: "${quick.baseUrl}" }
  - { id: slow, kind: openai, baseUrl: "http://127.0.0.1:${port}/v1" }`,
  );
  const found = checkClock(config, { ...clock, now });
  expect((await found)[0]?.found).toMatch(/, as provider quick has it \([01] s apart\)$/);
  slow.close();
});

test('clocks that are five minutes apart are a problem, four are not', () => {
  const at = (apartMs: number) => compareClocks({ ours: 1e12, theirs: 1e12 - apartMs, whose: 'Redis' }).state;
  expect([at(240_000), at(-240_000), at(301_000), at(-301_000)]).toEqual(['ok', 'ok', 'problem', 'problem']);
});
