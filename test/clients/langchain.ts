import {
  AIMessage,
  type AIMessageChunk,
  type BaseMessage,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import { ChatOpenAI, type ChatOpenAIFields } from '@langchain/openai';
import { isRecord } from '#core/is-record.ts';
import {
  type Account,
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
import { readError } from './openai-chat.ts';

const clientOf = (format: Client['format'], more: ChatOpenAIFields, rest: Partial<Client>): Client => ({
  name: '@langchain/openai',
  format,
  showsCost: { whole: true, streamed: true },
  errors: { refused: 'APIError', broken: { name: 'APIError', code: 'provider_error' } },
  open: (account) => callsOf(account, more),
  ...rest,
});

/** LangChain's client of OpenAI, by both of its formats. */
export const langchainClients = [
  clientOf('chat', {}, {}),
  // Of a whole answer by this format the client keeps no cost.
  clientOf('responses', { useResponsesApi: true }, { showsCost: { whole: false, streamed: true } }),
];

const tools = TOOLS.map((tool) => ({ type: 'function' as const, function: tool }));
/** By responses the client drops a choice that is bound with the tools. */
const ANY_TOOL: ChatOpenAIFields = { modelKwargs: { tool_choice: 'required' } };
const messages = [new SystemMessage(SYSTEM), new HumanMessage(PROMPT)];
const question = new HumanMessage(QUESTION);

function callsOf({ baseUrl, key }: Account, more: ChatOpenAIFields): ClientCalls {
  const open = (model: string, extra: ChatOpenAIFields = {}) =>
    new ChatOpenAI({
      model,
      apiKey: key,
      maxRetries: 0,
      configuration: { baseURL: baseUrl },
      __includeRawResponse: true,
      ...more,
      ...extra,
    });

  async function gather(stream: AsyncIterable<AIMessageChunk>): Promise<AIMessageChunk> {
    let whole: AIMessageChunk | null = null;
    for await (const chunk of stream) whole = whole === null ? chunk : whole.concat(chunk);
    if (whole === null) throw new Error('The stream was empty.');
    return whole;
  }

  const text = async (model: string) => toldOf(await open(model).invoke(messages));
  const stream = async (model: string) => toldOf(await gather(await open(model).stream(messages)));

  return {
    text,
    stream,
    async tools(model, { streamed }) {
      const ask = async (extra: ChatOpenAIFields, turns: BaseMessage[]) => {
        const asking = open(model, extra).bindTools(tools);
        return streamed ? gather(await asking.stream(turns)) : asking.invoke(turns);
      };
      const first = await ask(ANY_TOOL, [question]);
      const results = (first.tool_calls ?? []).map(
        ({ id, name }) => new ToolMessage({ tool_call_id: id ?? '', content: resultOf(name) }),
      );
      const answer = toldOf(await ask({}, [question, first, ...results]));
      return { ...answer, costs: [...toldOf(first).costs, ...answer.costs], called: calledIn(first) };
    },
    async oneTool(model) {
      const asking = open(model, ANY_TOOL).bindTools(tools, { parallel_tool_calls: false });
      return calledIn(await asking.invoke([question]));
    },
    async structured(model) {
      const asking = open(model).withStructuredOutput(ANSWER, {
        name: 'answer',
        method: 'jsonSchema',
        strict: true,
        includeRaw: true,
      });
      const { raw, parsed } = await asking.invoke(messages);
      if (!AIMessage.isInstance(raw)) throw new Error('no answer');
      return { ...toldOf(raw), text: JSON.stringify(parsed) };
    },
    async image(model) {
      const content = [
        { type: 'text', text: PROMPT },
        { type: 'image_url', image_url: { url: IMAGE } },
      ];
      return toldOf(await open(model).invoke([new HumanMessage({ content })]));
    },
    fallback: async (model, fallback) =>
      toldOf(await open(model, { modelKwargs: { models: [fallback] } }).invoke(messages)),
    async hangUp(model) {
      for await (const chunk of await open(model).stream(messages)) if (chunk.text !== '') break;
    },
    refused: (model) => failureOf(text(model), readError),
    broken: (model) => failureOf(stream(model), readError),
  };
}

function toldOf(message: AIMessage | AIMessageChunk): Told {
  const { additional_kwargs: kwargs, response_metadata: metadata } = message;
  const raw = kwargs.__raw_response;
  const usage = isRecord(raw) && raw.usage ? raw.usage : metadata.usage;
  const model: unknown = metadata.model_name ?? metadata.model;
  return {
    text: message.text,
    model: typeof model === 'string' ? model : undefined,
    costs: [costOf(usage)],
  };
}

const calledIn = ({ tool_calls: calls = [] }: AIMessage | AIMessageChunk): Called[] =>
  calls.map(({ name, args }) => ({ name, arguments: args }));
