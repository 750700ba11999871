import {
  type ChatCompletionChunk,
  type ChatCompletionRequest,
  type ContentPart,
  createChatCompletion,
  getBalance,
  listModels,
} from './api.ts';

/** A program on the code that orval makes. It must compile as strictly as TypeScript can. */
const keyed = (key: string | undefined): RequestInit => ({ headers: { authorization: `Bearer ${key}` } });
const options = keyed(process.env.FAREGATE_KEY);
const model = 'faregate-sim/small';

const models = await listModels(options);
if (models.status !== 200) throw new Error(`The models failed: ${models.status}`);

const balance = await getBalance(options);
if (balance.status !== 200) throw new Error(`The balance failed: ${balance.status}`);
const spendable: string = balance.data.spendable_usd;

async function chat(request: ChatCompletionRequest) {
  const answer = await createChatCompletion(request, options);
  if (answer.status !== 200 || typeof answer.data === 'string')
    throw new Error(`A chat failed: ${answer.status}`);
  return { text: answer.data.choices[0]?.message.content, cost: answer.data.usage.cost };
}

const ask = (content: string | ContentPart[]): ChatCompletionRequest => ({
  model,
  messages: [{ role: 'user', content }],
});

// A field that the document does not name is taken.
const streamed = await createChatCompletion(
  { ...ask('Hello'), stream: true, stream_options: { include_usage: true }, top_k: 3 },
  options,
);
if (streamed.status !== 200 || typeof streamed.data !== 'string') throw new Error('A stream failed.');
const events = streamed.data.split('\n\n').map((event) => event.replace(/^data: /, ''));
const chunks = events
  .filter((data) => data.startsWith('{'))
  .map((data): ChatCompletionChunk => JSON.parse(data));

const refused = await createChatCompletion(ask('Hello'), keyed(process.env.FAREGATE_EMPTY_KEY));
if (refused.status !== 402) throw new Error(`It was not refused for its balance: ${refused.status}`);
const code: string = refused.data.error.code;

console.log(
  JSON.stringify({
    models: models.data.data.map(({ id }) => id),
    spendable_usd: spendable,
    chat: await chat(ask('Hello')),
    parts: await chat(ask([{ type: 'text', text: 'Hello' }])),
    stream: {
      text: chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join(''),
      cost: chunks.at(-1)?.usage?.cost,
      done: events.includes('[DONE]'),
    },
    refusal: { status: refused.status, code },
  }),
);
