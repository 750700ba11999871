import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModel,
  Output,
  StreamProviderError,
  stepCountIs,
  streamText,
  tool,
} from 'ai';
import { isRecord } from '#core/is-record.ts';
import {
  type Account,
  ANSWER,
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
  TOKENS_MAX,
  TOOLS,
  type Told,
} from './client.ts';

type ProviderOptions = NonNullable<Parameters<typeof generateText>[0]['providerOptions']>;

/** One of the SDK's providers. */
interface Provider {
  modelOf(account: Account, model: string, fallback?: string): LanguageModel;
  /** With which a model calls one tool at a time. */
  oneTool: ProviderOptions;
}

/** The provider takes no field that it does not know, but a `fetch` of its users' own. */
const fetchWith =
  (fallback: string | undefined): typeof fetch =>
  (input, init) => {
    if (fallback === undefined || typeof init?.body !== 'string') return fetch(input, init);
    return fetch(input, { ...init, body: JSON.stringify({ ...JSON.parse(init.body), models: [fallback] }) });
  };

const openai: Provider = {
  modelOf: ({ baseUrl, key }, model, fallback) =>
    createOpenAI({ baseURL: baseUrl, apiKey: key, fetch: fetchWith(fallback) }).responses(model),
  oneTool: { openai: { parallelToolCalls: false } },
};

const openaiChat: Provider = {
  ...openai,
  modelOf: ({ baseUrl, key }, model, fallback) =>
    createOpenAI({ baseURL: baseUrl, apiKey: key, fetch: fetchWith(fallback) }).chat(model),
};

const compatible: Provider = {
  modelOf: ({ baseUrl, key }, model, fallback) =>
    createOpenAICompatible({
      name: 'faregate',
      baseURL: baseUrl,
      apiKey: key,
      includeUsage: true,
      supportsStructuredOutputs: true,
      // Else it would fetch images itself and send their bytes.
      supportedUrls: () => ({ 'image/*': [/^https:/] }),
      fetch: fetchWith(fallback),
    }).chatModel(model),
  oneTool: { faregate: { parallel_tool_calls: false } },
};

const anthropic: Provider = {
  modelOf: ({ baseUrl, key }, model, fallback) =>
    createAnthropic({ baseURL: baseUrl, apiKey: key, fetch: fetchWith(fallback) })(model),
  oneTool: { anthropic: { disableParallelToolUse: true } },
};

const clientOf = (
  name: string,
  format: Client['format'],
  provider: Provider,
  rest: Partial<Client> = {},
): Client => ({
  name: `AI SDK with ${name}`,
  format,
  showsCost: { whole: true, streamed: true },
  errors: { refused: 'AI_APICallError', broken: { name: 'AI_StreamProviderError', code: 'provider_error' } },
  open: (account) => callsOf(provider, account),
  ...rest,
});

/** The `ai` package with its providers. */
export const aiSdkClients = [
  clientOf('@ai-sdk/openai', 'responses', openai),
  clientOf('@ai-sdk/openai', 'chat', openaiChat, {
    // It reads of each chunk only what it knows: no cost, and no error in a chunk that has choices.
    showsCost: { whole: true, streamed: false },
    errors: { refused: 'AI_APICallError', broken: { name: '', code: 'error' } },
  }),
  clientOf('@ai-sdk/openai-compatible', 'chat', compatible),
  clientOf('@ai-sdk/anthropic', 'messages', anthropic),
];

const tools = Object.fromEntries(
  TOOLS.map(({ name, description, parameters }) => [
    name,
    tool({ description, inputSchema: jsonSchema(parameters), execute: async () => resultOf(name) }),
  ]),
);

function callsOf(provider: Provider, account: Account): ClientCalls {
  const common = (model: string) => ({
    model: provider.modelOf(account, model),
    maxRetries: 0,
    maxOutputTokens: TOKENS_MAX,
  });

  async function text(model: string, more: object = {}): Promise<Told> {
    const answer = await generateText({
      ...common(model),
      ...RAW_BODY,
      system: SYSTEM,
      prompt: PROMPT,
      ...more,
    });
    return { text: answer.text, model: answer.response.modelId, costs: answer.steps.map(costOfStep) };
  }

  const open = (model: string) =>
    streamText({ ...common(model), system: SYSTEM, prompt: PROMPT, onError: () => undefined });

  const asked = (model: string) => ({
    ...common(model),
    prompt: QUESTION,
    tools,
    stopWhen: stepCountIs(2),
    prepareStep: ({ stepNumber }: { stepNumber: number }) => ({
      toolChoice: stepNumber === 0 ? ('required' as const) : ('auto' as const),
    }),
  });

  return {
    text,
    async stream(model) {
      const answer = open(model);
      return {
        text: await answer.text,
        model: (await answer.response).modelId,
        costs: (await answer.steps).map(costOfStep),
      };
    },
    async tools(model, { streamed }) {
      const answer = streamed
        ? streamText(asked(model))
        : await generateText({ ...asked(model), ...RAW_BODY });
      const steps = await answer.steps;
      return {
        text: await answer.text,
        model: (await answer.response).modelId,
        costs: steps.map(costOfStep),
        called: (steps[0]?.toolCalls ?? []).map((call) => ({ name: call.toolName, arguments: call.input })),
      };
    },
    async oneTool(model) {
      const { toolCalls } = await generateText({
        ...common(model),
        prompt: QUESTION,
        tools,
        toolChoice: 'required',
        providerOptions: provider.oneTool,
      });
      return toolCalls.map((call) => ({ name: call.toolName, arguments: call.input }));
    },
    structured: (model) => text(model, { output: Output.object({ schema: jsonSchema(ANSWER) }) }),
    image: (model) =>
      text(model, {
        prompt: [
          {
            role: 'user',
            content: [
              { type: 'text', text: PROMPT },
              { type: 'file', mediaType: 'image', data: new URL(IMAGE) },
            ],
          },
        ],
      }),
    fallback: (model, fallback) => text(model, { model: provider.modelOf(account, model, fallback) }),
    async hangUp(model) {
      const abort = new AbortController();
      const answer = streamText({ ...common(model), prompt: PROMPT, abortSignal: abort.signal });
      for await (const piece of answer.textStream) {
        if (piece === '') continue;
        abort.abort();
        break;
      }
    },
    refused: (model) => failureOf(text(model), readError),
    async broken(model) {
      const answer = open(model);
      for await (const part of answer.fullStream) {
        if (part.type === 'error') return failureOf(Promise.reject(part.error), readError);
      }
      return { name: '', status: undefined, code: await answer.rawFinishReason, message: '' };
    },
  };
}

const RAW_BODY = { include: { responseBody: true } };

/** In the raw usage where the provider keeps it whole, else in the raw body. */
const costOfStep = ({ usage, response }: { usage: { raw?: unknown }; response: object }): unknown =>
  costOf(usage.raw) ?? costOf(Reflect.get(Object(Reflect.get(response, 'body')), 'usage'));

function readError(error: Error): Omit<Failure, 'name' | 'message'> {
  if (StreamProviderError.isInstance(error)) return { status: error.statusCode, code: error.code };
  if (!APICallError.isInstance(error)) throw error;
  const body: unknown = JSON.parse(error.responseBody ?? '{}');
  const inner = isRecord(body) && isRecord(body.error) ? body.error : {};
  return { status: error.statusCode, code: inner.code };
}
