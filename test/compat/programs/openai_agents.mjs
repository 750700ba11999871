// The Agents SDK of OpenAI for node by both of its models, whole and streamed.
import {
  Agent,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  Runner,
  setTracingDisabled,
  tool,
  user,
} from '@openai/agents';
import { OpenAI } from 'openai';
import { z } from 'zod';
import { BASE_URL, CITY, expectAnswers, KEY, MODEL, refusals, TASK, tried, WEATHER } from './checks.mjs';

setTracingDisabled(true);
const tools = [
  tool({
    name: 'find_city',
    description: 'The city where an animal lives.',
    parameters: z.object({ animal: z.string() }),
    execute: async () => CITY,
  }),
  tool({
    name: 'city_weather',
    description: 'The weather in a city.',
    parameters: z.object({ city: z.string() }),
    execute: async () => WEATHER,
  }),
];
const agent = new Agent({ name: 'Guide', instructions: 'Be short.', tools });

function modelsOf(key) {
  // For the guide:
  const client = new OpenAI({ baseURL: BASE_URL, apiKey: key });
  const byChat = new OpenAIChatCompletionsModel(client, MODEL);
  const byResponses = new OpenAIResponsesModel(client, MODEL);
  // End.
  return { chat: byChat, responses: byResponses };
}

for (const name of ['chat', 'responses']) {
  const runnerOf = (key) => new Runner({ model: modelsOf(key)[name] });
  await tried(`${name}: two-step tool task`, async () => {
    expectAnswers((await runnerOf(KEY).run(agent, TASK)).finalOutput);
  });
  await tried(`${name}: two-step tool task, streamed`, async () => {
    const result = await runnerOf(KEY).run(agent, TASK, { stream: true });
    for await (const _ of result);
    await result.completed;
    expectAnswers(result.finalOutput);
  });
  await tried(`${name}: a second turn over the first one's history`, async () => {
    const first = await runnerOf(KEY).run(agent, TASK);
    expectAnswers((await runnerOf(KEY).run(agent, [...first.history, user(TASK)])).finalOutput);
  });
  await refusals((key) => runnerOf(key).run(agent, 'Say hello.'), name);
}
