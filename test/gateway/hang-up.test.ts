import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { formatUsd } from '#core/money.ts';
import { chargedUsd, hello, MODEL, startTestGateway, type TestGateway, until } from '../support/gateway.ts';
import { RawClient } from '../support/raw-http.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
afterEach(() => gateway.provider.reset());

/** Reads until the condition holds, then hangs up. */
async function hangUpWhen(
  body: object,
  agent: TestGateway['agent'],
  seen: (text: string) => boolean,
): Promise<void> {
  const hangUp = new AbortController();
  try {
    const res = await gateway.post(body, { agent, signal: hangUp.signal });
    let text = '';
    for await (const bytes of res.body ?? []) {
      text += Buffer.from(bytes).toString();
      if (seen(text)) hangUp.abort();
    }
  } catch (error) {
    if (!hangUp.signal.aborted) throw error;
  }
}

describe('a caller who hangs up', () => {
  it.each([1, 3, 10])(
    'after %i events of a stream is charged what the provider billed, as `stopped`',
    async (events) => {
      const agent = await gateway.newAgent();
      gateway.provider.next({ chunks: 30, gate: 'rest', gateAt: 250 * (events + 1) });
      await hangUpWhen(hello({ stream: true }), agent, (text) => text.split('\n\n').length > events);
      await until(async () => (await gateway.metric('faregate_usage_drains')) === 1);
      gateway.provider.release('rest');
      const view = await gateway.settled(agent);
      expect(view.chargedNanoUsd).toBe(gateway.provider.lastBill().costNanoUsd);
      expect((await gateway.calls(agent))[0]?.outcome).toBe('stopped');
    },
  );

  it('before the provider’s first byte is charged what the provider billed', async () => {
    const agent = await gateway.newAgent();
    gateway.provider.next({ gate: 'first', gateAt: 'headers' });
    const hangUp = new AbortController();
    const call = gateway.post(hello(), { agent, signal: hangUp.signal }).catch(() => null);
    await gateway.provider.reached('first');
    hangUp.abort();
    await call;
    await until(async () => (await gateway.metric('faregate_usage_drains')) === 1);
    gateway.provider.release('first');
    const view = await gateway.settled(agent);
    expect(view.chargedNanoUsd).toBe(gateway.provider.lastBill().costNanoUsd);
    expect((await gateway.calls(agent))[0]?.outcome).toBe('stopped');
  });

  it('frees its slot only when the call has ended, and the next call runs', async () => {
    const agent = await gateway.newAgent();
    gateway.provider.next({ gate: 'slot', gateAt: 'headers' });
    const hangUp = new AbortController();
    const call = gateway.post(hello(), { agent, signal: hangUp.signal }).catch(() => null);
    await gateway.provider.reached('slot');
    hangUp.abort();
    await call;
    expect((await gateway.view(agent)).runningCalls).toBe(1);
    gateway.provider.release('slot');
    await gateway.settled(agent);
    expect((await gateway.post(hello(), { agent })).status).toBe(200);
  });

  it('while the upload is still under way holds nothing', async () => {
    const agent = await gateway.newAgent();
    const client = await RawClient.connect(Number(new URL(gateway.baseUrl).port));
    client.head([
      'POST /v1/chat/completions HTTP/1.1',
      'Host: gateway',
      `Authorization: Bearer ${agent.key}`,
      'Content-Length: 1000',
      'Expect: 100-continue',
    ]);
    // Said when the gateway begins to read.
    expect((await client.answer())?.status).toBe(100);
    client.send(`{"model":"${MODEL}",`).destroy();
    const view = await gateway.settled(agent);
    expect(view.chargedNanoUsd).toBe(0n);
    expect(await gateway.calls(agent)).toEqual([]);
  });
});

describe('a slow reader', () => {
  it('gets every byte, and the provider is held back meanwhile', async () => {
    const agent = await gateway.newAgent({ creditUsd: '50' });
    gateway.provider.next({ chunks: 300, text: 'x'.repeat(10_000) });
    const res = await gateway.post(hello({ stream: true, model: 'faregate-sim/long' }), { agent });
    let events = 0;
    for await (const bytes of res.body ?? []) {
      events += Buffer.from(bytes).toString().split('\n\n').length - 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(events).toBeGreaterThan(300);
    const view = await gateway.settled(agent);
    expect(chargedUsd(view)).toBe(formatUsd(gateway.provider.lastBill().costNanoUsd));
  });
});
