import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ScriptRule } from '../../api/simulator/script-rule.ts';
import {
  chargedUsd,
  hello,
  readEvents,
  startTestGateway,
  type TestAgent,
  type TestGateway,
} from '../support/gateway.ts';
import { failing as error, freeFailures as free } from '../support/provider-failures.ts';

let gateway: TestGateway;
let agent: TestAgent;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());
afterEach(() => gateway.provider.reset());

describe.each([false, true])('when the provider of a call (stream: %s)', (stream) => {
  it.each(free)('%s, the caller learns it by our code and pays nothing', async (_, rule, status, code) => {
    agent = await gateway.newAgent();
    if (stream && rule.error?.at === 'choice') return;
    gateway.provider.next({ ...rule, lookupMisses: 'always', billUsd: '0', usageFields: { cost: '0' } });
    const res = await gateway.post(hello({ stream }), { agent });
    const body = JSON.parse(await res.text());
    expect({ status: res.status, code: body.error.code }).toEqual({ status, code });
    expect(body.error).toEqual({
      message: expect.any(String),
      type: expect.any(String),
      code,
      param: null,
    });
    expect(JSON.stringify(body)).not.toMatch(/SimCloud|openrouter/i);
    if (status === 503 || status === 429) {
      expect(Number(res.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(Number(res.headers.get('retry-after-ms'))).toBeGreaterThan(0);
    }
    await gateway.provider.ended(1);
    const { holds, chargedNanoUsd } = await gateway.view(agent);
    expect(chargedNanoUsd).toBe(0n);
    // A recorded failure may wait for the provider's word; it holds until then and no call of it runs.
    for (const hold of holds) expect(hold.pending).not.toBeNull();
  });
});

describe('a prompt longer than the model’s context', () => {
  it.each([
    [false, 400],
    [true, 400],
    [false, 200],
    [true, 200],
  ])('(stream: %s, the provider says so with %i) is told how long it is', async (stream, status) => {
    agent = await gateway.newAgent();
    const type = 'context_length_exceeded';
    gateway.provider.next({ ...error(400, { type }), status, usageFields: { cost: '0' } });
    const res = await gateway.post(hello({ stream }), { agent });
    expect(res.status).toBe(413);
    const { code, message } = JSON.parse(await res.text()).error;
    expect(code).toBe('request_too_large');
    expect(message).toContain("does not fit the model's context of 32768 tokens");
  });
});

describe('usage that cannot be right', () => {
  it.each([
    ['negative cost', { usageFields: { cost: '-1' } }],
    ['a cost of 1e30', { usageFields: { cost: '1e30' } }],
    ['a cost in quotes', { usageFields: { cost: '"NaN"' } }],
    ['no cost', { usageFields: { cost: null } }],
    ['a null cost', { usageFields: { cost: 'null' } }],
  ] satisfies [string, ScriptRule][])(
    '%s: the call is charged by its tokens at list price',
    async (_, rule) => {
      agent = await gateway.newAgent();
      gateway.provider.next({ ...rule, promptTokens: 10, completionTokens: 20 });
      const res = await gateway.post(hello(), { agent });
      const { usage } = JSON.parse(await res.text());
      const view = await gateway.settled(agent);
      expect(String(usage.cost)).toBe(chargedUsd(view));
      expect(view.chargedNanoUsd).toBe(gateway.provider.lastBill().costNanoUsd);
      expect(view.chargedNanoUsd).toBeGreaterThan(0n);
    },
  );

  it('an explicit zero stays zero', async () => {
    agent = await gateway.newAgent();
    gateway.provider.next({ usageFields: { cost: '0' } });
    const { usage } = JSON.parse(await (await gateway.post(hello(), { agent })).text());
    expect(usage.cost).toBe(0);
    expect((await gateway.settled(agent)).chargedNanoUsd).toBe(0n);
  });

  it('a cost above the hold is charged at the hold, and the rest is counted as the operator’s loss', async () => {
    agent = await gateway.newAgent();
    const before = await gateway.metric('faregate_operator_loss_usd_total', { cause: 'cost_above_hold' });
    gateway.provider.next({ usageFields: { cost: '2.5' } });
    const res = await gateway.post(hello({ max_tokens: 10 }), { agent });
    const { usage } = JSON.parse(await res.text());
    expect(String(usage.cost)).toBe(res.headers.get('x-hold-usd'));
    expect(chargedUsd(await gateway.settled(agent))).toBe(res.headers.get('x-hold-usd'));
    const after = await gateway.metric('faregate_operator_loss_usd_total', { cause: 'cost_above_hold' });
    expect(after - before).toBeCloseTo(2.5 - Number(res.headers.get('x-hold-usd')), 6);
  });

  it('missing usage: the provider is asked for its record, and that is charged', async () => {
    agent = await gateway.newAgent();
    gateway.provider.next({ usageAt: 'missing', lookupMisses: 1, billUsd: '0.00001234' });
    const events = await readEvents(
      await gateway.post(hello({ stream: true, stream_options: { include_usage: true } }), { agent }),
    );
    expect(events.at(-1)).toBe('[DONE]');
    const view = await gateway.settled(agent);
    expect(chargedUsd(view)).toBe('0.00001234');
    const [record] = await gateway.calls(agent);
    expect(record).toMatchObject({ outcome: 'ok' });
  });
});

describe('usage that cannot be read at all', () => {
  it.each([
    '{"prompt_tokens":-1,"completion_tokens":5,"cost":-3,"cost_details":{"upstream_inference_cost":0.5}}',
    '{"prompt_tokens":10,"completion_tokens":null,"cost":1e30}',
    '{"cost":"0.25","is_byok":true}',
  ])('%s: no number is shown that could be taken for the charge', async (usageText) => {
    agent = await gateway.newAgent();
    gateway.provider.next({ usageText });
    const { usage } = JSON.parse(await (await gateway.post(hello(), { agent })).text());
    for (const field of ['cost', 'cost_details', 'is_byok']) expect(usage).not.toHaveProperty(field);
    expect((await gateway.settled(agent)).chargedNanoUsd).toBe(gateway.provider.lastBill().costNanoUsd);
  });
});

describe('fallback models', () => {
  it.each(['{"error":{"code":502,"message":"no"},"choices":[]}', 'nonsense'])(
    'take over from a stream that began with %s, and that stream is ended',
    async (data) => {
      agent = await gateway.newAgent();
      gateway.provider.next({
        model: 'faregate-sim/large',
        headers: { 'content-type': 'text/event-stream' },
        body: `data: ${data}\n\ndata: and on and on`,
        stallAt: data.length + 8,
      });
      const res = await gateway.post(
        hello({ model: 'faregate-sim/large', models: ['faregate-sim/small'], stream: true }),
        { agent },
      );
      expect(res.status).toBe(200);
      expect(await res.text()).toContain('faregate-sim/small');
      await gateway.provider.until(() =>
        gateway.provider.requests().every((request) => request.state !== 'open'),
      );
      await gateway.settled(agent);
    },
  );

  it('answer when the first is busy, and only they are paid', async () => {
    agent = await gateway.newAgent();
    gateway.provider.next({ ...error(429), model: 'faregate-sim/large' });
    const res = await gateway.post(
      hello({ model: 'faregate-sim/large', models: ['faregate-sim/small'], max_tokens: 20 }),
      { agent },
    );
    expect(res.status).toBe(200);
    const { model, usage } = JSON.parse(await res.text());
    expect(model).toBe('faregate-sim/small');
    expect(String(usage.cost)).toBe(chargedUsd(await gateway.settled(agent)));
  });

  it('answer, and what the provider billed for the first is the operator’s loss', async () => {
    agent = await gateway.newAgent();
    const lost = () => gateway.metric('faregate_operator_loss_usd_total', { cause: 'failed_fallback' });
    const before = await lost();
    gateway.provider.next({
      model: 'faregate-sim/large',
      headers: { 'content-type': 'application/json' },
      body: '{"error":{"code":503,"message":"busy"},"usage":{"cost":0.0001}}',
    });
    const res = await gateway.post(
      hello({ model: 'faregate-sim/large', models: ['faregate-sim/small'], max_tokens: 20 }),
      { agent },
    );
    const { usage } = JSON.parse(await res.text());
    expect(String(usage.cost)).toBe(chargedUsd(await gateway.settled(agent)));
    expect((await lost()) - before).toBeCloseTo(0.0001, 12);
  });

  it('are not asked about a request that is wrong', async () => {
    gateway.provider.next({ ...error(400), model: 'faregate-sim/large' });
    const res = await gateway.post(hello({ model: 'faregate-sim/large', models: ['faregate-sim/small'] }));
    expect(res.status).toBe(400);
    expect(gateway.provider.requests().filter((each) => each.path.endsWith('/completions'))).toHaveLength(1);
  });

  it('hold the dearest of them', async () => {
    const cheap = await gateway.post(hello({ max_tokens: 20 }));
    const both = await gateway.post(hello({ models: ['faregate-sim/large'], max_tokens: 20 }));
    expect(Number(both.headers.get('x-hold-usd'))).toBeGreaterThan(Number(cheap.headers.get('x-hold-usd')));
  });
});
