import { OpenRouter } from '@openrouter/sdk';
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
import { readError } from './openrouter-chat.ts';

/** The `@openrouter/sdk` package, by responses. */
export const openrouterResponses: Client = {
  name: '@openrouter/sdk',
  format: 'responses',
  showsCost: { whole: true, streamed: true },
  // Its schema wants numbers as codes of refusals.
  errors: { refused: 'ResponseValidationError', broken: { name: 'BrokenStream', code: 'provider_error' } },
  open: ({ baseUrl, key }) =>
    callsOf(new OpenRouter({ serverURL: baseUrl, apiKey: key, retryConfig: { strategy: 'none' } })),
};

type Request = Parameters<OpenRouter['responses']['send']>[0]['responsesRequest'];
type Result = Extract<Awaited<ReturnType<OpenRouter['responses']['send']>>, { output: unknown }>;

const tools = TOOLS.map((tool) => ({ type: 'function' as const, ...tool, strict: true }));
const question = { role: 'user' as const, content: QUESTION };

/** The package hands the event of an error to its users as it came. */
class BrokenStream extends Error {
  code: string | null;
  constructor(message: string, code: string | null) {
    super(message);
    this.code = code;
  }
}

function callsOf({ responses }: OpenRouter): ClientCalls {
  async function send(request: Request): Promise<Result> {
    const answer = await responses.send({ responsesRequest: { ...request, stream: false } });
    if (!('output' in answer)) throw new Error('a stream');
    return answer;
  }

  async function read(request: Request): Promise<Result> {
    const stream = await responses.send({ responsesRequest: { ...request, stream: true } });
    if ('output' in stream) throw new Error('no stream');
    let text = '';
    for await (const event of stream) {
      if (event.type === 'error') throw new BrokenStream(event.message, event.code);
      if (event.type === 'response.output_text.delta') text += event.delta;
      if (event.type === 'response.completed') {
        if (textOf(event.response) !== text) throw new Error('the pieces are not the whole');
        return event.response;
      }
    }
    throw new Error('The stream has no end.');
  }

  const basis = (model: string): Request => ({ model, input: PROMPT, instructions: SYSTEM });
  const text = async (model: string, more: Partial<Request> = {}) =>
    toldOf(await send({ ...basis(model), ...more }));
  const stream = async (model: string) => toldOf(await read(basis(model)));
  const asked = (model: string): Request => ({ model, input: [question], tools, toolChoice: 'required' });

  return {
    text,
    stream,
    async tools(model, { streamed }) {
      const first = streamed ? await read(asked(model)) : await send(asked(model));
      const calls = callsIn(first);
      const results = calls.map(({ callId, name }) => {
        return { type: 'function_call_output' as const, callId, output: resultOf(name) };
      });
      const answer = await text(model, { input: [question, ...calls, ...results], tools });
      return { ...answer, costs: [costOf(first.usage), ...answer.costs], called: calls.map(shown) };
    },
    oneTool: async (model) => callsIn(await send({ ...asked(model), parallelToolCalls: false })).map(shown),
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
              { type: 'input_image', imageUrl: IMAGE, detail: 'auto' },
            ],
          },
        ],
      }),
    fallback: (model, fallback) => text(model, { models: [fallback] }),
    async hangUp(model) {
      const events = await responses.send({ responsesRequest: { ...basis(model), stream: true } });
      if ('output' in events) throw new Error('no stream');
      for await (const { type } of events) if (type === 'response.output_text.delta') break;
    },
    refused: (model) => failureOf(text(model), readError),
    broken: (model) =>
      failureOf(stream(model), (error) =>
        error instanceof BrokenStream ? { status: undefined, code: error.code } : readError(error),
      ),
  };
}

function textOf({ output }: Result): string {
  const parts = output.flatMap((item) => (item.type === 'message' ? item.content : []));
  return parts.map((part) => ('text' in part ? part.text : '')).join('');
}

const toldOf = (answer: Result): Told => ({
  text: textOf(answer),
  model: answer.model,
  costs: [costOf(answer.usage)],
});

const callsIn = ({ output }: Result) => output.filter((item) => item.type === 'function_call');

const shown = (call: { name: string; arguments: string }): Called => ({
  name: call.name,
  arguments: JSON.parse(call.arguments),
});
