// The official SDKs of OpenAI, Anthropic and OpenRouter, with the loop of tools that each of them brings.
import Anthropic from '@anthropic-ai/sdk';
import { OpenRouter } from '@openrouter/sdk';
import OpenAI from 'openai';
import {
  BASE_URL,
  CITY,
  expectAnswers,
  KEY,
  MODEL,
  ORIGIN,
  refusals,
  TASK,
  tried,
  WEATHER,
} from './checks.mjs';

const results = { find_city: CITY, city_weather: WEATHER };
const schemas = {
  find_city: { type: 'object', properties: { animal: { type: 'string' } }, required: ['animal'] },
  city_weather: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};
const names = Object.keys(schemas);

function clientsOf(apiKey) {
  // For the guide:
  const openai = new OpenAI({ baseURL: BASE_URL, apiKey });
  const anthropic = new Anthropic({ baseURL: ORIGIN, apiKey });
  const openrouter = new OpenRouter({ serverURL: BASE_URL, apiKey });
  // End.
  return { openai, anthropic, openrouter };
}
const openaiOf = (key) => clientsOf(key).openai.withOptions({ maxRetries: 0 });
const chatTools = names.map((name) => ({
  type: 'function',
  function: { name, parameters: schemas[name], parse: JSON.parse, function: () => results[name] },
}));

await tried('openai, chat: two-step tool task', async () => {
  const runner = openaiOf(KEY).chat.completions.runTools({
    model: MODEL,
    messages: [{ role: 'user', content: TASK }],
    tools: chatTools,
  });
  expectAnswers(await runner.finalContent());
});
await tried('openai, chat: two-step tool task, streamed', async () => {
  const runner = openaiOf(KEY).chat.completions.runTools({
    model: MODEL,
    messages: [{ role: 'user', content: TASK }],
    tools: chatTools,
    stream: true,
  });
  expectAnswers(await runner.finalContent());
});
await refusals(
  (key) =>
    openaiOf(key).chat.completions.create({ model: MODEL, messages: [{ role: 'user', content: 'Hi' }] }),
  'openai, chat',
);

async function loopOfResponses(ask) {
  const input = [{ role: 'user', content: TASK }];
  const tools = names.map((name) => ({ type: 'function', name, parameters: schemas[name], strict: false }));
  for (let turn = 0; turn < 5; turn++) {
    const response = await ask({ model: MODEL, input, tools, store: false });
    const calls = response.output.filter(({ type }) => type === 'function_call');
    if (calls.length === 0) return response.output_text;
    input.push(...response.output);
    for (const { call_id, name } of calls)
      input.push({ type: 'function_call_output', call_id, output: results[name] });
  }
  throw new Error('It calls tools for ever.');
}
await tried('openai, responses: two-step tool task', async () => {
  expectAnswers(await loopOfResponses((body) => openaiOf(KEY).responses.create(body)));
});
await tried('openai, responses: two-step tool task, streamed', async () => {
  expectAnswers(await loopOfResponses((body) => openaiOf(KEY).responses.stream(body).finalResponse()));
});
await refusals((key) => openaiOf(key).responses.create({ model: MODEL, input: 'Hi' }), 'openai, responses');

const anthropicOf = (key) => clientsOf(key).anthropic.withOptions({ maxRetries: 0 });
for (const [way, stream, more] of [
  ['two-step tool task', false, {}],
  ['two-step tool task, streamed', true, {}],
  ['whole conversations, two-step tool task', false, { thread: false }],
  ['whole conversations, two-step tool task, streamed', true, { thread: false }],
]) {
  await tried(`anthropic: ${way}`, async () => {
    const runner = anthropicOf(KEY).beta.messages.toolRunner({
      model: MODEL,
      max_tokens: 1_000,
      messages: [{ role: 'user', content: TASK }],
      tools: names.map((name) => ({
        name,
        description: name,
        input_schema: schemas[name],
        parse: (input) => input,
        run: () => results[name],
      })),
      stream,
      ...more,
    });
    if (stream) for await (const turn of runner) await turn.finalMessage();
    const message = await runner.runUntilDone();
    expectAnswers(message.content.map(({ text }) => text ?? '').join(''));
  });
}
await refusals(
  (key) =>
    anthropicOf(key).messages.create({
      model: MODEL,
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hi' }],
    }),
  'anthropic',
);

const openrouterOf = (key) => clientsOf(key).openrouter;
await tried('openrouter: two-step tool task', async () => {
  const messages = [{ role: 'user', content: TASK }];
  const tools = names.map((name) => ({ type: 'function', function: { name, parameters: schemas[name] } }));
  for (let turn = 0; turn < 5; turn++) {
    const { choices } = await openrouterOf(KEY).chat.send({ chatRequest: { model: MODEL, messages, tools } });
    const { message } = choices[0];
    if (!message.toolCalls?.length) return expectAnswers(message.content);
    messages.push(message);
    for (const call of message.toolCalls)
      messages.push({ role: 'tool', toolCallId: call.id, content: results[call.function.name] });
  }
  throw new Error('It calls tools for ever.');
});
await tried('openrouter: usage with its cost, streamed', async () => {
  const stream = await openrouterOf(KEY).chat.send({
    chatRequest: { model: MODEL, messages: [{ role: 'user', content: 'Hi' }], stream: true },
  });
  let usage;
  for await (const chunk of stream) usage = chunk.usage ?? usage;
  if (!(usage?.cost > 0)) throw new Error(`usage: ${JSON.stringify(usage)}`);
});
await tried('openrouter: usage with its cost where it is asked for, streamed', async () => {
  const stream = await openrouterOf(KEY).chat.send({
    chatRequest: {
      model: MODEL,
      messages: [{ role: 'user', content: 'Hi' }],
      stream: true,
      streamOptions: { includeUsage: true },
    },
  });
  let usage;
  for await (const chunk of stream) usage = chunk.usage ?? usage;
  if (!(usage?.cost > 0)) throw new Error(`usage: ${JSON.stringify(usage)}`);
});
await refusals(
  (key) =>
    openrouterOf(key).chat.send({
      chatRequest: { model: MODEL, messages: [{ role: 'user', content: 'Hi' }] },
    }),
  'openrouter',
);
