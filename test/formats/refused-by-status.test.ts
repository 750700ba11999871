import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { plays, type RawProvider, startRawProvider } from '../support/raw-provider.ts';
import { modelOf, type ProviderKind } from './format-gateway.ts';
import { askedIn, FORMATS, requestIn } from './requests.ts';
import { namedEvent, wires } from './wires.ts';

/*
 * Answers that fail before their caller has a byte of them. Such a call pays what the provider recorded: the usage that it
 * sends with the failure, or its record under the id that came ahead of the answer. Else it is free, at once.
 */

let provider: RawProvider;
let gateway: TestGateway;
beforeAll(async () => {
  provider = await startRawProvider();
  gateway = await startTestGateway({ yaml: yaml(provider.baseUrl) });
});
afterAll(async () => {
  await gateway.stop();
  await provider[Symbol.asyncDispose]();
});
// What one test made fail must not keep the next from being asked.
beforeEach(() => gateway.provider.reset());

/** Routers keep records; here nobody ever finds one, so a hold that waits for one would stand for ten minutes. */
const yaml = (baseUrl: string): string => {
  const all = 'formats: [chat/completions, responses, messages]';
  const models = ['all', 'chat', 'messages'].map(
    (id) =>
      `  - { id: acme/${id}, contextLength: 32768, maxOutputTokens: 4096, endpoints: [{ provider: ${id}, model: faregate-sim/small, pricing: { prompt: "0.000000123", completion: "0.000000457" } }] }`,
  );
  return `
server: { port: 0, internalPort: 0, host: 127.0.0.1, internalHost: 127.0.0.1 }
providers:
  - { id: all, kind: openrouter, catalog: none, baseUrl: "${baseUrl}", ${all} }
  - { id: chat, kind: openrouter, catalog: none, baseUrl: "${baseUrl}", formats: [chat/completions] }
  - { id: messages, kind: anthropic, catalog: none, baseUrl: "${baseUrl}" }
models:
${models.join('\n')}
`;
};

const ERROR = { code: 'server_error', message: 'The model failed.' };

/** A failed answer with its own id, as JSON and as a stream of its provider's format. */
const failures: Readonly<Record<FormatName, { json: string; stream: string }>> = {
  chat: {
    json: JSON.stringify({ id: 'gen-1', choices: [{ index: 0, finish_reason: 'error', error: ERROR }] }),
    stream: `data: ${JSON.stringify({ id: 'gen-1', choices: [], error: { code: 502, message: 'x' } })}\n\n`,
  },
  responses: {
    json: JSON.stringify({ id: 'gen-1', object: 'response', status: 'failed', error: ERROR, output: [] }),
    stream:
      wires.responses.start('gen-1') +
      namedEvent('response.failed', {
        response: { id: 'gen-1', object: 'response', status: 'failed', error: ERROR, output: [] },
      }),
  },
  messages: {
    json: JSON.stringify({ type: 'error', id: 'gen-1', error: { type: 'api_error', message: 'x' } }),
    stream:
      wires.messages.start('gen-1') + namedEvent('error', { error: { type: 'api_error', message: 'x' } }),
  },
};

/** The holds and the charge of a new agent after its one call. */
async function afterCall(kind: ProviderKind, format: FormatName, stream: boolean) {
  const agent = await gateway.newAgent();
  const res = await gateway.post(requestIn(format, modelOf[kind], { stream }), {
    path: pathOf(format),
    agent,
  });
  await res.text();
  const { holds, chargedNanoUsd } = await gateway.view(agent);
  return { status: res.status, holds: holds.length, chargedNanoUsd };
}

const KINDS = ['all formats', 'chat only', 'messages only'] as const;

describe.each(FORMATS)('%s', (format) => {
  describe.each(KINDS)('of a provider that speaks %s', (kind) => {
    const asked = askedIn(kind, format);

    it('a failed answer inside a 200 frees its hold at once, whatever id it has', async () => {
      provider.answers = plays(failures[asked].json, 'application/json');
      expect(await afterCall(kind, format, false)).toEqual({ status: 502, holds: 0, chargedNanoUsd: 0n });
    });

    it('a stream that fails, put together for a caller who waits for the whole, frees its hold at once', async () => {
      provider.answers = plays(failures[asked].stream);
      expect(await afterCall(kind, format, false)).toEqual({ status: 502, holds: 0, chargedNanoUsd: 0n });
    });

    it('a whole answer that breaks off after its text is free, because its caller has none of it', async () => {
      const wire = wires[asked];
      const text = 'four byte tokens of a text here ';
      provider.answers = (res) => {
        res.writeHead(200, { 'content-type': 'text/event-stream' });
        res.write(wire.start('gen-1') + wire.textStart + wire.text(text).repeat(9), () => res.destroy());
      };
      expect(await afterCall(kind, format, false)).toEqual({ status: 502, holds: 0, chargedNanoUsd: 0n });
    });

    it('a stream that fails before any text frees its hold at once', async () => {
      provider.answers = plays(failures[asked].stream);
      const { holds, chargedNanoUsd } = await afterCall(kind, format, true);
      // Anthropic counts the prompt as the answer begins, and a stream that has begun pays what was counted.
      expect([holds, chargedNanoUsd < 10n * 123n]).toEqual([0, true]);
    });
  });
});

it('a failure that brings its own usage pays it, and one with an id ahead of it waits for the provider’s record', async () => {
  const usage = { input_tokens: 100, output_tokens: 0, total_tokens: 100 };
  const failed = { id: 'gen-1', object: 'response', status: 'failed', error: ERROR, output: [], usage };
  provider.answers = plays(
    JSON.stringify({ ...failed, usage: { ...usage, cost: 0.0000123 } }),
    'application/json',
  );
  expect(await afterCall('all formats', 'responses', false)).toMatchObject({
    chargedNanoUsd: 12_300n,
    holds: 0,
  });
  for (const format of ['responses', 'chat'] as const) {
    provider.answers = plays(failures[format].json, 'application/json', { 'x-generation-id': 'gen-2' });
    expect(await afterCall('all formats', format, false)).toMatchObject({ chargedNanoUsd: 0n, holds: 1 });
  }
});

it('a response that was cancelled is no answer, and frees its hold at once', async () => {
  const cancelled = { id: 'gen-1', object: 'response', status: 'cancelled', error: null, output: [] };
  provider.answers = plays(JSON.stringify(cancelled), 'application/json');
  expect(await afterCall('all formats', 'responses', false)).toEqual({
    status: 502,
    holds: 0,
    chargedNanoUsd: 0n,
  });
});
