import Anthropic from '@anthropic-ai/sdk';
import { isRecord } from '#core/is-record.ts';
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
  TOKENS_MAX,
  TOOLS,
  type Told,
} from './client.ts';

/** The `@anthropic-ai/sdk` package for node. */
export const anthropicMessages: Client = {
  name: '@anthropic-ai/sdk (node)',
  format: 'messages',
  showsCost: { whole: true, streamed: true },
  errors: { refused: 'PaymentRequiredError', broken: { name: 'APIError', code: 'provider_error' } },
  open: ({ baseUrl, key }) =>
    callsOf(new Anthropic({ baseURL: baseUrl.replace(/\/v1$/, ''), apiKey: key, maxRetries: 0 })),
};

const tools = TOOLS.map(({ name, description, parameters }) => ({
  name,
  description,
  input_schema: parameters,
}));
const question: Anthropic.MessageParam = { role: 'user', content: QUESTION };

function callsOf({ messages }: Anthropic): ClientCalls {
  const requestOf = (model: string, more: object) => ({
    model,
    max_tokens: TOKENS_MAX,
    system: SYSTEM,
    messages: [{ role: 'user' as const, content: PROMPT }],
    ...more,
  });

  async function whole(model: string, more: object = {}): Promise<Told & { message: Anthropic.Message }> {
    const message = await messages.create(requestOf(model, more));
    return { ...toldOf(message), costs: [costOf(message.usage)], message };
  }

  async function stream(model: string, more: object = {}): Promise<Told & { message: Anthropic.Message }> {
    const events = messages.stream(requestOf(model, more));
    const costs: unknown[] = [];
    const finished: Anthropic.ContentBlock[] = [];
    events.on('streamEvent', (event) => {
      if (event.type === 'message_delta') costs.push(costOf(event.usage));
    });
    events.on('contentBlock', (block) => finished.push(block));
    const message = await events.finalMessage();
    // Who acts on a block as soon as it is finished sees each of them once.
    if (JSON.stringify(finished) !== JSON.stringify(message.content)) throw new Error('blocks out of order');
    return { ...toldOf(message), costs, message };
  }

  return {
    text: whole,
    stream,
    async tools(model, { streamed }) {
      const asked = { messages: [question], tools, tool_choice: { type: 'any' } };
      const first = await (streamed ? stream(model, asked) : whole(model, asked));
      const { content } = first.message;
      const results = callsIn(first.message).map(({ id, name }) => {
        return { type: 'tool_result', tool_use_id: id, content: resultOf(name) };
      });
      const turns = [question, { role: 'assistant', content }, { role: 'user', content: results }];
      const answer = await whole(model, { messages: turns, tools });
      return { ...answer, costs: [...first.costs, ...answer.costs], called: calledIn(first.message) };
    },
    async oneTool(model) {
      const choice = { type: 'any', disable_parallel_tool_use: true };
      const { message } = await whole(model, { messages: [question], tools, tool_choice: choice });
      return calledIn(message);
    },
    structured: (model) =>
      whole(model, { output_config: { format: { type: 'json_schema', schema: ANSWER } } }),
    image: (model) =>
      whole(model, {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'image', source: { type: 'url', url: IMAGE } },
              { type: 'text', text: PROMPT },
            ],
          },
        ],
      }),
    fallback: (model, fallback) => whole(model, { models: [fallback] }),
    async hangUp(model) {
      const events = await messages.create({ ...requestOf(model, {}), stream: true });
      for await (const event of events) if (event.type === 'content_block_delta') break;
    },
    refused: (model) => failureOf(whole(model), readError),
    broken: (model) => failureOf(stream(model), readError),
  };
}

const toldOf = ({ content, model }: Anthropic.Message) => ({
  text: content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
  model,
});

const callsIn = ({ content }: Anthropic.Message) => content.filter((block) => block.type === 'tool_use');

const calledIn = (message: Anthropic.Message): Called[] =>
  callsIn(message).map(({ name, input }) => ({ name, arguments: input }));

function readError(error: Error): { status: number | undefined; code: unknown } {
  if (!(error instanceof Anthropic.APIError)) throw error;
  const body: unknown = error.error;
  const inner = isRecord(body) && isRecord(body.error) ? body.error : {};
  return { status: error.status, code: inner.code };
}
