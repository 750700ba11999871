import { OpenRouter } from '@openrouter/sdk';
import { OpenRouterError } from '@openrouter/sdk/models/errors';
import { isRecord } from '#core/is-record.ts';
import {
  ANSWER,
  type Called,
  type Client,
  type ClientCalls,
  costOf,
  type Failure,
  failureOf,
  IMAGE,
  PROMPT,
  QUESTION,
  resultOf,
  SYSTEM,
  TOOLS,
  type Told,
} from './client.ts';

/** The `@openrouter/sdk` package, by chat completions. */
export const openrouterChat: Client = {
  name: '@openrouter/sdk',
  format: 'chat',
  showsCost: { whole: true, streamed: true },
  // Its schema wants numbers as codes. The refusal's body is there to be read, of a chunk nothing is.
  errors: { refused: 'ResponseValidationError', broken: { name: 'ZodError', code: undefined } },
  open: ({ baseUrl, key }) =>
    chatCalls(new OpenRouter({ serverURL: baseUrl, apiKey: key, retryConfig: { strategy: 'none' } })),
};

type Request = Parameters<OpenRouter['chat']['send']>[0]['chatRequest'];
type Result = Extract<Awaited<ReturnType<OpenRouter['chat']['send']>>, { choices: unknown }>;

const tools = TOOLS.map((tool) => ({ type: 'function' as const, function: tool }));
const messages: Request['messages'] = [
  { role: 'system', content: SYSTEM },
  { role: 'user', content: PROMPT },
];
const question = { role: 'user' as const, content: QUESTION };

function chatCalls({ chat }: OpenRouter): ClientCalls {
  async function send(request: Request): Promise<Result> {
    const answer = await chat.send({ chatRequest: { ...request, stream: false } });
    if (!('choices' in answer)) throw new Error('a stream');
    return answer;
  }

  /** The pieces as this package's users put them together. */
  async function read(request: Request): Promise<Told & { called: Sent[] }> {
    const told = { text: '', model: undefined as string | undefined, costs: [undefined as unknown] };
    const called: Sent[] = [];
    const options = { stream: true as const, streamOptions: { includeUsage: true } };
    const stream = await chat.send({ chatRequest: { ...request, ...options } });
    if ('choices' in stream) throw new Error('no stream');
    for await (const { choices, model, usage } of stream) {
      told.model = model;
      if (usage !== undefined) told.costs = [costOf(usage)];
      const delta = choices[0]?.delta;
      told.text += delta?.content ?? '';
      for (const { index, id, function: piece } of delta?.toolCalls ?? []) {
        called[index] ??= { id: id ?? '', name: piece?.name ?? '', argumentsJson: '' };
        called[index].argumentsJson += piece?.arguments ?? '';
      }
    }
    return { ...told, called };
  }

  const text = async (model: string, more: Partial<Request> = {}) =>
    toldOf(await send({ model, messages, ...more }));

  const stream = async (model: string) => read({ model, messages });

  return {
    text,
    stream,
    async tools(model, { streamed }) {
      const request: Request = { model, messages: [question], tools, toolChoice: 'required' };
      const first = streamed ? await read(request) : await send(request).then(readCalls);
      const toolCalls = first.called.map(({ id, name, argumentsJson }) => {
        return { id, type: 'function' as const, function: { name, arguments: argumentsJson } };
      });
      const results = first.called.map(({ id, name }) => {
        return { role: 'tool' as const, toolCallId: id, content: resultOf(name) };
      });
      const answer = await text(model, {
        messages: [question, { role: 'assistant', content: null, toolCalls }, ...results],
        tools,
      });
      return { ...answer, costs: [...first.costs, ...answer.costs], called: first.called.map(shown) };
    },
    async oneTool(model) {
      const request: Request = { model, messages: [question], tools, toolChoice: 'required' };
      return readCalls(await send({ ...request, parallelToolCalls: false })).called.map(shown);
    },
    structured: (model) =>
      text(model, {
        responseFormat: {
          type: 'json_schema',
          jsonSchema: { name: 'answer', schema: ANSWER, strict: true },
        },
      }),
    image: (model) =>
      text(model, {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: PROMPT },
              { type: 'image_url', imageUrl: { url: IMAGE } },
            ],
          },
        ],
      }),
    fallback: (model, fallback) => text(model, { models: [fallback] }),
    async hangUp(model) {
      const pieces = await chat.send({ chatRequest: { model, messages, stream: true } });
      if ('choices' in pieces) throw new Error('no stream');
      for await (const { choices } of pieces) if (choices[0]?.delta.content) break;
    },
    refused: (model) => failureOf(text(model), readError),
    broken: (model) => failureOf(stream(model), readError),
  };
}

interface Sent {
  id: string;
  name: string;
  argumentsJson: string;
}

const shown = ({ name, argumentsJson }: Sent): Called => ({ name, arguments: JSON.parse(argumentsJson) });

function toldOf({ choices: [choice], model, usage }: Result): Told {
  const content: unknown = choice?.message.content;
  return { text: typeof content === 'string' ? content : '', model, costs: [costOf(usage)] };
}

function readCalls(answer: Result): Told & { called: Sent[] } {
  const called = (answer.choices[0]?.message.toolCalls ?? []).map(
    ({ id, function: { name, arguments: json } }) => {
      return { id, name, argumentsJson: json };
    },
  );
  return { ...toldOf(answer), called };
}

/** Of both of the package's formats. */
export function readError(error: Error): Partial<Failure> & Pick<Failure, 'status' | 'code'> {
  if (!(error instanceof OpenRouterError)) return { status: undefined, code: undefined };
  const { statusCode, body } = error;
  const parsed: unknown = JSON.parse(body);
  const inner = isRecord(parsed) && isRecord(parsed.error) ? parsed.error : {};
  return { status: statusCode, code: inner.code, message: String(inner.message) };
}
