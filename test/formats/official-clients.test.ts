import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { chargedUsd, type TestAgent, type TestGateway } from '../support/gateway.ts';
import { anthropicOf, modelOf, PROVIDER_KINDS, startFormatGateway } from './format-gateway.ts';

/** Whole answers come in both ways: in one piece from the provider, or put together from its stream. */
let streaming: TestGateway;
let whole: TestGateway;
let gateway: TestGateway;
let agent: TestAgent;
beforeAll(async () => {
  streaming = await startFormatGateway('stops_billing');
  whole = await startFormatGateway('bills_full');
});
afterAll(async () => {
  await streaming.stop();
  await whole.stop();
});

/** What the client saw is what left the balance, to the nano-dollar. */
async function expectCharged(shown: unknown): Promise<void> {
  const view = await gateway.settled(agent);
  expect(Number(chargedUsd(view))).toBe(shown);
  expect(view.chargedNanoUsd).toBeGreaterThan(0n);
}

const costOf = (usage: object | null | undefined): unknown => Reflect.get(usage ?? {}, 'cost');
const weather = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const IMAGE = 'https://example.com/cat.png';

describe.each(
  PROVIDER_KINDS.flatMap((kind) => [
    { kind, cancel: 'stops_billing' },
    { kind, cancel: 'bills_full' },
  ]),
)('a model whose provider speaks $kind ($cancel)', ({ kind, cancel }) => {
  const model = modelOf[kind];
  beforeEach(() => {
    gateway = cancel === 'bills_full' ? whole : streaming;
  });

  describe('by the chat format of the official client', () => {
    it('answers in one piece', async () => {
      agent = await gateway.newAgent();
      const answer = await agent.openai.chat.completions.create({
        model,
        messages: [
          { role: 'system', content: 'Be short.' },
          { role: 'user', content: 'Hello' },
        ],
      });
      expect(answer.choices[0]?.message.content).toContain('Hello');
      expect(answer.choices[0]?.finish_reason).toBe('stop');
      expect(answer.model).toBe(model);
      await expectCharged(costOf(answer.usage));
    });

    it('streams, and its helper puts the pieces together', async () => {
      agent = await gateway.newAgent();
      const stream = agent.openai.chat.completions.stream({
        model,
        messages: [{ role: 'user', content: 'Hello' }],
        stream_options: { include_usage: true },
      });
      const answer = await stream.finalChatCompletion();
      expect(answer.choices[0]?.message.content).toContain('Hello');
      await expectCharged(costOf(answer.usage));
    });

    it.each([false, true])('calls a function, and takes its result (streamed: %s)', async (streamed) => {
      agent = await gateway.newAgent();
      const tools = [{ type: 'function' as const, function: { name: 'get_weather', parameters: weather } }];
      const question = { role: 'user' as const, content: 'Weather in Oslo?' };
      const request = { model, messages: [question], tools, tool_choice: 'required' as const };
      const { choices } = streamed
        ? await agent.openai.chat.completions.stream(request).finalChatCompletion()
        : await agent.openai.chat.completions.create(request);
      const [choice] = choices;
      const [call] = choice?.message.tool_calls ?? [];
      if (choice === undefined || call?.type !== 'function') throw new Error('no call');
      const { message } = choice;
      expect(choice.finish_reason).toBe('tool_calls');
      expect(call.function.name).toBe('get_weather');
      expect(JSON.parse(call.function.arguments)).toHaveProperty('city');
      const answer = await agent.openai.chat.completions.create({
        model,
        tools,
        messages: [question, message, { role: 'tool', tool_call_id: call.id, content: '7 degrees' }],
      });
      expect(answer.choices[0]?.finish_reason).toBe('stop');
    });

    it('answers in the wanted structure', async () => {
      agent = await gateway.newAgent();
      const answer = await agent.openai.chat.completions.create({
        model,
        messages: [{ role: 'user', content: 'Weather?' }],
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'weather', schema: weather, strict: true },
        },
      });
      expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toHaveProperty('city');
    });

    it('reads an image by its link', async () => {
      agent = await gateway.newAgent();
      const answer = await agent.openai.chat.completions.create({
        model,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What is it?' },
              { type: 'image_url', image_url: { url: IMAGE } },
            ],
          },
        ],
      });
      expect(answer.usage?.prompt_tokens).toBeGreaterThan(700);
      await expectCharged(costOf(answer.usage));
    });
  });

  describe('by the responses format of the official client', () => {
    it('answers in one piece, with the text joined', async () => {
      agent = await gateway.newAgent();
      const answer = await agent.openai.responses.create({
        model,
        input: 'Hello',
        instructions: 'Be short.',
      });
      expect(answer.output_text).toContain('Hello');
      expect(answer.status).toBe('completed');
      expect(answer.model).toBe(model);
      await expectCharged(costOf(answer.usage));
    });

    it('streams, and its helper puts the pieces together', async () => {
      agent = await gateway.newAgent();
      const stream = agent.openai.responses.stream({ model, input: [{ role: 'user', content: 'Hello' }] });
      const types = new Set<string>();
      stream.on('event', (event) => types.add(event.type));
      const answer = await stream.finalResponse();
      expect(answer.output_text).toContain('Hello');
      expect([...types]).toContain('response.output_item.done');
      await expectCharged(costOf(answer.usage));
    });

    it.each([false, true])('calls a function, and takes its result (streamed: %s)', async (streamed) => {
      agent = await gateway.newAgent();
      const tools = [{ type: 'function' as const, name: 'get_weather', parameters: weather, strict: true }];
      const request = { model, input: 'Weather in Oslo?', tools, tool_choice: 'required' as const };
      const first = streamed
        ? await agent.openai.responses.stream(request).finalResponse()
        : await agent.openai.responses.create(request);
      const call = first.output.find((item) => item.type === 'function_call');
      if (call?.type !== 'function_call') throw new Error('no call');
      expect(JSON.parse(call.arguments)).toHaveProperty('city');
      const answer = await agent.openai.responses.create({
        model,
        tools,
        input: [
          { role: 'user', content: 'Weather in Oslo?' },
          call,
          { type: 'function_call_output', call_id: call.call_id, output: '7 degrees' },
        ],
      });
      expect(answer.output_text).not.toBe('');
    });

    it('answers in the wanted structure', async () => {
      agent = await gateway.newAgent();
      const answer = await agent.openai.responses.create({
        model,
        input: 'Weather?',
        text: { format: { type: 'json_schema', name: 'weather', schema: weather, strict: true } },
      });
      expect(JSON.parse(answer.output_text)).toHaveProperty('city');
    });
  });

  describe('by the messages format of the official client', () => {
    it('answers in one piece', async () => {
      agent = await gateway.newAgent();
      const answer = await anthropicOf(gateway, agent).messages.create({
        model,
        max_tokens: 200,
        system: 'Be short.',
        messages: [{ role: 'user', content: 'Hello' }],
      });
      expect(answer.content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('Hello') });
      expect(answer.stop_reason).toBe('end_turn');
      expect(answer.model).toBe(model);
      await expectCharged(costOf(answer.usage));
    });

    it('streams, and its helper puts the pieces together', async () => {
      agent = await gateway.newAgent();
      const stream = anthropicOf(gateway, agent).messages.stream({
        model,
        max_tokens: 200,
        messages: [{ role: 'user', content: 'Hello' }],
      });
      let shown: unknown;
      stream.on('streamEvent', (event) => {
        if (event.type === 'message_delta') shown = costOf(event.usage);
      });
      const answer = await stream.finalMessage();
      expect(answer.content[0]).toMatchObject({ type: 'text', text: expect.stringContaining('Hello') });
      await expectCharged(shown);
    });

    it.each([false, true])('calls a tool, and takes its result (streamed: %s)', async (streamed) => {
      agent = await gateway.newAgent();
      const anthropic = anthropicOf(gateway, agent);
      const tools = [{ name: 'get_weather', input_schema: { ...weather, type: 'object' as const } }];
      const question = { role: 'user' as const, content: 'Weather in Oslo?' };
      const request = {
        model,
        max_tokens: 200,
        messages: [question],
        tools,
        tool_choice: { type: 'any' as const },
      };
      const first = streamed
        ? await anthropic.messages.stream(request).finalMessage()
        : await anthropic.messages.create(request);
      expect(first.stop_reason).toBe('tool_use');
      const call = first.content.find((block) => block.type === 'tool_use');
      if (call?.type !== 'tool_use') throw new Error('no call');
      expect(call.input).toHaveProperty('city');
      const answer = await anthropic.messages.create({
        model,
        max_tokens: 200,
        tools,
        messages: [
          question,
          { role: 'assistant', content: first.content },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: call.id, content: '7 degrees' }] },
        ],
      });
      expect(answer.stop_reason).toBe('end_turn');
    });

    it('reads an image by its link', async () => {
      agent = await gateway.newAgent();
      const answer = await anthropicOf(gateway, agent).messages.create({
        model,
        max_tokens: 200,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image', source: { type: 'url', url: IMAGE } },
              { type: 'text', text: 'What is it?' },
            ],
          },
        ],
      });
      expect(answer.usage.input_tokens).toBeGreaterThan(700);
      await expectCharged(costOf(answer.usage));
    });

    it('shows an error by its class and code', async () => {
      agent = await gateway.newAgent({ creditUsd: '0' });
      const call = anthropicOf(gateway, agent).messages.create({
        model,
        max_tokens: 200,
        messages: [{ role: 'user', content: 'Hello' }],
      });
      await expect(call).rejects.toMatchObject({
        status: 402,
        error: { type: 'error', error: { type: 'billing_error', code: 'insufficient_balance' } },
        requestID: expect.stringMatching(/^\d+$/),
      });
    });
  });
});
