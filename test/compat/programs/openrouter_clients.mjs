// The end-to-end tests of OpenRouter's provider for the AI SDK ask this of a server. The cases are our own.
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { generateObject, generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';
import {
  BASE_URL,
  CITY,
  EMPTY_KEY,
  expectAnswers,
  expectText,
  KEY,
  MODEL,
  TASK,
  THINKER,
  tried,
  WEATHER,
} from './checks.mjs';

// For the guide:
const openrouter = createOpenRouter({ baseURL: BASE_URL, apiKey: KEY, compatibility: 'strict' });
const withUsage = { usage: { include: true } };
const model = openrouter(MODEL, withUsage); // whose answers tell usage and cost, in streams too
// End.
const common = { model, maxRetries: 0 };

const animal = z.object({ animal: z.string() });
const city = z.object({ city: z.string() });
const tools = {
  find_city: tool({
    description: 'The city where an animal lives.',
    inputSchema: animal,
    execute: () => CITY,
  }),
  city_weather: tool({ description: 'The weather in a city.', inputSchema: city, execute: () => WEATHER }),
};
const ask = (content) => [{ role: 'user', content }];

/** Usage and cost are what these clients show their users. */
function expectUsage(usage, metadata) {
  const { usage: shown } = metadata?.openrouter ?? {};
  const counts = [usage.inputTokens, usage.outputTokens, shown?.totalTokens, shown?.cost];
  if (!counts.every((count) => count > 0)) throw new Error(`usage: ${JSON.stringify({ usage, shown })}`);
}

async function streamed(options) {
  let failure;
  const result = streamText({
    ...common,
    ...options,
    onError: ({ error }) => {
      failure = error;
    },
  });
  const parts = [];
  for await (const part of result.fullStream) parts.push(part);
  if (failure !== undefined && !options.mayFail) throw failure;
  return { result, parts };
}

await tried('usage and cost of a whole answer', async () => {
  const { usage, providerMetadata } = await generateText({ ...common, prompt: 'Say hello.' });
  expectUsage(usage, providerMetadata);
});
await tried('usage and cost of a stream', async () => {
  const { result } = await streamed({ prompt: 'Say hello.' });
  expectUsage(await result.usage, await result.providerMetadata);
});
await tried('a provider is named', async () => {
  const { providerMetadata } = await generateText({ ...common, prompt: 'Say hello.' });
  if (!providerMetadata.openrouter.provider) throw new Error(JSON.stringify(providerMetadata));
});
await tried('calls of tools have ids of their own', async () => {
  const { steps } = await generateText({
    ...common,
    prompt: 'Use find_city and city_weather for "Oslo".',
    tools,
    stopWhen: stepCountIs(3),
  });
  const ids = steps.flatMap(({ toolCalls }) => toolCalls.map(({ toolCallId }) => toolCallId));
  if (ids.length !== 2 || new Set(ids).size !== 2) throw new Error(JSON.stringify(ids));
});
await tried('calls of tools side by side in a stream', async () => {
  const { parts } = await streamed({ prompt: 'Use find_city and city_weather for "Oslo".', tools });
  const calls = parts.filter(({ type }) => type === 'tool-call').map(({ toolName }) => toolName);
  if (calls.toSorted().join() !== 'city_weather,find_city') throw new Error(calls.join());
  if (parts.filter(({ type }) => type === 'tool-input-end').length !== 2)
    throw new Error('an input does not end');
});
await tried('the reason of an end is tool-calls, streamed and whole', async () => {
  const whole = await generateText({ ...common, prompt: TASK, tools });
  const { result } = await streamed({ prompt: TASK, tools });
  expectText(`${whole.finishReason} ${await result.finishReason}`, 'tool-calls tool-calls');
});
await tried('a tool without arguments is called', async () => {
  const status = tool({
    description: 'Tells the state.',
    inputSchema: z.object({}),
    execute: () => 'all is well',
  });
  const { text } = await generateText({
    ...common,
    prompt: 'Use read_status.',
    tools: { read_status: status },
    stopWhen: stepCountIs(3),
  });
  expectText(text, 'all is well');
});
await tried('a tool and a structured answer in one request', async () => {
  const { object } = await generateObject({ ...common, prompt: 'Name a city.', schema: city });
  if (typeof object.city !== 'string') throw new Error(JSON.stringify(object));
});
for (const effort of ['minimal', 'low', 'medium', 'high', 'xhigh'])
  await tried(`reasoning with the effort ${effort}`, async () => {
    const model = openrouter(THINKER, { ...withUsage, reasoning: { effort } });
    const { reasoningText } = await generateText({ model, maxRetries: 0, prompt: 'Say hello.' });
    if (!reasoningText) throw new Error('no reasoning');
  });
await tried('reasoning is streamed and ends before the text', async () => {
  const { parts } = await streamed({
    model: openrouter(THINKER, { reasoning: { effort: 'low' } }),
    prompt: 'Say hello.',
  });
  const types = parts.map(({ type }) => type);
  if (!(types.indexOf('reasoning-end') > 0 && types.indexOf('reasoning-end') < types.indexOf('text-start')))
    throw new Error(types.join());
});
await tried('a second turn sends the reasoning of the first back', async () => {
  const model = openrouter(THINKER, { reasoning: { effort: 'low' } });
  const first = await generateText({ model, maxRetries: 0, prompt: TASK, tools, stopWhen: stepCountIs(5) });
  const messages = [...ask(TASK), ...first.response.messages, ...ask(TASK)];
  const { text } = await generateText({ model, maxRetries: 0, messages, tools, stopWhen: stepCountIs(5) });
  expectAnswers(text);
});
const cached = { openrouter: { cacheControl: { type: 'ephemeral' } } };
await tried('cache marks on a system message and on parts', async () => {
  const { text } = await generateText({
    ...common,
    messages: [
      { role: 'system', content: 'Be short.', providerOptions: cached },
      ...ask([
        { type: 'text', text: 'Say hello.' },
        { type: 'text', text: 'Be kind.', providerOptions: cached },
      ]),
    ],
    allowSystemInMessages: true,
  });
  expectText(text, ' ');
});
await tried('cache marks with a lifetime of an hour', async () => {
  const hour = { openrouter: { cacheControl: { type: 'ephemeral', ttl: '1h' } } };
  await generateText({
    ...common,
    messages: ask([{ type: 'text', text: 'Say hello.', providerOptions: hour }]),
  });
});
await tried('a picture inside the request', async () => {
  const png =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
  await generateText({
    ...common,
    messages: ask([
      { type: 'text', text: 'Describe it.' },
      { type: 'file', mediaType: 'image/png', data: `data:image/png;base64,${png}` },
    ]),
  });
});
await tried('temperature and the like are taken', async () => {
  await generateText({
    ...common,
    prompt: 'Say hello.',
    temperature: 0.2,
    topP: 0.9,
    maxOutputTokens: 50,
    stopSequences: ['stop'],
  });
});
await tried('a list of fallbacks is taken', async () => {
  await generateText({ ...common, model: openrouter(MODEL, { models: [THINKER] }), prompt: 'Say hello.' });
});
await tried('a refusal is readable', async () => {
  const poor = createOpenRouter({ baseURL: BASE_URL, apiKey: EMPTY_KEY });
  const refusal = await generateText({ model: poor(MODEL), maxRetries: 0, prompt: 'Hi' }).then(
    () => null,
    (error) => error,
  );
  expectText(`${refusal?.message} ${refusal?.responseBody} ${refusal?.statusCode}`, 'is spendable', '402');
});
