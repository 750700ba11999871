import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatUsd } from '#core/money.ts';
import { chargedUsd, hello, readEvents, startTestGateway, type TestGateway } from '../support/gateway.ts';

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startTestGateway();
});
afterAll(() => gateway.stop());

const streamed = (extra: object = {}) => hello({ stream: true, ...extra });
const withUsage = { stream_options: { include_usage: true } };

describe('a streamed chat completion', () => {
  it('reaches the official client piece by piece, with usage and cost in the last chunk', async () => {
    const agent = await gateway.newAgent();
    const stream = await agent.openai.chat.completions.create({ ...hello(), stream: true, ...withUsage });
    let text = '';
    let usage: object | null | undefined;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? '';
      usage = chunk.usage ?? usage;
    }
    expect(text).toContain('Hello');
    const view = await gateway.settled(agent);
    expect(usage).toMatchObject({ cost: Number(chargedUsd(view)) });
    expect(view.chargedNanoUsd).toBe(gateway.provider.lastBill().costNanoUsd);
  });

  it('shows no usage to a caller who did not ask, and charges the same', async () => {
    const agent = await gateway.newAgent();
    const events = await readEvents(await gateway.post(streamed(), { agent }));
    expect(events.at(-1)).toBe('[DONE]');
    for (const event of events.slice(0, -1)) expect(JSON.parse(event).usage ?? null).toBeNull();
    expect((await gateway.settled(agent)).chargedNanoUsd).toBe(gateway.provider.lastBill().costNanoUsd);
  });

  it.each(['last_chunk', 'every_chunk', 'twice'] as const)(
    'shows usage once, in a chunk of its own, when the provider sends it at %s',
    async (usageAt) => {
      const agent = await gateway.newAgent();
      gateway.provider.next({ usageAt, chunks: 5 });
      const events = await readEvents(await gateway.post(streamed(withUsage), { agent }));
      const chunks = events.slice(0, -1).map((event) => JSON.parse(event));
      const shown = chunks.filter((chunk) => chunk.usage);
      expect(shown).toHaveLength(1);
      expect(chunks.at(-1)).toBe(shown[0]);
      expect(shown[0].choices).toEqual([]);
      expect(formatUsd((await gateway.settled(agent)).chargedNanoUsd)).toBe(String(shown[0].usage.cost));
    },
  );

  it('arrives whole however the provider cuts its bytes', async () => {
    const text = 'Wörter, 文字, 🚇 and "usage" and \\ "error"';
    gateway.provider.next({ text, writeBytes: 1, lineEnd: '\r\n', comments: 3 });
    const events = await readEvents(await gateway.post(streamed()));
    const got = events.slice(0, -1).map((event) => JSON.parse(event).choices[0]?.delta.content ?? '');
    expect(got.join('')).toBe(text);
  });

  it('never shows the provider’s comments', async () => {
    gateway.provider.next({ comments: 5 });
    const body = await (await gateway.post(streamed())).text();
    expect(body).not.toMatch(/^:/m);
    expect(body).not.toContain('OPENROUTER');
  });

  it('ends with the mark even when the provider forgot it', async () => {
    gateway.provider.next({ done: false });
    const events = await readEvents(await gateway.post(streamed()));
    expect(events.at(-1)).toBe('[DONE]');
  });

  it('tells proxies not to buffer it', async () => {
    const res = await gateway.post(streamed());
    expect(res.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(res.headers.get('x-accel-buffering')).toBe('no');
    expect(res.headers.get('x-generation-id')).toMatch(/^gen-/);
    await res.text();
  });

  it('relays ten thousand small chunks in order', async () => {
    const agent = await gateway.newAgent();
    gateway.provider.next({ chunks: 10_000 });
    const events = await readEvents(await gateway.post(streamed({ model: 'faregate-sim/long' }), { agent }));
    expect(events.length).toBeGreaterThan(10_000);
    expect(events.at(-1)).toBe('[DONE]');
    await gateway.settled(agent);
  });
});

describe('an error in the middle of a stream', () => {
  it('arrives as a chunk with an empty delta, finish_reason error and our code, then the end mark', async () => {
    const agent = await gateway.newAgent();
    gateway.provider.next({ error: { at: 'stream', afterChunks: 2, code: 502 } });
    const events = await readEvents(await gateway.post(streamed(), { agent }));
    expect(events.at(-1)).toBe('[DONE]');
    const chunk = JSON.parse(events.at(-2) ?? '');
    expect(chunk.choices).toEqual([{ index: 0, delta: {}, finish_reason: 'error' }]);
    expect(chunk.error).toEqual({
      message: expect.any(String),
      type: 'server_error',
      code: 'provider_error',
    });
    expect(chunk.error.message).not.toContain('simulator');
  });

  it('makes the official client throw', async () => {
    gateway.provider.next({ error: { at: 'stream', afterChunks: 1, code: 502 } });
    const stream = await gateway.openai.chat.completions.create({ ...hello(), stream: true });
    await expect(
      (async () => {
        for await (const _ of stream);
      })(),
    ).rejects.toThrow();
  });

  it('charges what the provider billed for what was written', async () => {
    const agent = await gateway.newAgent();
    gateway.provider.next({ error: { at: 'stream', afterChunks: 3, code: 502 }, billUsd: '0.00000777' });
    await readEvents(await gateway.post(streamed(), { agent }));
    const view = await gateway.settled(agent);
    expect(chargedUsd(view)).toBe('0.00000777');
    const [record] = await gateway.calls(agent);
    expect(record).toMatchObject({ outcome: 'failed', errorCode: 'provider_error', httpStatus: 502 });
  });

  it('is an ordinary answer with its own status while nothing has been written', async () => {
    gateway.provider.next({
      headers: { 'content-type': 'text/event-stream' },
      body: ': hello\n\ndata: {"id":"x","choices":[],"error":{"code":429,"message":"slow down"}}\n\n',
    });
    const res = await gateway.post(streamed());
    expect(res.status).toBe(503);
    expect(JSON.parse(await res.text()).error.code).toBe('model_busy');
  });
});
