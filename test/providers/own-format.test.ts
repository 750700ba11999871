import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatUsd } from '#core/money.ts';
import { FORMATS, requestIn } from '../formats/requests.ts';
import type { TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { startWireProvider, type WireProvider } from '../support/wire-provider.ts';
import { framed } from './made-up/framed-kind.ts';
import { frame } from './made-up/framed-wire.ts';
import { startKindGateway } from './provider-contract.ts';

/** 11 × $0.000001 + 7 × $0.000004. */
const COUNT = [11, 7];
const COST_USD = '0.000039';

let provider: WireProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startWireProvider();
  gateway = await startKindGateway(framed, provider.url);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await provider[Symbol.asyncDispose]();
});

const answers = (...events: object[]) =>
  provider.answer({ headers: { 'content-type': 'application/x-frames' }, body: events.map(frame).join('') });

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

  it('and refuses by its name, before anything is held, what its format has no place for', async () => {
    const asked = provider.requests.length;
    const response = await gateway.post(requestIn('messages', 'acme/moon', { top_k: 5 }), {
      path: pathOf('messages'),
    });
    expect([response.status, await response.text()]).toEqual([404, expect.stringContaining('`top_k`')]);
    expect(provider.requests).toHaveLength(asked);
    expect((await gateway.view()).holds).toEqual([]);
  });
});
