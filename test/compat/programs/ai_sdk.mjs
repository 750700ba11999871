// Vercel's AI SDK with five providers: two-step tool tasks, structured answers, and refusals.
import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenResponses } from '@ai-sdk/open-responses';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { createOpenRouter } from '@openrouter/ai-sdk-provider';
import { generateObject, generateText, stepCountIs, streamText, tool } from 'ai';
import { z } from 'zod';
import { BASE_URL, CITY, expectAnswers, KEY, MODEL, refusals, TASK, tried, WEATHER } from './checks.mjs';

const tools = {
  find_city: tool({
    description: 'The city where an animal lives.',
    inputSchema: z.object({ animal: z.string() }),
    execute: () => CITY,
  }),
  city_weather: tool({
    description: 'The weather in a city.',
    inputSchema: z.object({ city: z.string() }),
    execute: () => WEATHER,
  }),
};

function modelsOf(apiKey) {
  // For the guide:
  const baseURL = BASE_URL;
  const openai = createOpenAI({ baseURL, apiKey });
  const anthropic = createAnthropic({ baseURL, apiKey });
  const compatible = createOpenAICompatible({
    name: 'faregate',
    baseURL,
    apiKey,
    includeUsage: true,
    supportsStructuredOutputs: true,
  });
  const openResponses = createOpenResponses({ name: 'faregate', url: `${BASE_URL}/responses`, apiKey });
  const openrouter = createOpenRouter({ baseURL, apiKey });
  const providerOptions = { openai: { store: false } }; // with each call of `openai(…)`, which speaks responses
  // End.
  return {
    'openai, responses': openai(MODEL),
    'openai, chat': openai.chat(MODEL),
    anthropic: anthropic(MODEL),
    'openai-compatible': compatible(MODEL),
    'open-responses': openResponses(MODEL),
    openrouter: openrouter(MODEL),
    providerOptions,
  };
}
const { providerOptions, ...models } = modelsOf(KEY);

for (const [name, model] of Object.entries(models)) {
  const common = { model, providerOptions, maxRetries: 0 };
  await tried(`${name}: two-step tool task`, async () => {
    const { text } = await generateText({ ...common, prompt: TASK, tools, stopWhen: stepCountIs(5) });
    expectAnswers(text);
  });
  await tried(`${name}: two-step tool task, streamed`, async () => {
    let failure;
    const result = streamText({
      ...common,
      prompt: TASK,
      tools,
      stopWhen: stepCountIs(5),
      onError: ({ error }) => {
        failure = error;
      },
    });
    const text = await Promise.resolve(result.text).catch((error) => {
      throw failure ?? error;
    });
    expectAnswers(text);
  });
  await tried(`${name}: usage of a stream`, async () => {
    const usage = await streamText({ ...common, prompt: 'Say hello.' }).usage;
    if (!(usage.inputTokens > 0 && usage.outputTokens > 0))
      throw new Error(`usage: ${JSON.stringify(usage)}`);
  });
  await tried(`${name}: a second turn over the first one's history`, async () => {
    const first = await generateText({ ...common, prompt: TASK, tools, stopWhen: stepCountIs(5) });
    const messages = [
      { role: 'user', content: TASK },
      ...first.response.messages,
      { role: 'user', content: TASK },
    ];
    const { text } = await generateText({ ...common, messages, tools, stopWhen: stepCountIs(5) });
    expectAnswers(text);
  });
  await tried(`${name}: structured answer`, async () => {
    const { object } = await generateObject({
      ...common,
      prompt: 'Name a city.',
      schema: z.object({ city: z.string() }),
    });
    if (typeof object.city !== 'string') throw new Error(JSON.stringify(object));
  });
  await refusals(
    (key) => generateText({ model: modelsOf(key)[name], prompt: 'Say hello.', maxRetries: 0 }),
    name,
  );
}
