import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { SECOND_MS } from '#core/clock.ts';
import { requestIn } from '../formats/requests.ts';
import { wholeStream, wires } from '../formats/wires.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { startTestGateway, type TestGateway, until } from '../support/gateway.ts';
import { passTime } from '../support/pass-time.ts';
import { pathOf } from '../support/path-of.ts';
import { type Play, plays, type RawProvider, startRawProvider } from '../support/raw-provider.ts';

/* A model may read a long prompt for minutes. Balancers close a connection that says nothing for so long. */

let clock: FakeClock;
let provider: RawProvider;
let gateway: TestGateway;
beforeEach(async () => {
  clock = createFakeClock();
  provider = await startRawProvider();
  gateway = await startTestGateway({ clock, yaml: yaml(provider.baseUrl) });
});
afterEach(async () => {
  await gateway.stop();
  await provider[Symbol.asyncDispose]();
});

/** A model of two servers, of which the second is sent fewer fields of a chat. */
const yaml = (baseUrl: string): string => `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
  - { id: chat, kind: openai, dialect: other, cancel: stops_billing, baseUrl: ${baseUrl}, catalog: none }
  - { id: messages, kind: anthropic, cancel: stops_billing, baseUrl: ${baseUrl}, catalog: none }
models:
  - id: acme/both
    contextLength: 32768
    maxOutputTokens: 4096
    endpoints:
      - { provider: chat, model: small, pricing: { prompt: "0.000000123", completion: "0.000000457" } }
      - { provider: messages, model: small, pricing: { prompt: "0.000000123", completion: "0.000000457" } }
`;

const TEXT = 'Hi';
/** 5 tokens in and 7 out. */
const CHARGED = 3_814n;

const ask = (format: FormatName, stream: boolean): Promise<Response> =>
  gateway.post(requestIn(format, 'acme/both', { stream, ...(format === 'chat' ? { seed: 7 } : {}) }), {
    path: pathOf(format),
  });

/** Holds the first answer back until the test lets it go; the second server answers as it is told to. */
function holdFirst(first: Play, second: Play = plays(wholeStream(wires.messages, TEXT))): () => void {
  const released = Promise.withResolvers<void>();
  let requests = 0;
  provider.answers = async (res) => {
    requests++;
    if (requests > 1) return await second(res);
    await released.promise;
    await first(res);
  };
  return released.resolve;
}

const fails =
  (status: number): Play =>
  (res) =>
    void res.writeHead(status, { 'content-type': 'application/json' }).end('{"error":{"message":"no"}}');

const isAsked = (times = 1): Promise<void> => until(() => provider.asked() === times);

async function addedMs(): Promise<{ count: number; sum: number }> {
  const text = await (await fetch(`${gateway.running.internalUrl}/metrics`)).text();
  const sampleOf = (name: string) =>
    Number(new RegExp(`^faregate_added_latency_ms_${name} (\\S+)$`, 'm').exec(text)?.[1]);
  return { count: sampleOf('count'), sum: sampleOf('sum') };
}

describe('a stream whose provider is silent', () => {
  it('begins with comments within 15 seconds, and its answer follows', async () => {
    const release = holdFirst(plays(wholeStream(wires.chat, TEXT)));
    const call = ask('chat', true);
    await isAsked();
    await passTime(gateway, clock, 15 * SECOND_MS);
    const res = await call;
    expect([res.status, res.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
    expect(await addedMs()).toEqual({ count: 0, sum: 0 });
    await passTime(gateway, clock, 30 * SECOND_MS);
    release();
    const text = await res.text();
    expect(text.match(/^: keep-alive$/gm)?.length).toBeGreaterThanOrEqual(3);
    expect(text).toContain(TEXT);
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect((await gateway.settled()).chargedNanoUsd).toBe(CHARGED);
    // The gateway added nothing to what the provider took.
    expect(await addedMs()).toEqual({ count: 1, sum: 0 });
  });

  it('names every field that a provider which may answer is not sent, and no answer’s id', async () => {
    const release = holdFirst(
      plays(wholeStream(wires.chat, TEXT), 'text/event-stream', { 'x-generation-id': 'gen-1' }),
    );
    const call = ask('chat', true);
    await isAsked();
    await passTime(gateway, clock, 15 * SECOND_MS);
    const res = await call;
    expect([res.headers.get('x-ignored-fields'), res.headers.get('x-generation-id')]).toEqual(['seed', null]);
    expect(res.headers.get('x-hold-usd')).toMatch(/^0\.\d+$/);
    release();
    expect(await res.text()).toContain(TEXT);
    await gateway.settled();
  });

  it('names what the provider that answers was not sent, where its answer comes in time', async () => {
    provider.answers = plays(wholeStream(wires.chat, TEXT));
    const res = await ask('chat', true);
    expect(res.headers.get('x-ignored-fields')).toBeNull();
    await res.text();
    holdFirst(fails(503))();
    const other = await ask('chat', true);
    expect(other.headers.get('x-ignored-fields')).toBe('seed');
    await other.text();
    await gateway.settled();
  });

  it('is answered by another provider where the first fails in the end', async () => {
    const release = holdFirst(fails(503));
    const call = ask('chat', true);
    await isAsked();
    await passTime(gateway, clock, 20 * SECOND_MS);
    const res = await call;
    release();
    const text = await res.text();
    expect(text).toContain(TEXT);
    expect(text).not.toContain('"error"');
    expect(provider.asked()).toBe(2);
    expect((await gateway.settled()).chargedNanoUsd).toBe(CHARGED);
  });

  it.each([
    ['chat', /"finish_reason":"error"[\s\S]*"code":"model_busy"[\s\S]*\[DONE\]\n\n$/],
    ['messages', /^event: error$[\s\S]*"code":"model_busy"/m],
    ['responses', /^event: error$[\s\S]*"code":"model_busy"[\s\S]*^event: response.failed$/m],
  ] as const)('that fails behind its head says so in an event of %s, and is free', async (format, told) => {
    const release = holdFirst(fails(503), fails(503));
    const call = ask(format, true);
    await isAsked();
    await passTime(gateway, clock, 15 * SECOND_MS);
    const res = await call;
    expect(res.status).toBe(200);
    release();
    expect(await res.text()).toMatch(told);
    expect((await gateway.settled()).chargedNanoUsd).toBe(0n);
    expect((await gateway.calls())[0]).toMatchObject({ outcome: 'failed', errorCode: 'model_busy' });
  });
});

describe('a caller who waits for the whole answer', () => {
  it('hears nothing until it is here', async () => {
    const release = holdFirst(plays(wholeStream(wires.chat, TEXT)));
    let isHere = false;
    const call = ask('chat', false).then((res) => {
      isHere = true;
      return res;
    });
    await isAsked();
    await passTime(gateway, clock, 60 * SECOND_MS);
    // A request there and back: what was sent before would be here.
    await gateway.balance();
    expect(isHere).toBe(false);
    release();
    const res = await call;
    expect(res.headers.get('content-type')).toBe('application/json');
    expect(await res.text()).toContain(TEXT);
    expect((await gateway.settled()).chargedNanoUsd).toBe(CHARGED);
  });
});
