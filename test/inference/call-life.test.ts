import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Capacity } from '#core/capacity/capacity.ts';
import type { ProviderCancel } from '#core/catalog/catalog.ts';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { createIdSource } from '#core/ids.ts';
import type { Durability } from '#core/ledger/ledger.ts';
import { defaultLimits, GATE_TIMEOUT_MS, STALLED_READER_MS, USAGE_DRAIN_MS } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import { formatUsd } from '#core/money.ts';
import { GcraBuckets } from '#core/rates/gcra.ts';
import { chatFormat } from '../../api/inference/formats/chat-format.ts';
import type { Gateway } from '../../api/inference/hold/gateway.ts';
import { LedgerRetries } from '../../api/inference/hold/ledger-retries.ts';
import { OpenCalls } from '../../api/inference/hold/open-calls.ts';
import { runCall } from '../../api/inference/run-call.ts';
import { UpstreamPools } from '../../api/inference/upstream/upstream-pools.ts';
import type { UpstreamRequest } from '../../api/inference/upstream/upstream-request.ts';
import { readAgent } from '../ledger/case.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { plainHealth } from '../support/plain-health.ts';
import { type FakeController, FakeResponse, fakeUpstream } from './fake-ends.ts';
import { startFundedLedger } from './funded-ledger.ts';
import { bodyWith, provider, testCatalog } from './support.ts';

const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Every provider's end, played by the test. */
class ScriptedPools extends UpstreamPools {
  readonly requests: { upstream: UpstreamRequest; controller: FakeController }[] = [];

  override post(): UpstreamRequest {
    const ends = fakeUpstream();
    this.requests.push(ends);
    return ends.upstream;
  }
}

const soon = () => new Promise<void>((resolve) => setImmediate(resolve));
async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await soon();
}

async function startWorld(members: string[], cancel: ProviderCancel = 'stops_billing') {
  const clock = createFakeClock();
  const { memory, ledger, confirm } = await startFundedLedger(clock);

  const log = { info() {}, warn() {}, error: (event: string) => void faults.push(event) };
  const faults: string[] = [];
  const pending: number[] = [];
  const upstreams = new ScriptedPools();
  const capacity = new Capacity(
    () => ({ perCallNanoUsd: 10n ** 12n, poolNanoUsd: 10n ** 12n, runningCalls: 10 }),
    { isOver: () => false },
  );
  const openCalls = new OpenCalls(clock, silent);
  const gateway: Gateway = {
    clock,
    ids: createIdSource(clock),
    log,
    metrics: { started() {}, refused() {}, ended() {}, priced() {}, loss() {}, added() {}, provider() {} },
    ledger,
    ledgerRetries: new LedgerRetries({ ledger, clock, log }),
    catalog: testCatalog({ providers: [provider({ cancel })] }),
    costs: { note() {} },
    capacity,
    refusedStarts: new GcraBuckets({ ratePerMinute: () => 600, burst: () => 60 }),
    openCalls,
    upstreams,
    files: null,
    placeImage: () => null,
    fetchImage: async () => ({ ok: false, words: 'cannot be fetched' }),
    gateTimeoutMs: GATE_TIMEOUT_MS,
    limits: () => defaultLimits,
    waitForClockMs: () => 0,
    dailyShareNanoUsd: () => null,
    callIdHeader: 'x-call-id',
    nonce: 'n',
    health: plainHealth(),
    watchPending: (_agentId, callId) => void pending.push(callId),
    watchVideo: () => undefined,
  };
  const res = new FakeResponse();
  const caller = { agentId: 1, keyId: 1, agentStatus: 'active' } as const;
  const start = () =>
    runCall(gateway, chatFormat, {
      caller,
      confirmCaller: async () => caller,
      callId: gateway.ids.next(),
      callIdHeader: 'x-call-id',
      shape: 'chat',
      body: Buffer.from(bodyWith(...members)),
      req: new IncomingMessage(new Socket()),
      res,
    });
  const view = () => readAgent(memory, 1);
  return {
    clock,
    memory,
    gateway,
    res,
    start,
    view,
    confirm,
    upstreams,
    faults,
    pending,
    capacity,
    openCalls,
  };
}

const chunk = (text: string) =>
  `data: {"id":"gen-1","choices":[{"index":0,"delta":{"content":"${text}"}}]}\n\n`;
const usage = (cost: string) => `{"prompt_tokens":3,"completion_tokens":2,"total_tokens":5,"cost":${cost}}`;
const COST = 12_345n;
const stream = `${chunk('a')}: hi\n\n${chunk('b')}data: {"id":"gen-1","choices":[],"usage":${usage('0.000012345')}}\n\ndata: [DONE]\n\n`;
const answer = `{"id":"gen-1","choices":[{"index":0,"message":{"content":"ab"}}],"usage":${usage('0.000012345')}}`;

const SSE = { 'content-type': 'text/event-stream', 'x-generation-id': 'gen-1' };
const JSON_TYPE = { 'content-type': 'application/json', 'x-generation-id': 'gen-1' };

type Step = (controller: FakeController, upstream: UpstreamRequest) => void;
const connect: Step = (controller, upstream) => upstream.onRequestStart(controller);
const headers = (status: number, named: Record<string, string>): Step => {
  return (controller, upstream) => upstream.onResponseStart(controller, status, named);
};
const data = (text: string): Step => {
  return (controller, upstream) => upstream.onResponseData(controller, Buffer.from(text));
};
const end: Step = (_controller, upstream) => upstream.onResponseEnd();
const reset: Step = (controller, upstream) => upstream.onResponseError(controller, new Error('reset'));

/** In as many pieces as there are cuts. */
const pieces = (text: string, cuts: readonly number[]): Step[] => {
  const places = [0, ...cuts.map((cut) => cut % text.length).sort((a, b) => a - b), text.length];
  return places.slice(1).map((to, i) => data(text.slice(places[i], to)));
};

/** What a provider does, from its connection to its end; some of it never happens. */
const anyScript: fc.Arbitrary<{ isStream: boolean; isWhole: boolean; steps: Step[] }> = fc
  .record({
    isStream: fc.boolean(),
    ending: fc.constantFrom(
      'whole',
      'whole, left open',
      'cut short',
      'silent',
      'refused',
      'unreachable',
      'errors inside',
    ),
    cuts: fc.array(fc.nat(), { maxLength: 4 }),
    kept: fc.nat(),
  })
  .map(({ isStream, ending, cuts, kept }) => {
    const body = pieces(isStream ? stream : answer, cuts);
    const opened = [connect, headers(200, isStream ? SSE : JSON_TYPE)];
    const scripts: Record<typeof ending, Step[]> = {
      whole: [...opened, ...body, end],
      'whole, left open': [...opened, ...body],
      'cut short': [...opened, ...body.slice(0, kept % body.length), reset],
      silent: [...opened, ...body.slice(0, kept % body.length)],
      refused: [connect, headers(503, JSON_TYPE), data('{"error":{"code":503}}'), end],
      unreachable: [connect, reset],
      'errors inside': [
        ...opened,
        data(isStream ? 'data: {"error":{"code":502}}\n\n' : '{"error":{"code":502}}'),
        end,
      ],
    };
    return { isStream, isWhole: ending === 'whole', steps: scripts[ending] };
  });

/** Before which step something happens; beyond the last: at the end. */
const moment = fc.nat({ max: 9 });

it('whenever the caller leaves, the hold is confirmed or the provider fails: one end, no leak, no more than the hold', async () => {
  await fc.assert(
    fc.asyncProperty(
      anyScript,
      fc.option(moment, { nil: null }),
      fc.option(moment, { nil: null }),
      fc.constantFrom<Durability>('durable', 'unknown'),
      fc.constantFrom<ProviderCancel>('stops_billing', 'bills_full'),
      async ({ isStream, isWhole, steps }, hangUpAt, confirmedAt, durability, cancel) => {
        const asked = isStream ? ['"stream":true', '"stream_options":{"include_usage":true}'] : [];
        const world = await startWorld(asked, cancel);
        const { clock, res, upstreams, openCalls } = world;
        const at = (step: number) => {
          if (hangUpAt === step) {
            res.hangUp();
            // Nothing has been sent before the first step, so there is nothing to read on. A whole answer may still end its response.
            const isOver = (upstream: UpstreamRequest) => upstream.ended || res.ended;
            if (cancel === 'stops_billing' || step <= 1)
              expect(upstreams.requests.every(({ upstream }) => isOver(upstream))).toBe(true);
          }
          if (confirmedAt === step) world.confirm(durability);
        };
        at(0);
        const running = world.start();
        for (const [i, step] of steps.entries()) {
          await settled();
          at(i + 1);
          await settled();
          const request = upstreams.requests.at(-1);
          if (request !== undefined && !request.upstream.ended) step(request.controller, request.upstream);
        }
        for (let left = steps.length + 1; left < 11; left++) at(left);
        for (let passed = 0; passed < 31 * MINUTE_MS; passed += MINUTE_MS / 2) {
          clock.advance(passed < 4 * SECOND_MS ? SECOND_MS : MINUTE_MS / 2);
          await settled();
        }
        const error = await running;
        await settled();

        const view = await world.view();
        const ends = world.memory.journal.filter(({ type }) => type === 'settled' || type === 'finished');
        expect(ends).toHaveLength(1);
        expect(view.holds.length).toBe(world.pending.length);
        expect(view.runningCalls).toBe(0);
        const held = world.memory.journal.find((event) => event.type === 'reserved')?.nanoUsd ?? '0';
        expect(view.chargedNanoUsd).toBeLessThanOrEqual(BigInt(held));
        expect([openCalls.size, openCalls.usageDrains, openCalls.streams]).toEqual([0, 0, 0]);
        expect([world.capacity.heldNanoUsd, world.capacity.runningCalls]).toEqual([0n, 0]);
        expect(upstreams.requests.every(({ upstream }) => upstream.ended)).toBe(true);
        // Whoever hangs up now is no caller of this call any more.
        res.emit('close');
        expect(openCalls.usageDrains).toBe(0);
        expect(clock.pendingTimers()).toBe(0);
        expect(world.faults).toEqual([]);

        const isGated = confirmedAt === null || durability === 'unknown';
        if (isGated) expect([res.status, view.chargedNanoUsd]).toEqual([null, 0n]);
        if (hangUpAt === 0) expect([upstreams.requests.length, view.chargedNanoUsd]).toEqual([0, 0n]);
        const isRead =
          hangUpAt === null || hangUpAt > steps.length || (cancel === 'bills_full' && hangUpAt > 1);
        if (isWhole && !isGated && isRead) expect(view.chargedNanoUsd).toBe(COST);
        if (hangUpAt === 1) expect([view.chargedNanoUsd, view.holds]).toEqual([0n, []]);
        if (error !== null) expect(res.status).toBeNull();
        else if (!res.destroyed) expect(res.ended).toBe(true);
        const shown = /"cost":([\d.]+)/.exec(res.text)?.[1];
        if (shown !== undefined) expect(shown).toBe(formatUsd(view.chargedNanoUsd));
        if (res.ended && isStream) expect(res.text.endsWith('data: [DONE]\n\n')).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});

/** Runs a call whose hold is durable at once and whose provider answers so; what the call comes to. */
async function answerWith(
  world: Awaited<ReturnType<typeof startWorld>>,
  named: Record<string, string>,
  text: string,
) {
  const running = world.start();
  world.confirm('durable');
  await settled();
  const [request] = world.upstreams.requests;
  if (request === undefined) throw new Error('nothing was asked');
  for (const step of [connect, headers(200, named), data(text), end]) {
    step(request.controller, request.upstream);
    await settled();
  }
  return running;
}

it('an answer that comes whole is charged what it cost, and says so', async () => {
  for (const isStream of [true, false]) {
    const world = await startWorld(
      isStream ? ['"stream":true', '"stream_options":{"include_usage":true}'] : [],
    );
    expect(await answerWith(world, isStream ? SSE : JSON_TYPE, isStream ? stream : answer)).toBeNull();
    expect((await world.view()).chargedNanoUsd).toBe(COST);
    expect(world.res.text).toContain('"cost":0.000012345');
  }
});

it.each(['"usage":0', usage('5'), '"usage":{}'].map((repeated) => [repeated]))(
  'usage that comes again and again (%s) is charged as it came first, shown so, and shown once',
  async (repeated) => {
    const again = repeated.startsWith('{') ? `"usage":${repeated}` : repeated;
    const repeatedAnswer = `${answer.slice(0, -1)}${`,${again}`.repeat(8)}}`;
    const repeatedStream = `${chunk('a')}data: {"id":"gen-1","choices":[],"usage":${usage('0.000012345')}${`,${again}`.repeat(8)}}\n\ndata: [DONE]\n\n`;
    for (const isStream of [true, false]) {
      const world = await startWorld(
        isStream ? ['"stream":true', '"stream_options":{"include_usage":true}'] : [],
      );
      await answerWith(world, isStream ? SSE : JSON_TYPE, isStream ? repeatedStream : repeatedAnswer);
      expect((await world.view()).chargedNanoUsd).toBe(COST);
      expect(world.res.text.match(/"usage":/g)).toHaveLength(1);
      expect(world.res.text).toContain('"cost":0.000012345');
      expect(world.faults).toEqual([]);
    }
  },
);

it('a fault after the charge cuts the answer: the charge stands, and nobody is told that it was free', async () => {
  const world = await startWorld([]);
  world.res.writeHead = () => {
    throw new Error('a fault');
  };
  expect(await answerWith(world, JSON_TYPE, answer)).toBeNull();
  expect(world.faults).toHaveLength(1);
  expect(world.res.destroyed).toBe(true);
  expect((await world.view()).chargedNanoUsd).toBe(COST);
  expect(world.memory.journal.filter(({ type }) => type === 'settled')).toHaveLength(1);
});

/** A stream that the provider has begun and the caller reads. */
async function startStream(cancel: ProviderCancel) {
  const world = await startWorld(['"stream":true'], cancel);
  const running = world.start();
  world.confirm('durable');
  await settled();
  const [request] = world.upstreams.requests;
  if (request === undefined) throw new Error('nothing was asked');
  const { controller, upstream } = request;
  for (const step of [connect, headers(200, SSE), data(chunk('a'))]) step(controller, upstream);
  await settled();
  return { ...world, running, controller, upstream };
}

it('a provider that bills to the end and waited for a slow caller goes on when that one has gone', async () => {
  const { res, controller, upstream } = await startStream('bills_full');
  res.flowing = false;
  data(chunk('b'))(controller, upstream);
  await settled();
  expect(controller.paused).toBe(true);
  res.hangUp();
  expect(controller.paused).toBe(false);
});

it.each(['stops_billing', 'bills_full'] as const)(
  'what was written before an error is not given away, even for an error that is free (%s)',
  async (cancel) => {
    const { res, controller, upstream, running, memory, pending } = await startStream(cancel);
    data('data: {"error":{"code":429,"message":"x"}}\n\n')(controller, upstream);
    expect(await running).toBeNull();
    expect(res.text).toContain('"code":"model_busy"');
    expect(memory.journal.at(-1)).toMatchObject({ type: 'finished', end: { outcome: 'failed' } });
    expect(pending).toHaveLength(1);
  },
);

it('the connection to a provider that stops is closed in the turn in which the caller leaves, and the call settles at once', async () => {
  const { controller, running, ...world } = await startStream('stops_billing');
  world.res.hangUp();
  expect(controller.aborted).toBe(true);
  expect(world.openCalls.usageDrains).toBe(0);
  await running;
  expect(world.memory.journal.at(-1)).toMatchObject({
    type: 'finished',
    end: { outcome: 'stopped' },
    pending: { generationId: 'gen-1', promptRead: true },
  });
  expect(world.pending).toHaveLength(1);
  expect((await world.view()).runningCalls).toBe(0);
});

it('a reader that takes nothing for a minute has hung up, for the provider too', async () => {
  const { controller, upstream, running, ...world } = await startStream('stops_billing');
  world.res.flowing = false;
  data(chunk('b'))(controller, upstream);
  await settled();
  expect(controller.paused).toBe(true);
  for (let passed = 0; passed < STALLED_READER_MS; passed += 10 * SECOND_MS) {
    expect(controller.aborted).toBe(false);
    world.clock.advance(10 * SECOND_MS);
    await settled();
  }
  expect(controller.aborted).toBe(true);
  await running;
  expect(world.memory.journal.at(-1)).toMatchObject({ type: 'finished', end: { outcome: 'stopped' } });
});

it('a caller who has gone is read on for a minute where the provider bills to the end, and is no running call meanwhile', async () => {
  const { controller, running, ...world } = await startStream('bills_full');
  expect((await world.view()).runningCalls).toBe(1);
  world.res.hangUp();
  await settled();
  expect(world.openCalls.usageDrains).toBe(1);
  expect([world.capacity.runningCalls, (await world.view()).runningCalls]).toEqual([0, 0]);
  expect((await world.view()).holds).toHaveLength(1);
  expect(world.capacity.heldNanoUsd).toBeGreaterThan(0n);
  for (let second = 1; second < USAGE_DRAIN_MS / SECOND_MS; second++) {
    world.clock.advance(SECOND_MS);
    await settled();
    expect((await world.view()).runningCalls).toBe(0);
  }
  expect(controller.aborted).toBe(false);
  world.clock.advance(2 * SECOND_MS);
  await running;
  expect(controller.aborted).toBe(true);
  expect(world.memory.journal.at(-1)).toMatchObject({ type: 'finished', end: { outcome: 'stopped' } });
  expect(world.pending).toHaveLength(1);
});

it('a caller who leaves while its charge is written changes nothing of the end', async () => {
  for (const cancel of ['stops_billing', 'bills_full'] as const) {
    const { controller, upstream, running, ...world } = await startStream(cancel);
    data(`data: {"id":"gen-1","choices":[],"usage":${usage('0.000012345')}}\n\ndata: [DONE]\n\n`)(
      controller,
      upstream,
    );
    const journal = world.gateway.ledgerRetries;
    const close = journal.close.bind(journal);
    journal.close = (command) => {
      const closed = close(command);
      world.res.hangUp();
      return closed;
    };
    await settled();
    await running;
    expect(world.memory.journal.at(-1)).toMatchObject({ type: 'settled', end: { outcome: 'ok' } });
    expect([world.openCalls.usageDrains, world.capacity.runningCalls]).toEqual([0, 0]);
    expect((await world.view()).chargedNanoUsd).toBe(COST);
  }
});
