import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { ANSWER_DEPTH_MAX, JSON_DEPTH_MAX } from '#core/limits.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { pathOf } from '../support/path-of.ts';
import { plays, type RawProvider, startRawProvider } from '../support/raw-provider.ts';
import { formatYaml } from './format-gateway.ts';
import { wires } from './wires.ts';

let provider: RawProvider;
/** The one asks for streams and puts them together, the other for whole answers. */
let streaming: TestGateway;
let whole: TestGateway;
beforeAll(async () => {
  provider = await startRawProvider();
  streaming = await startTestGateway({ yaml: formatYaml(provider.baseUrl, 'stops_billing') });
  whole = await startTestGateway({ yaml: formatYaml(provider.baseUrl, 'bills_full') });
});
afterAll(async () => {
  await streaming.stop();
  await whole.stop();
  await provider[Symbol.asyncDispose]();
});

const nested = (depth: number): string => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;

const answers: Record<'chat' | 'messages', (input: string) => string> = {
  chat: (input) => {
    const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: input } };
    const message = { role: 'assistant', content: null, tool_calls: [call] };
    const choices = [{ index: 0, message, finish_reason: 'tool_calls' }];
    const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 };
    return JSON.stringify({ id: 'g1', object: 'chat.completion', created: 1, model: 'm', choices, usage });
  },
  messages: (input) =>
    `{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"tool_use","id":"c1","name":"f","input":${input}}],"stop_reason":"tool_use","stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":7}}`,
};
const formatOf = { chat: 'chat', messages: 'messages' } as const;

const ask = async (gateway: TestGateway, model: string, format: FormatName, more: object = {}) => {
  const agent = await gateway.newAgent();
  const messages = [{ role: 'user', content: 'Hello' }];
  const res = await gateway.post(
    { model: `acme/${model}`, max_tokens: 2_000, messages, ...more },
    { path: pathOf(format), agent },
  );
  const text = await res.text();
  const { chargedNanoUsd } = await gateway.settled(agent);
  return { status: res.status, text, chargedNanoUsd };
};

describe.each(['chat', 'messages'] as const)(
  'a tool input as deep as a body, from a provider of %s',
  (kind) => {
    const input = nested(JSON_DEPTH_MAX);

    it.each([
      ['chat', JSON.stringify(input)],
      ['messages', input],
    ] as const)('comes to a caller of %s, streamed or not', async (format, shown) => {
      provider.answers = plays(answers[kind](input), 'application/json');
      const passed = await ask(whole, kind, format);
      const wire = wires[formatOf[kind]];
      provider.answers = plays(wire.start() + wire.toolCall(0, 'c1', 'f', input) + wire.end());
      const collected = await ask(streaming, kind, format);
      for (const { status, text, chargedNanoUsd } of [passed, collected]) {
        expect(status).toBe(200);
        expect(text).toContain(shown);
        expect(chargedNanoUsd).toBe(5n * 123n + 7n * 457n);
      }
    });
  },
);

describe('an answer too deep for anybody', () => {
  const tooDeep = answers.messages(nested(ANSWER_DEPTH_MAX));
  const answering = (text: string) => {
    let asked = 0;
    provider.answers = (res: ServerResponse) => {
      asked++;
      return plays(text, 'application/json')(res);
    };
    return () => asked;
  };

  it('is not asked for again elsewhere where it was counted, and costs what it was counted as', async () => {
    const timesAsked = answering(tooDeep);
    const { status, text, chargedNanoUsd } = await ask(whole, 'messages', 'chat', {
      models: ['acme/all'],
    });
    expect([status, JSON.parse(text).error.code]).toEqual([502, 'provider_error']);
    expect(timesAsked()).toBe(1);
    expect(chargedNanoUsd).toBe(5n * 123n + 7n * 457n);
  });

  it('is asked for elsewhere where nobody counted it', async () => {
    const timesAsked = answering(tooDeep.replace('"usage"', '"other"'));
    await ask(whole, 'messages', 'chat', { models: ['acme/all'] });
    expect(timesAsked()).toBe(2);
  });
});
