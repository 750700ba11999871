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
import { readError } from './openai-chat.ts';

/** The `openai` package for node, by responses. */
export const openaiResponses: Client = {
  name: 'openai (node)',
  format: 'responses',
  showsCost: { whole: true, streamed: true },
  errors: { refused: 'APIError', broken: { name: 'APIError', code: 'provider_error' } },
  open: ({ baseUrl, key }) => callsOf(new OpenAI({ baseURL: baseUrl, apiKey: key, maxRetries: 0 })),
};

type Response = OpenAI.Responses.Response;
type Item = OpenAI.Responses.ResponseInputItem;
const tools = TOOLS.map((tool) => ({ type: 'function' as const, ...tool, strict: true }));
const question: Item = { role: 'user', content: QUESTION };

function callsOf({ responses }: OpenAI): ClientCalls {
  async function text(model: string, more: object = {}): Promise<Told> {
    return toldOf(await responses.create({ model, input: PROMPT, instructions: SYSTEM, ...more }));
  }

  async function stream(model: string): Promise<Told> {
    const input = [{ role: 'user' as const, content: PROMPT }];
    return toldOf(await responses.stream({ model, input, instructions: SYSTEM }).finalResponse());
  }

  async function ask(model: string, streamed: boolean, more: object = {}): Promise<Response> {
    const request = { model, input: [question], tools, tool_choice: 'required' as const, ...more };
    return streamed ? responses.stream(request).finalResponse() : responses.create(request);
  }

  return {
    text,
    stream,
    async tools(model, { streamed }) {
      const first = await ask(model, streamed);
      const calls = callsIn(first);
      const results = calls.map((call): Item => {
        return { type: 'function_call_output', call_id: call.call_id, output: resultOf(call.name) };
      });
      const answer = await text(model, { input: [question, ...calls, ...results], tools });
      return { ...answer, costs: [costOf(first.usage), ...answer.costs], called: calledIn(first) };
    },
    oneTool: async (model) => calledIn(await ask(model, false, { parallel_tool_calls: false })),
    structured: (model) =>
      text(model, {
        text: { format: { type: 'json_schema', name: 'answer', schema: ANSWER, strict: true } },
      }),
    image: (model) =>
      text(model, {
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: PROMPT },
              { type: 'input_image', image_url: IMAGE, detail: 'auto' },
            ],
          },
        ],
      }),
    fallback: (model, fallback) => text(model, { models: [fallback] }),
    async hangUp(model) {
      const events = await responses.create({ model, input: PROMPT, stream: true });
      for await (const event of events) if (event.type === 'response.output_text.delta') break;
    },
    refused: (model) => failureOf(text(model), readError),
    broken: (model) => failureOf(stream(model), readError),
  };
}

const toldOf = ({ output_text: text, model, usage }: Response): Told => ({
  text,
  model,
  costs: [costOf(usage)],
});

const callsIn = ({ output }: Response) => output.filter((item) => item.type === 'function_call');

const calledIn = (answer: Response): Called[] =>
  callsIn(answer).map((call) => ({ name: call.name, arguments: JSON.parse(call.arguments) }));
