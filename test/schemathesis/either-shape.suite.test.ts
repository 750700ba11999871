import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FORMATS } from '../formats/requests.ts';
import { showMarket } from '../market/shown-market.ts';
import { startTestGateway, type TestAgent, type TestGateway, until } from '../support/gateway.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** `make test` puts it there, where the machine has Python. */
const tool = join(root, '.cache/schemathesis/bin/schemathesis');
const installed = existsSync(tool);
if (!installed) console.log('Skipped: no schemathesis. `make test` installs it where there is python3.');

let gateway: TestGateway;
let agent: TestAgent;
let folder: string;
const stops: (() => void)[] = [];
beforeAll(async () => {
  gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
limits: { callsPerMinute: 60000, burst: 60000, runningCalls: 100, marketWeightPerMinute: 1000000 }
providers: [{ id: sim, kind: simulator, cancel: bills_full, baseUrl: PROVIDER_URL }]
models:
  - id: acme/small
    contextLength: 32768
    maxOutputTokens: 4096
    inputModalities: [text, image, file]
    endpoints:
      - { provider: sim, model: faregate-sim/small, pricing: { prompt: "0.000000123", completion: "0.000000457" } }
`,
  });
  agent = await gateway.newAgent({ creditUsd: '1000' });
  folder = await mkdtemp(join(tmpdir(), 'faregate-schemathesis-'));
});
afterAll(async () => {
  for (const stop of stops) stop();
  await gateway.stop();
  await rm(folder, { recursive: true });
});

/**
 * What is left out: the spec says that a wrong method is 404 (`unsupported_method` wants 405), and that fields which no
 * schema names are passed on (`negative_data_rejection` wants a refusal); and which models are served, or which links
 * lead outside, no schema says (`positive_data_acceptance` wants no refusal).
 */
const LEFT_OUT = 'unsupported_method,negative_data_rejection,positive_data_acceptance';

async function run(document: string, ...options: string[]): Promise<{ code: number | null; output: string }> {
  const child = spawn(
    tool,
    [
      'run',
      document,
      `--url=${gateway.baseUrl}`,
      `--header=Authorization: Bearer ${agent.key}`,
      `--exclude-checks=${LEFT_OUT}`,
      '--generation-deterministic',
      '--no-color',
      ...options,
    ],
    { cwd: folder },
  );
  const pieces: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => pieces.push(piece));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, output: Buffer.concat(pieces).toString() };
}

/** Every call of this document names a model that is served and says who speaks, so that it comes as far as the provider. */
async function writeNarrowed(stream: boolean): Promise<string> {
  const document = JSON.parse(await readFile(join(root, 'openapi/v1.json'), 'utf8'));
  const { schemas } = document.components;
  for (const name of ['ChatCompletionRequest', 'ResponsesRequest', 'MessagesRequest']) {
    const { properties, required } = schemas[name];
    required.push('stream');
    properties.model = { const: 'acme/small' };
    properties.stream = { const: stream };
    properties.tools = { const: [] };
    properties.models = { const: [] };
  }
  for (const name of ['ChatMessage', 'Message', 'InputItem']) {
    schemas[name] = {
      type: 'object',
      required: ['role', 'content'],
      properties: { role: { const: 'user' }, content: { type: 'string', minLength: 1 } },
      additionalProperties: false,
    };
  }
  const file = join(folder, 'narrowed.json');
  await writeFile(file, JSON.stringify(document));
  return file;
}

describe.skipIf(!installed)('schemathesis finds no answer that the document does not describe', () => {
  it('to whatever its schemas allow and forbid', async () => {
    const { code, output } = await run(join(root, 'openapi/v1.json'), '--max-examples=20');
    expect(code, output).toBe(0);
    expect(output).toContain('Operations:       15 selected / 15 total');
    expect(output).toMatch(/ (\d+) generated, \1 passed/);
  });

  it.each([false, true])('to calls of a model that is served (stream: %s)', async (stream) => {
    gateway.provider.reset();
    const before = gateway.provider.billed().length;
    const document = await writeNarrowed(stream);
    const { code, output } = await run(
      document,
      '--phases=fuzzing',
      '--mode=positive',
      '--max-examples=30',
      '--include-path-regex=^/(chat|resp|mess)',
    );
    expect(code, output).toBe(0);
    const billed = gateway.provider.billed().slice(before);
    expect(billed.filter(({ streamed }) => streamed === stream).length).toBeGreaterThan(30);
    const paths = gateway.provider.requests().map(({ path }) => path);
    for (const format of FORMATS) expect(paths).toContain(`/api/v1/${format}`);
    await gateway.settled(agent);
  });

  it('to orders of pictures and videos that are made', async () => {
    gateway.provider.reset();
    const document = await writeNarrowedMedia();
    const { code, output } = await run(
      document,
      '--phases=fuzzing',
      '--mode=positive',
      '--max-examples=15',
      '--include-path-regex=^/(images|videos)$',
    );
    expect(code, output).toBe(0);
    const paths = gateway.provider.requests().map(({ path }) => path);
    expect(paths).toContain('/api/v1/images');
    // Its worker has been told of it, and asks in its own time.
    await until(() => gateway.provider.videos().length > 0);
    await gateway.settled(agent);
  });

  it('to reads of a market that is open', async () => {
    const document = await writeNarrowedMarkets();
    const { code, output } = await run(
      document,
      '--phases=coverage,fuzzing',
      '--max-examples=30',
      '--include-path-regex=^/dex',
    );
    expect(code, output).toBe(0);
    expect(output).toMatch(/ (\d+) generated, \1 passed/);
  });
});

/** Every read is of a market that is open, so that its parameters decide. */
async function writeNarrowedMarkets(): Promise<string> {
  const { market, publishBook } = await showMarket(gateway.running.deps.store.markets, 'schemathesis', 5);
  // In place of its keeper, which says it again each second.
  const timer = setInterval(() => void publishBook(), 1_000);
  stops.push(() => clearInterval(timer));
  const url = `${gateway.baseUrl}/dex/markets/${market}/book`;
  await until(async () => (await fetch(url)).status === 200);
  const document = JSON.parse(await readFile(join(root, 'openapi/v1.json'), 'utf8'));
  for (const read of ['book', 'candles']) {
    const { parameters } = document.paths[`/dex/markets/{id}/${read}`].get;
    parameters.find(({ name }: { name: string }) => name === 'id').schema = { const: market };
  }
  const file = join(folder, 'narrowed-markets.json');
  await writeFile(file, JSON.stringify(document));
  return file;
}

/** Every order names a model that is served, and no field of its own that this model may not list. */
async function writeNarrowedMedia(): Promise<string> {
  const document = JSON.parse(await readFile(join(root, 'openapi/v1.json'), 'utf8'));
  const orders = {
    ImageRequest: { model: 'faregate-sim/paint' },
    VideoRequest: { model: 'faregate-sim/clip', duration: 1, resolution: '480p', aspect_ratio: '16:9' },
  };
  for (const [name, order] of Object.entries(orders)) {
    const fixed = Object.entries(order).map(([field, value]) => [field, { const: value }]);
    document.components.schemas[name] = {
      type: 'object',
      required: ['prompt', ...Object.keys(order)],
      properties: {
        prompt: { type: 'string', minLength: 1, maxLength: 100 },
        ...Object.fromEntries(fixed),
      },
      additionalProperties: false,
    };
  }
  const file = join(folder, 'narrowed-media.json');
  await writeFile(file, JSON.stringify(document));
  return file;
}
