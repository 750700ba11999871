import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { startTestProvider, type TestProvider } from '../support/provider.ts';

const client = (provider: TestProvider): OpenAI =>
  new OpenAI({ baseURL: provider.baseUrl, apiKey: 'sk-test', maxRetries: 0 });

const ask = (content: string) => ({ role: 'user' as const, content });
const model = 'faregate-sim/small';

test('the official openai package reads an answer that says back what was asked', async () => {
  await using provider = await startTestProvider();
  const answer = await client(provider).chat.completions.create({
    model,
    messages: [ask('Where is gate 4?')],
  });

  expect(answer.choices[0]?.message.content).toContain('“Where is gate 4?”');
  expect(answer.choices[0]?.finish_reason).toBe('stop');
  expect(answer.object).toBe('chat.completion');
  expect(answer.id).toMatch(/^gen-\d{10}-[0-9a-z]{20}$/);
});

test('a stream, read by the openai package, has the text of the JSON answer and its usage at the end', async () => {
  await using provider = await startTestProvider();
  const messages = [ask('Stream me 東京')];
  const whole = await client(provider).chat.completions.create({ model, messages });
  const stream = await client(provider).chat.completions.create({ model, messages, stream: true });
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);

  const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
  expect(text).toBe(whole.choices[0]?.message.content);
  expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: whole.usage });
  expect(chunks.filter((chunk) => chunk.usage != null)).toHaveLength(1);
});

test('the same request and seed get the same answer, another seed may get another', async () => {
  const texts = new Set<string | null | undefined>();
  for (const seed of ['a', 'a', 'b', 'c', 'd', 'e', 'f']) {
    await using provider = await startTestProvider({ seed });
    const first = await client(provider).chat.completions.create({ model, messages: [ask('Hi')] });
    const again = await client(provider).chat.completions.create({ model, messages: [ask('Hi')] });
    expect(again.choices).toEqual(first.choices);
    expect(again.id).not.toBe(first.id);
    texts.add(first.choices[0]?.message.content);
  }
  expect(texts.size).toBeGreaterThan(1);
  expect(texts.size).toBeLessThanOrEqual(4);
});

test.each([{ max_tokens: 3 }, { max_completion_tokens: 3 }])('%j caps the answer', async (cap) => {
  await using provider = await startTestProvider();
  const answer = await client(provider).chat.completions.create({ model, messages: [ask('Hi')], ...cap });
  expect(answer.usage?.completion_tokens).toBe(3);
  expect(answer.choices[0]?.finish_reason).toBe('length');
  expect(Buffer.byteLength(answer.choices[0]?.message.content ?? '')).toBeLessThanOrEqual(12);
});

test('n answers are n choices, and all are billed', async () => {
  await using provider = await startTestProvider();
  const five = await client(provider).chat.completions.create({ model, messages: [ask('Hi')], n: 5 });
  expect(five.choices.map((choice) => choice.index)).toEqual([0, 1, 2, 3, 4]);
  const each = Math.ceil(Buffer.byteLength(five.choices[0]?.message.content ?? '') / 4);
  expect(each).toBeGreaterThan(0);
  expect(five.usage?.completion_tokens).toBe(5 * each);
});

test('a stop text ends the answer before it', async () => {
  await using provider = await startTestProvider();
  const answer = await client(provider).chat.completions.create({
    model,
    messages: [ask('one two')],
    stop: ['simulator', ' two'],
  });
  expect(answer.choices[0]?.message.content).toMatch(/“one$/);
  expect(answer.choices[0]?.finish_reason).toBe('stop');
});

const weather = {
  type: 'function' as const,
  function: {
    name: 'weather',
    parameters: {
      type: 'object',
      properties: {
        city: { $ref: '#/$defs/city' },
        days: { type: 'integer', minimum: 2 },
        exact: { type: 'boolean' },
      },
      $defs: { city: { enum: ['Kyoto', 'Lyon'] } },
    },
  },
};

const weatherArguments = { city: 'Kyoto', days: 2, exact: true };

test('a required function is called with arguments that fit its schema', async () => {
  await using provider = await startTestProvider();
  const answer = await client(provider).chat.completions.create({
    model,
    messages: [ask('Weather?')],
    tools: [weather],
    tool_choice: 'required',
  });
  const toolCall = answer.choices[0]?.message.tool_calls?.[0];
  expect(toolCall?.type === 'function' && JSON.parse(toolCall.function.arguments)).toEqual(weatherArguments);
  expect(answer.choices[0]?.finish_reason).toBe('tool_calls');
});

test('a function that takes nothing needs no schema', async () => {
  await using provider = await startTestProvider();
  const answer = await client(provider).chat.completions.create({
    model,
    messages: [ask('What time is it?')],
    tools: [{ type: 'function', function: { name: 'now' } }],
    tool_choice: 'required',
  });
  const toolCall = answer.choices[0]?.message.tool_calls?.[0];
  expect(toolCall).toMatchObject({ type: 'function', function: { name: 'now', arguments: '{}' } });
});

test('a function forced by name is called in a stream too', async () => {
  await using provider = await startTestProvider();
  const runner = client(provider).chat.completions.stream({
    model,
    messages: [ask('Weather?')],
    tools: [weather],
    tool_choice: { type: 'function', function: { name: 'weather' } },
  });
  const toolCall = (await runner.finalChatCompletion()).choices[0]?.message.tool_calls?.[0];
  expect(toolCall).toMatchObject({ type: 'function', function: { name: 'weather' } });
  expect(toolCall?.type === 'function' && JSON.parse(toolCall.function.arguments)).toEqual(weatherArguments);
});

const clock = { type: 'function' as const, function: { name: 'now', parameters: { type: 'object' } } };

test.each([
  [['weather', 'now'], {}],
  [['weather'], { parallel_tool_calls: false }],
])('%j are called where a call is required of two functions and %j', async (names, more) => {
  await using provider = await startTestProvider();
  const asked = {
    model,
    messages: [ask('Weather and time?')],
    tools: [weather, clock],
    tool_choice: 'required' as const,
    ...more,
  };
  const whole = await client(provider).chat.completions.create(asked);
  const streamed = await client(provider).chat.completions.stream(asked).finalChatCompletion();
  for (const answer of [whole, streamed]) {
    const calls = answer.choices[0]?.message.tool_calls ?? [];
    expect(calls.map((call) => call.type === 'function' && call.function.name)).toEqual(names);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(names.length);
  }
});

test('a script says which tools are called, beside its text', async () => {
  await using provider = await startTestProvider();
  provider.next({ text: 'I look.', toolCalls: [{ name: 'look', argumentsJson: '{"at":"it"}' }] });
  const answer = await client(provider).chat.completions.create({ model, messages: [ask('Look!')] });
  expect(answer.choices[0]).toMatchObject({
    finish_reason: 'tool_calls',
    message: { content: 'I look.', tool_calls: [{ function: { name: 'look', arguments: '{"at":"it"}' } }] },
  });
});

test('functions that are only offered are not called', async () => {
  await using provider = await startTestProvider();
  const answer = await client(provider).chat.completions.create({
    model,
    messages: [ask('Weather?')],
    tools: [weather],
    tool_choice: 'auto',
  });
  expect(answer.choices[0]?.message.tool_calls).toBeUndefined();
  expect(answer.choices[0]?.message.content).toContain('Weather?');
});

test('structured output fits its schema', async () => {
  await using provider = await startTestProvider();
  const schema = {
    type: 'object',
    properties: {
      tags: { type: 'array', items: { type: 'string' }, minItems: 2 },
      score: { type: ['number', 'null'] },
    },
  };
  const answer = await client(provider).chat.completions.create({
    model,
    messages: [ask('Tag it')],
    response_format: { type: 'json_schema', json_schema: { name: 'tags', schema } },
  });
  expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual({
    tags: ['simulated', 'simulated'],
    score: 1,
  });
});

test('a reasoning model thinks within its cap, and says how many tokens it thought', async () => {
  await using provider = await startTestProvider();
  const answer = await client(provider).chat.completions.create({
    model: 'faregate-sim/thinker',
    messages: [ask('Think')],
    reasoning_effort: 'low',
    max_tokens: 20,
  });
  expect(answer.usage?.completion_tokens_details?.reasoning_tokens).toBe(16);
  expect(answer.usage?.completion_tokens).toBe(20);
  expect(answer.choices[0]?.message).toHaveProperty('reasoning', 'hmm '.repeat(16));
});

test.each([
  ['an unknown model', { model: 'nobody/nothing' }, 400],
  ['a model of batches', { model: 'faregate-sim/small:batch' }, 400],
  ['no messages', { messages: [] }, 400],
  ['a price below every provider', { provider: { max_price: { prompt: 0.05 } } }, 404],
  ['a prompt beyond the context', { messages: [ask('x'.repeat(140_000))] }, 400],
])('%s is refused as OpenRouter refuses, and never billed', async (_, wrong, status) => {
  await using provider = await startTestProvider();
  const body = { model, messages: [ask('Hi')], ...wrong };
  await expect(client(provider).chat.completions.create(body)).rejects.toMatchObject({
    status,
    error: { code: status, metadata: { error_type: expect.any(String) } },
  });
  expect(provider.billed()).toEqual([]);
});

test('max_price leaves the dear provider out, and :nitro takes it', async () => {
  await using provider = await startTestProvider();
  const large = 'faregate-sim/large';
  for (let i = 0; i < 12; i++) {
    const body = {
      model: large,
      messages: [ask(`${i}`)],
      provider: { max_price: { prompt: 2, completion: 8 } },
    };
    await client(provider).chat.completions.create(body);
  }
  expect(new Set(provider.billed().map((call) => call.providerName))).toEqual(new Set(['SimCloud']));
  await client(provider).chat.completions.create({ model: `${large}:nitro`, messages: [ask('Hi')] });
  expect(provider.lastBill()).toMatchObject({ providerName: 'SimFast', model: large });
});

test('a server of the plain openai kind shows no cost, and usage in a stream only when asked', async () => {
  await using provider = await startTestProvider({ dialect: 'openai' });
  const messages = [ask('Hi')];
  const { data, response } = await client(provider)
    .chat.completions.create({ model, messages })
    .withResponse();
  expect(data.usage).not.toHaveProperty('cost');
  expect(data).not.toHaveProperty('provider');
  expect(response.headers.has('x-generation-id')).toBe(false);

  for (const include_usage of [false, true]) {
    const stream = await client(provider).chat.completions.create({
      model,
      messages,
      stream: true,
      stream_options: { include_usage },
    });
    const usages = [];
    for await (const chunk of stream) usages.push(chunk.usage);
    expect(usages.filter((usage) => usage != null)).toHaveLength(include_usage ? 1 : 0);
    expect(usages[0]).toBe(include_usage ? null : undefined);
  }
});

test('a response repeats its request, and says what holds where the request says nothing', async () => {
  await using provider = await startTestProvider();
  const asked = { instructions: 'Be short.', temperature: 0.5, metadata: { a: 'b' }, top_p: null };
  const response = await client(provider).responses.create({ model, input: 'Hello', ...asked });
  expect(response).toMatchObject({
    ...asked,
    top_p: 1,
    text: { format: { type: 'text' } },
    reasoning: { effort: null, summary: null },
    tools: [],
    truncation: 'disabled',
    previous_response_id: null,
    store: false,
  });
  expect(response.output).toMatchObject([{ content: [{ logprobs: [] }] }]);
});
