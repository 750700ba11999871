import { afterEach, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { SECOND_MS } from '#core/clock.ts';
import type { FetchedImage } from '../../api/inference/linked-images/fetch-image.ts';
import { BREAKER_FAILURES } from '../../api/inference/routing/endpoint-health.ts';
import type { ScriptRule } from '../../api/simulator/script-rule.ts';
import { formatYaml, modelOf } from '../formats/format-gateway.ts';
import { FORMATS, requestIn, ruleFor } from '../formats/requests.ts';
import { testDataDir } from '../support/data-dir.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { startTestGateway, type TestGateway, until } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { startTestProvider } from '../support/provider.ts';

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

const KIND = 'all formats';
const body = (stream: boolean, format: FormatName = 'chat') => requestIn(format, modelOf[KIND], { stream });

/** A gateway on a clock of its own, with a stream that has begun and waits. */
async function startStreaming(server: string, rule: ScriptRule = {}, format: FormatName = FORMATS[0]) {
  const clock = createFakeClock();
  const folder = await testDataDir();
  const provider = await startTestProvider();
  stops.push(
    async () => folder[Symbol.asyncDispose](),
    () => provider.close(),
  );
  const yaml = formatYaml('PROVIDER_URL', 'bills_full').replace(' }\n', `${server} }\n`);
  const options = { clock, provider, dataDir: folder.path, yaml };
  const gateway = await startTestGateway(options);
  stops.push(() => gateway.stop());
  provider.next(ruleFor(KIND, format, { chunks: 30, gate: 'open', gateAt: 3_000, ...rule }));
  const stream = await gateway.post(body(true, format), { path: pathOf(format) });
  await provider.reached('open');
  /** What the ledger says of the agent once the process has ended and its successor has asked for prices. */
  const after = async () => {
    const next = await startTestGateway(options);
    stops.push(() => next.stop());
    await passUntil(async () => (await next.view(gateway.agent)).holds.length === 0);
    return await next.view(gateway.agent);
  };
  /** The disk lives in real time, and what waits for it by this clock. */
  const passUntil = (condition: () => boolean | Promise<boolean>) =>
    until(() => {
      clock.advance(SECOND_MS / 10);
      return condition();
    });
  const passUntilDrained = async (drained: Promise<void>) => {
    let isOver = false;
    void drained.then(() => {
      isOver = true;
    });
    await passUntil(() => isOver);
  };
  return { clock, gateway, provider, stream, after, passUntilDrained };
}

const ready = (gateway: TestGateway) => fetch(`${gateway.running.internalUrl}/readyz`);

it('a drain: not ready, a late call is refused in words, a read is served, what runs goes on to its end and is charged', async () => {
  const { gateway, provider, stream, after, passUntilDrained } = await startStreaming('');
  expect((await ready(gateway)).status).toBe(200);
  const drained = gateway.running.drain();
  const unready = await ready(gateway);
  expect([unready.status, await unready.json()]).toEqual([
    503,
    { status: 'not ready', failing: ['draining'] },
  ]);
  expect(await gateway.metric('faregate_draining')).toBe(1);
  const late = await gateway.post(body(false));
  expect(late.status).toBe(503);
  expect(late.headers.get('retry-after')).toBe('1');
  expect(late.headers.get('connection')).toBe('close');
  expect(JSON.parse(await late.text()).error.code).toBe('gateway_busy');
  expect((await gateway.balance()).reserved_usd).not.toBe('0');
  provider.release('open');
  expect((await stream.text()).endsWith('data: [DONE]\n\n')).toBe(true);
  await passUntilDrained(drained);
  expect(await after()).toMatchObject({ runningCalls: 0, chargedNanoUsd: provider.billedNanoUsd() });
});

it('for the notice new calls are still taken, each on its last connection, and refused behind it', async () => {
  const { clock, gateway, provider, stream, passUntilDrained } =
    await startStreaming(', drainNoticeMs: 5000');
  const drained = gateway.running.drain();
  expect((await ready(gateway)).status).toBe(503);
  const taken = await gateway.post(body(false));
  expect([taken.status, taken.headers.get('connection')]).toEqual([200, 'close']);
  await taken.text();
  clock.advance(5 * SECOND_MS);
  await until(async () => (await gateway.post(body(false))).status === 503);
  provider.release('open');
  await stream.text();
  await passUntilDrained(drained);
});

it('a stop ends the notice of a drain, too', async () => {
  const { gateway, after, provider } = await startStreaming(', drainNoticeMs: 5000');
  const drained = gateway.running.drain();
  await gateway.running.stop();
  await drained;
  expect(await after()).toMatchObject({ runningCalls: 0 });
  provider.release('open');
});

it.each(FORMATS)(
  'a drain that has no more time ends a stream of %s by an error of its format, and what was written is charged',
  async (format) => {
    const { clock, gateway, stream, after, passUntilDrained } = await startStreaming(
      ', drainMs: 60000',
      { billUsd: '0.0000042' },
      format,
    );
    const drained = gateway.running.drain();
    await until(async () => (await gateway.post(body(false))).status === 503);
    clock.advance(59 * SECOND_MS);
    expect(gateway.running.deps.gateway.openCalls.size).toBe(1);
    clock.advance(SECOND_MS);
    await until(async () => (await gateway.metric('faregate_calls_cut_by_drain_total')) === 1);
    await passUntilDrained(drained);
    const text = await stream.text();
    expect(text).toContain('The gateway restarts and had no more time for this answer; try again.');
    expect(text).toMatch(errorOf[format]);
    expect(gateway.logged).toContainEqual({
      event: 'the drain has no more time: what still runs is ended',
      fields: { count: 1 },
    });
    expect(await after()).toMatchObject({ runningCalls: 0, chargedNanoUsd: 4_200n });
  },
);

const errorOf: Readonly<Record<FormatName, RegExp>> = {
  chat: /"code":"upstream_timeout".*\n\ndata: \[DONE\]\n\n$/,
  responses: /event: error\ndata: [^\n]*"type":"error"[^\n]*\n\nevent: response.failed\ndata: [^\n]*\n\n$/,
  messages: /event: error\ndata: [^\n]*"type":"error"[^\n]*\n\n$/,
};

it('a drain that has no more time ends whole answers free, as ones to be asked for again, and blames no provider', async () => {
  const { clock, gateway, provider, stream, after, passUntilDrained } =
    await startStreaming(', drainMs: 60000');
  provider.next(
    ...Array.from({ length: BREAKER_FAILURES }, () => ({ gate: 'whole', gateAt: 'headers' as const })),
  );
  const wholes = Array.from({ length: BREAKER_FAILURES }, () => gateway.post(body(false)));
  await until(() => provider.waitingAt('whole') === BREAKER_FAILURES);
  const drained = gateway.running.drain();
  provider.release('open');
  await stream.text();
  const paid = provider.billedNanoUsd();
  clock.advance(60 * SECOND_MS);
  for (const answer of await Promise.all(wholes)) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '15']);
    expect(JSON.parse(await answer.text()).error.code).toBe('gateway_unavailable');
  }
  await passUntilDrained(drained);
  expect(gateway.logged.filter(({ event }) => event.startsWith('calls of a model fail'))).toEqual([]);
  const { catalog, health } = gateway.running.deps.gateway;
  const [endpoint] = catalog.models().find(({ id }) => id === modelOf[KIND])?.endpoints ?? [];
  if (endpoint === undefined) throw new Error('no endpoint');
  const configured = catalog.provider(endpoint.providerId);
  if (configured === undefined) throw new Error('no provider');
  expect(health.waitFor({ endpoint, provider: configured })).toBeNull();
  expect(await after()).toMatchObject({ runningCalls: 0, chargedNanoUsd: paid });
});

it('a drain that has no more time waits for no image that is being fetched for a call', async () => {
  await using gateway = await startTestGateway({
    yaml: `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1, drainMs: 0 }
providers: [{ id: own, kind: openai, dialect: vllm, baseUrl: PROVIDER_URL }]
models:
  - id: acme/eyes
    contextLength: 32768
    maxOutputTokens: 4096
    inputModalities: [text, image]
    endpoints: [{ provider: own, model: eyes, pricing: { prompt: "0.0000001", completion: "0.0000004" } }]
`,
  });
  const asked = Promise.withResolvers<void>();
  const fetched = Promise.withResolvers<FetchedImage>();
  gateway.running.deps.gateway.fetchImage = () => {
    asked.resolve();
    return fetched.promise;
  };
  const content = [{ type: 'image_url', image_url: { url: 'https://images.example.com/cat.png' } }];
  const call = gateway.post({ model: 'acme/eyes', messages: [{ role: 'user', content }] });
  await asked.promise;
  const drained = gateway.running.drain();
  const answer = await call;
  expect([answer.status, JSON.parse(await answer.text()).error.code]).toEqual([503, 'gateway_unavailable']);
  fetched.resolve({ ok: false, words: 'could not be fetched' });
  await drained;
});
