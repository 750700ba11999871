import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FORMATS } from '../formats/requests.ts';
import { showMarket } from '../market/shown-market.ts';
import { startTestGateway, type TestAgent, type TestGateway, until } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { sharedCluster } from '../support/shared-cluster.ts';
import { fuzz, hasSchemathesis } from './fuzz.ts';
import {
  narrowToCalls,
  narrowToMarket,
  narrowToMedia,
  narrowToStrangers,
  wholeDocument,
} from './narrow-document.ts';

const MODEL = 'acme/small';
/** What a schema forbids is refused before either shape differs from the other, so a cluster is tried less. */
const onCluster = sharedCluster() !== undefined;
const share = onCluster ? 1 / 5 : 1;
const examples = (count: number): string => `--max-examples=${Math.ceil(count * share)}`;
const wholePhases = onCluster ? 'fuzzing' : 'examples,coverage,fuzzing,stateful';
/** Minutes of a busy machine: a run takes seconds of one that is not. */
const TIMEOUT_MS = 180_000;

let gateway: TestGateway;
let agent: TestAgent;
const stops: (() => unknown)[] = [];
beforeAll(async () => {
  gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
limits: { callsPerMinute: 60000, burst: 60000, runningCalls: 100, marketWeightPerMinute: 1000000 }
providers: [{ id: sim, kind: simulator, cancel: bills_full, baseUrl: PROVIDER_URL }]
models:
  - id: ${MODEL}
    contextLength: 32768
    maxOutputTokens: 4096
    inputModalities: [text, image, file]
    endpoints:
      - { provider: sim, model: faregate-sim/small, pricing: { prompt: "0.000000123", completion: "0.000000457" } }
`,
  });
  agent = await gateway.newAgent({ creditUsd: '1000' });
});
afterAll(async () => {
  for (const stop of stops) await stop();
  await gateway.stop();
});

const run = (document: object, ...options: string[]) =>
  runAs([`Authorization: Bearer ${agent.key}`], document, ...options);

const runAs = (headers: string[], document: object, ...options: string[]) =>
  fuzz({ baseUrl: gateway.baseUrl, document, headers, options });

describe.skipIf(!hasSchemathesis)(
  'schemathesis finds no answer that the document does not describe',
  { timeout: TIMEOUT_MS },
  () => {
    it('to whatever its schemas allow and forbid', async () => {
      const { code, output } = await run(wholeDocument(), `--phases=${wholePhases}`, examples(20));
      expect(code, output).toBe(0);
      expect(output).toContain('Operations:       15 selected / 15 total');
      expect(output).toMatch(/ (\d+) generated, \1 passed/);
    });

    it.each([
      ['no key', []],
      ['keys that nobody has', ['Authorization: Bearer fg_unknown', 'x-api-key: fg_other']],
    ])('to requests with %s, all refused that need one', async (_, headers) => {
      const { code, output } = await runAs(headers, narrowToStrangers(), '--phases=fuzzing', examples(5));
      expect(code, output).toBe(0);
      expect(output).toContain('Operations:       15 selected / 15 total');
    });

    it.each([false, true])('to calls of a model that is served (stream: %s)', async (stream) => {
      gateway.provider.reset();
      const before = gateway.provider.billed().length;
      const { code, output } = await run(
        narrowToCalls(MODEL, stream),
        '--phases=fuzzing',
        '--mode=positive',
        examples(30),
        '--include-path-regex=^/(chat|resp|mess)',
      );
      expect(code, output).toBe(0);
      const billed = gateway.provider.billed().slice(before);
      expect(billed.filter(({ streamed }) => streamed === stream).length).toBeGreaterThan(30 * share);
      const paths = gateway.provider.requests().map(({ path }) => path);
      for (const format of FORMATS) expect(paths).toContain(`/api/v1${pathOf(format)}`);
      await gateway.settled(agent);
    });

    it('to orders of images and videos that are made', async () => {
      gateway.provider.reset();
      const { code, output } = await run(
        narrowToMedia(),
        '--phases=fuzzing',
        '--mode=positive',
        examples(15),
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
      const document = narrowToMarket(await openMarket());
      const { code, output } = await run(
        document,
        `--phases=${onCluster ? 'fuzzing' : 'coverage,fuzzing'}`,
        examples(30),
        '--include-path-regex=^/dex',
      );
      expect(code, output).toBe(0);
      expect(output).toMatch(/ (\d+) generated, \1 passed/);
    });
  },
);

async function openMarket(): Promise<string> {
  const shown = await showMarket(gateway.running.deps.store.markets, 'schemathesis', 5);
  stops.push(() => shown[Symbol.asyncDispose]());
  const url = `${gateway.baseUrl}/dex/markets/${shown.market}/book`;
  await until(async () => (await fetch(url)).status === 200);
  return shown.market;
}
