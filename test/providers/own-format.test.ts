import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { createFetchProviderJson } from '#core/catalog/fetch-provider-json.ts';
import { jsonGet, preparedUntil } from '#core/catalog/prepared-request.ts';
import type { ProviderKind } from '#core/catalog/provider-kind.ts';
import { systemClock } from '#core/clock.ts';
import { formatUsd } from '#core/money.ts';
import { createProbe } from '#core/provider-health/probe-provider.ts';
import { FORMATS, requestIn } from '../formats/requests.ts';
import type { TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { startWireProvider, type WireProvider } from '../support/wire-provider.ts';
import { framed, framedFormat, signatureOf } from './made-up/framed-kind.ts';
import { frame, framedWire } from './made-up/framed-wire.ts';
import { CONTRACT_KEY, startKindGateway } from './provider-contract.ts';

/** 11 × $0.000001 + 7 × $0.000004. */
const COUNT = [11, 7];
const COST_USD = '0.000039';

let provider: WireProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startWireProvider();
  gateway = await startKindGateway(framedWire, provider.url);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const answers = (...events: object[]) =>
  provider.answer({
    headers: { 'content-type': 'application/x-frames' },
    body: Buffer.concat(events.map(frame)),
  });

describe('a provider with a format of its own serves callers of every format', () => {
  describe.each(FORMATS)('%s', (format) => {
    it.each([false, true])('with text, at the cost that it counted, stream: %s', async (stream) => {
      answers({ say: 'About ' }, { say: '384,400 km.' }, { close: true, count: COUNT });
      const response = await gateway.post(requestIn(format, 'acme/moon', { stream }), {
        path: pathOf(format),
      });
      const text = await response.text();
      expect(response.status).toBe(200);
      expect(text).toContain('384,400 km.');
      await gateway.settled();
      const [call] = await gateway.calls();
      expect(call && formatUsd(call.chargedNanoUsd)).toBe(COST_USD);
    });

    it.each([false, true])('with a call of a tool, stream: %s', async (stream) => {
      answers({ prop: 'look_up', use: '{"moon":1.10}' }, { close: true, count: COUNT });
      const tool = { name: 'look_up', parameters: { type: 'object' } };
      const tools = {
        chat: [{ type: 'function', function: tool }],
        responses: [{ type: 'function', ...tool }],
        messages: [{ name: tool.name, input_schema: tool.parameters }],
      }[format];
      const body = requestIn(format, 'acme/moon', { stream, tools });
      const text = await (await gateway.post(body, { path: pathOf(format) })).text();
      expect(text).toContain('"look_up"');
      expect(text).toContain('1.10');
      expect(provider.requests.at(-1)?.body.props).toEqual([{ name: 'look_up', shape: { type: 'object' } }]);
      await gateway.settled();
    });
  });

  it('and gives it the bytes of a linked image in its own words', async () => {
    const bytes = Buffer.from('paint');
    Object.assign(gateway.running.deps.gateway, {
      fetchImage: async () => ({ ok: true, contentType: 'image/png', bytes }),
    });
    answers({ say: 'A moon.' }, { close: true, count: COUNT });
    const image = { type: 'image_url', image_url: { url: 'https://images.example.com/moon.png' } };
    const messages = [{ role: 'user', content: [{ type: 'text', text: 'What is it?' }, image] }];
    const response = await gateway.post(
      { ...requestIn('chat', 'acme/moon'), messages },
      { path: pathOf('chat') },
    );
    expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('A moon.')]);
    const scenery = { scenery: 'image/png', paint: bytes.toString('base64') };
    expect(provider.requests.at(-1)?.body.play).toEqual([
      { role: 'audience', says: ['What is it?', scenery] },
    ]);
    await gateway.settled();
  });

  it('and ends with an error of the provider, at the price of the text, when its reader fails', async () => {
    answers({ say: 'About ' }, { boo: true }, { close: true, count: COUNT });
    const response = await gateway.post(requestIn('chat', 'acme/moon', { stream: true }), {
      path: pathOf('chat'),
    });
    const text = await response.text();
    expect(text).toContain('"code":"provider_error"');
    await gateway.settled();
    const [call] = await gateway.calls();
    expect(call).toMatchObject({ outcome: 'failed', errorCode: 'provider_error' });
    expect(call?.chargedNanoUsd).toBeGreaterThan(0n);
  });

  it('and is complete with its last event, whatever empty events follow', async () => {
    answers({ say: 'About ' }, { close: true, count: COUNT }, { curtain: true }, { count: COUNT });
    await (
      await gateway.post(requestIn('chat', 'acme/moon', { stream: true }), { path: pathOf('chat') })
    ).text();
    await gateway.settled();
    const [call] = await gateway.calls();
    expect(call && [call.outcome, formatUsd(call.chargedNanoUsd)]).toEqual(['ok', COST_USD]);
  });

  it('and names the setting that its format has no place for', async () => {
    answers({ say: 'A moon.' }, { close: true, count: COUNT });
    const response = await gateway.post(requestIn('messages', 'acme/moon', { top_k: 5 }), {
      path: pathOf('messages'),
    });
    expect([response.status, response.headers.get('x-ignored-fields')]).toEqual([200, 'top_k']);
    expect(JSON.stringify(provider.requests.at(-1)?.body)).not.toContain('top_k');
  });

  it('and refuses by its name, before anything is held, what the meaning hangs on', async () => {
    const asked = provider.requests.length;
    const schema = { type: 'json_schema', json_schema: { name: 'a', schema: { type: 'object' } } };
    const response = await gateway.post(requestIn('chat', 'acme/moon', { response_format: schema }), {
      path: pathOf('chat'),
    });
    expect([response.status, await response.text()]).toEqual([
      400,
      expect.stringContaining('`response_format`'),
    ]);
    expect(provider.requests).toHaveLength(asked);
    expect((await gateway.view()).holds).toEqual([]);
  });
});

describe('a kind that signs what it sends', () => {
  it.each(['models', 'key'] as const)('signs a probe of the %s, too', async (target) => {
    const served = gateway.running.deps.catalog.provider('first');
    if (served === undefined) throw new Error('the provider is not served');
    provider.answer({ body: '{}' });
    expect(await createProbe(systemClock)(served, target, new AbortController().signal)).toEqual({
      kind: 'answered',
      status: 200,
    });
    const asked = provider.requests.at(-1);
    const path = target === 'key' ? '/box-office' : '/models';
    expect(asked).toMatchObject({
      path,
      headers: { 'x-house': 'globe', 'x-signature': signatureOf(CONTRACT_KEY, `GET ${path} `) },
    });
  });

  it('signs the look-up of a list, and is told as unreachable where it cannot sign', async () => {
    const served = gateway.running.deps.catalog.provider('first');
    if (served === undefined) throw new Error('the provider is not served');
    provider.answer({ body: '{"data":[]}' });
    const fetchJson = createFetchProviderJson(systemClock);
    expect(await fetchJson(served, '/models')).toEqual({ data: [] });
    expect(provider.requests.at(-1)?.headers['x-signature']).toBe(signatureOf(CONTRACT_KEY, 'GET /models '));
    const expired = {
      ...served,
      kind: { ...framed, prepare: () => Promise.reject(new Error('the token has expired')) },
    };
    await expect(fetchJson(expired, '/models')).rejects.toThrow('The provider cannot be reached');
    const probe = createProbe(systemClock)(expired, 'key', new AbortController().signal);
    expect(await probe).toEqual({ kind: 'unconnected' });
  });
});

describe('a kind whose token never comes', () => {
  it('keeps no list and no video waiting beyond its time', async () => {
    const served = gateway.running.deps.catalog.provider('first');
    if (served === undefined) throw new Error('the provider is not served');
    const never = { ...served, kind: { ...framed, prepare: () => new Promise<never>(() => undefined) } };
    const fetchJson = createFetchProviderJson(systemClock, 1);
    await expect(fetchJson(never, '/models')).rejects.toThrow('No whole answer within');
    const stop = new AbortController();
    const prepared = preparedUntil(stop.signal, never, jsonGet('/videos/1/content'));
    stop.abort(new Error('the download is late'));
    await expect(prepared).rejects.toThrow('the download is late');
    await expect(preparedUntil(stop.signal, never, jsonGet('/videos/1/content'))).rejects.toThrow('late');
  });
});

describe('a kind that cannot prepare its request', () => {
  const broken = (prepare: NonNullable<ProviderKind['prepare']>) => ({
    kind: { ...framed, prepare },
    settings: { house: 'globe' },
  });
  const ask = (at: TestGateway, signal?: AbortSignal): Promise<Response> =>
    at.post(requestIn('chat', 'acme/moon'), { path: pathOf('chat'), ...(signal && { signal }) });

  it('counts as unreachable, free of charge', async () => {
    await using at = await startKindGateway(
      broken(() => Promise.reject(new Error('the token has expired'))),
      provider.url,
    );
    const response = await ask(at);
    expect(JSON.parse(await response.text()).error.code).toBe('upstream_unreachable');
    expect((await at.settled()).chargedNanoUsd).toBe(0n);
  });

  it('sends nothing for a caller who has left meanwhile', async () => {
    const ready = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    await using at = await startKindGateway(
      broken(async (_provider, request) => {
        begun.resolve();
        await ready.promise;
        return request;
      }),
      provider.url,
      { cancel: 'stops_billing' },
    );
    const asked = provider.requests.length;
    const caller = new AbortController();
    const call = ask(at, caller.signal).catch(() => null);
    await begun.promise;
    caller.abort();
    await call;
    await at.settled();
    ready.resolve();
    expect((await at.settled()).chargedNanoUsd).toBe(0n);
    expect(provider.requests).toHaveLength(asked);
  });
});

test('two kinds with formats of their own are each asked in their own', async () => {
  const write = (): object => ({ other: true });
  const other = { ...framed, name: 'other', ownFormat: { ...framedFormat, write } };
  await using at = await startKindGateway(framedWire, provider.url, {
    fallback: { kind: other, settings: { house: 'globe' } },
  });
  const asked = provider.requests.length;
  provider.answer({ status: 500, body: JSON.stringify({ fault: 'away' }) });
  await at.post(requestIn('chat', 'acme/moon'), { path: pathOf('chat') });
  const bodies = provider.requests.slice(asked).map(({ body }) => Object.keys(body));
  expect(bodies).toEqual([expect.arrayContaining(['play']), ['other']]);
  await at.settled();
});
