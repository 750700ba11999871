import OpenAI from 'openai';
import {
  ANSWER,
  type Called,
  type Client,
  type ClientCalls,
  costOf,
  failureOf,
  IMAGE,
  PROMPT,
  QUESTION,
  resultOf,
  SYSTEM,
  TOOLS,
  type Told,
} from './client.ts';

/** The `openai` package for node, by chat completions. */
export const openaiChat: Client = {
  name: 'openai (node)',
  format: 'chat',
  showsCost: { whole: true, streamed: true },
  errors: { refused: 'APIError', broken: { name: 'APIError', code: 'provider_error' } },
  open: ({ baseUrl, key }) => callsOf(new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 })),
};

type Message = OpenAI.ChatCompletionMessageParam;
const tools = TOOLS.map((tool) => ({ type: 'function' as const, function: tool }));
const messages: Message[] = [
  { role: 'system', content: SYSTEM },
  { role: 'user', content: PROMPT },
];
const question: Message = { role: 'user', content: QUESTION };

function callsOf({ chat }: OpenAI): ClientCalls {
  async function text(model: string, more: object = {}): Promise<Told> {
    return toldOf(await chat.completions.create({ model, messages, ...more }));
  }

  async function stream(model: string): Promise<Told> {
    const options = { stream_options: { include_usage: true } };
    return toldOf(await chat.completions.stream({ model, messages, ...options }).finalChatCompletion());
  }

  async function ask(model: string, streamed: boolean, more: object = {}): Promise<OpenAI.ChatCompletion> {
    const request = { model, messages: [question], tools, tool_choice: 'required' as const, ...more };
    if (!streamed) return chat.completions.create(request);
    const options = { stream_options: { include_usage: true } };
    return chat.completions.stream({ ...request, ...options }).finalChatCompletion();
  }

  return {
    text,
    stream,
    async tools(model, { streamed }) {
      const first = await ask(model, streamed);
      const message = messageOf(first);
      const results = callsIn(first).map((call): Message => {
        return { role: 'tool', tool_call_id: call.id, content: resultOf(call.function.name) };
      });
      const answer = await text(model, { messages: [question, message, ...results], tools });
      return { ...answer, costs: [costOf(first.usage), ...answer.costs], called: calledIn(first) };
    },
    oneTool: async (model) => calledIn(await ask(model, false, { parallel_tool_calls: false })),
    structured: (model) =>
      text(model, {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'answer', schema: ANSWER, strict: true },
        },
      }),
    image: (model) =>
      text(model, {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: PROMPT },
              { type: 'image_url', image_url: { url: IMAGE } },
            ],
          },
        ],
      }),
    fallback: (model, fallback) => text(model, { models: [fallback] }),
    async hangUp(model) {
      const pieces = await chat.completions.create({ model, messages, stream: true });
      for await (const { choices } of pieces) if (choices[0]?.delta.content) break;
    },
    refused: (model) => failureOf(text(model), readError),
    broken: (model) => failureOf(stream(model), readError),
  };
}

const toldOf = (answer: OpenAI.ChatCompletion): Told => ({
  text: messageOf(answer).content ?? '',
  model: answer.model,
  costs: [costOf(answer.usage)],
});

function messageOf({ choices: [choice] }: OpenAI.ChatCompletion): OpenAI.ChatCompletionMessage {
  if (choice === undefined) throw new Error('no choice');
  return choice.message;
}

const callsIn = (answer: OpenAI.ChatCompletion) =>
  (messageOf(answer).tool_calls ?? []).filter((call) => call.type === 'function');

const calledIn = (answer: OpenAI.ChatCompletion): Called[] =>
  callsIn(answer).map(({ function: called }) => ({
    name: called.name,
    arguments: JSON.parse(called.arguments),
  }));

/** Of both of the package's formats. */
export function readError(error: Error): { status: number | undefined; code: unknown } {
  if (!(error instanceof OpenAI.APIError)) throw error;
  return { status: error.status, code: error.code };
}
