import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { startTestGateway, type TestGateway, until } from '../support/gateway.ts';
import { passTime } from '../support/pass-time.ts';
import { pathOf } from '../support/path-of.ts';
import { type RawProvider, startRawProvider } from '../support/raw-provider.ts';
import { formatYaml, modelOf, PROVIDER_KINDS, type ProviderKind } from './format-gateway.ts';
import { askedIn, FORMATS, requestIn } from './requests.ts';
import { wires } from './wires.ts';

/*
 * Providers that tell no cost, and callers who wait for the whole answer. A call that a limit of ours ends is refused by a
 * status, and pays what the provider recorded: here nothing. What a caller who hangs up pays is in
 * `test/gateway/hang-up-money.test.ts`.
 */

let provider: RawProvider;
beforeAll(async () => {
  provider = await startRawProvider();
});
afterAll(() => provider[Symbol.asyncDispose]());

let clock: FakeClock;
let gateway: TestGateway;
beforeEach(async () => {
  clock = createFakeClock();
  gateway = await startTestGateway({
    clock,
    yaml: formatYaml(provider.baseUrl, 'stops_billing', { all: 'openai' }),
  });
});
afterEach(() => gateway.stop());

/** Writes a hundred texts of eight tokens, and then nothing. */
function writesAndStalls(kind: ProviderKind, format: FormatName): Promise<void> {
  const wire = wires[askedIn(kind, format)];
  return new Promise((resolve) => {
    provider.answers = (res) => {
      res.writeHead(200, { 'content-type': 'text/event-stream' });
      const texts = Array.from({ length: 100 }, (_, i) =>
        wire.text(i === 0 ? '' : 'four byte tokens of a text here '),
      );
      res.write(wire.start() + wire.textStart + texts.join(''), () => resolve());
    };
  });
}

const ask = (kind: ProviderKind, format: FormatName, extra: object = {}) =>
  gateway.post(
    requestIn(format, modelOf[kind], { ...(format === 'messages' && { max_tokens: 2_000 }), ...extra }),
    { path: pathOf(format) },
  );

async function charged(): Promise<bigint> {
  await until(async () => {
    await passTime(gateway, clock, 10 * SECOND_MS);
    return (await gateway.view()).holds.length === 0;
  });
  return (await gateway.view()).chargedNanoUsd;
}

describe.each(FORMATS)('%s: a whole answer that a limit cuts short', (format) => {
  describe.each(PROVIDER_KINDS)('from a provider that speaks %s', (kind) => {
    it('a call that reaches its time limit is free, because the provider has no record of it', async () => {
      const written = writesAndStalls(kind, format);
      const call = ask(kind, format);
      await written;
      await passTime(gateway, clock, 13 * MINUTE_MS + SECOND_MS);
      const res = await call;
      expect([res.status, JSON.parse(await res.text()).error.code]).toEqual([504, 'upstream_timeout']);
      expect(await charged()).toBe(0n);
      expect((await gateway.calls())[0]).toMatchObject({ outcome: 'failed', errorCode: 'upstream_timeout' });
    });

    it('a call whose answer is too long to be kept is free too, and asks no other provider', async () => {
      const wire = wires[askedIn(kind, format)];
      const asked = provider.asked();
      provider.answers = (res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write(wire.start() + wire.textStart);
        for (let i = 0; i < 80; i++) res.write(wire.text('x'.repeat(500_000)));
      };
      const res = await ask(kind, format, { models: [modelOf[kind]] });
      expect([res.status, JSON.parse(await res.text()).error.code]).toEqual([502, 'provider_error']);
      expect(await charged()).toBe(0n);
      expect(provider.asked()).toBe(asked + 1);
    });
  });
});
