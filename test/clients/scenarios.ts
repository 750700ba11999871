import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { formatUsd, type NanoUsd } from '#core/money.ts';
import { modelOf, PROVIDER_KINDS, startFormatGateway } from '../formats/format-gateway.ts';
import { askedIn, ruleFor } from '../formats/requests.ts';
import { type TestAgent, type TestGateway, until } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { failing } from '../support/provider-failures.ts';
import { type Client, type ClientCalls, IMAGE, PROMPT, resultOf, TOOLS } from './client.ts';

/**
 * The table: what every client can do on every kind of provider, and what the gateway then did.
 *
 * @param cancel Whether whole answers are put together from the provider's stream, or come in one piece from it, too.
 */
export function testClient(client: Client, cancel: 'stops_billing' | 'bills_full' = 'stops_billing'): void {
  const { name, format, showsCost, errors } = client;
  let gateway: TestGateway;
  let agent: TestAgent;
  let calls: ClientCalls;

  async function open(creditUsd = '5'): Promise<void> {
    agent = await gateway.newAgent({ creditUsd });
    calls = client.open({ baseUrl: gateway.baseUrl, key: agent.key });
  }

  /** What the client shows is what left the balance, to the nano-dollar; and nothing is held any more. */
  async function expectCharged(costs: readonly unknown[], isShown: boolean): Promise<void> {
    const { chargedNanoUsd } = await gateway.settled(agent);
    expect(chargedNanoUsd).toBeGreaterThan(0n);
    if (isShown) expect(costs.reduce((sum: NanoUsd, cost) => sum + nanoUsdOf(cost), 0n)).toBe(chargedNanoUsd);
    else expect(costs).toEqual(costs.map(() => undefined));
  }

  describe(`${name}, by ${format}${cancel === 'bills_full' ? ', whole answers whole' : ''}`, () => {
    beforeAll(async () => {
      gateway = await startFormatGateway(cancel);
    });
    afterAll(() => gateway?.stop());
    afterEach(() => gateway.provider.reset());

    describe.each(PROVIDER_KINDS)('from a provider that speaks %s', (kind) => {
      const model = modelOf[kind];
      const path = pathOf(askedIn(kind, format));

      it('gets an answer in one piece', async () => {
        await open();
        const { text, model: shown, costs } = await calls.text(model);
        expect(text).toContain(PROMPT);
        expect(shown ?? model).toBe(model);
        await expectCharged(costs, showsCost.whole);
      });

      it('reads a stream to its end', async () => {
        await open();
        const { text, costs } = await calls.stream(model);
        expect(text).toContain(PROMPT);
        await expectCharged(costs, showsCost.streamed);
      });

      it.each([false, true])(
        'runs two tools that were called at once, and sends both results (streamed: %s)',
        async (streamed) => {
          await open();
          const { called, text, costs } = await calls.tools(model, { streamed });
          expect(called).toEqual([
            { name: 'get_weather', arguments: { city: 'simulated' } },
            { name: 'get_time', arguments: { zone: 'simulated' } },
          ]);
          expect(text).not.toBe('');
          const sent = gateway.provider.lastRequest(path).body.toString();
          for (const tool of TOOLS) expect(sent).toContain(resultOf(tool.name));
          await expectCharged(costs, streamed ? showsCost.streamed : showsCost.whole);
        },
      );

      it('is called back by one tool at a time where it wants that', async () => {
        await open();
        expect(await calls.oneTool(model)).toHaveLength(1);
      });

      it('gets the structure that it wants', async () => {
        await open();
        const { text, costs } = await calls.structured(model);
        expect(JSON.parse(text)).toEqual({ city: 'simulated' });
        await expectCharged(costs, showsCost.whole);
      });

      it('shows an image by its link', async () => {
        await open();
        const { costs } = await calls.image(model);
        expect(gateway.provider.lastRequest(path).body.toString()).toContain(IMAGE);
        expect(gateway.provider.lastBill().use.images).toBe(1);
        await expectCharged(costs, showsCost.whole);
      });

      it('throws a refusal as its own error, with our code and sentence', async () => {
        await open('0');
        const failure = await calls.refused(model);
        expect(failure).toEqual({
          name: errors.refused,
          status: 402,
          code: 'insufficient_balance',
          message: expect.stringMatching(/would hold \$0\.\d+.*spendable/s),
        });
        expect((await gateway.settled(agent)).chargedNanoUsd).toBe(0n);
      });

      it('throws an error in the middle of a stream as its own error, with our code and sentence', async () => {
        await open();
        const rule = failing(502, { at: 'stream', afterChunks: 12, type: 'provider_unavailable' });
        gateway.provider.next(ruleFor(kind, format, { chunks: 30, ...rule, status: 200 }));
        const failure = await calls.broken(model);
        expect(failure).toMatchObject(errors.broken);
        if (errors.broken.code === OUR_CODE) expect(failure.message).toContain('The provider failed');
        expect((await gateway.settled(agent)).chargedNanoUsd).toBeGreaterThan(0n);
      });

      it('hangs up, pays for what was written by then, and leaves no hold behind', async () => {
        await open();
        gateway.provider.next(ruleFor(kind, format, { chunks: 40, gate: 'rest', gateAt: 4_000 }));
        await calls.hangUp(model);
        // A provider that bills to the end is read on; the connection to any other is closed by now.
        if (cancel === 'bills_full') {
          await gateway.provider.reached('rest');
          await until(async () => (await gateway.metric('faregate_usage_drains')) === 1);
          gateway.provider.release('rest');
        }
        const { chargedNanoUsd } = await gateway.settled(agent);
        expect(chargedNanoUsd).toBeGreaterThan(0n);
        expect((await gateway.calls(agent))[0]?.outcome).toBe('stopped');
      });

      it('is answered by another model of its list where the first is down', async () => {
        await open();
        gateway.provider.next(ruleFor(kind, format, failing(503)));
        const other = modelOf[kind === 'chat only' ? 'messages only' : 'chat only'];
        const { text, model: shown, costs } = await calls.fallback(model, other);
        expect(text).toContain(PROMPT);
        expect(shown ?? other).toBe(other);
        await expectCharged(costs, showsCost.whole);
      });
    });
  });
}

/** With which a stream breaks here. */
const OUR_CODE = 'provider_error';

/** The number that the client has, as exact as the ledger. */
function nanoUsdOf(cost: unknown): NanoUsd {
  if (typeof cost !== 'number') throw new Error(`The client shows no cost, but ${cost}.`);
  const nano = BigInt(Math.round(cost * 1e9));
  expect(Number(formatUsd(nano)), 'finer than a nano-dollar').toBe(cost);
  return nano;
}
