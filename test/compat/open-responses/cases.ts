import { type ResponseResource, responseResource, type StreamingEvent, streamingEvent } from './schemas.ts';

/*
 * The Open Responses project demands this of a server over HTTP, by its published list of compliance cases: the same
 * situations in requests of our own. Its cases over WebSocket and of `/responses/compact` are of paths that the
 * specification does not serve.
 */
export interface OpenResponsesCase {
  name: string;
  body: object;
  /** Throws where the response is not as it must be. */
  judge?: (response: ResponseResource) => void;
}

const ask = (text: string) => ({ type: 'message', role: 'user', content: text });
const say = (text: string, phase?: string) => ({
  type: 'message',
  role: 'assistant',
  content: text,
  ...(phase === undefined ? {} : { phase }),
});

const weather = {
  type: 'function',
  name: 'get_weather',
  description: 'Tells the weather of a place.',
  parameters: { type: 'object', properties: { place: { type: 'string' } }, required: ['place'] },
};

/** One pixel. */
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const openResponsesCases: readonly OpenResponsesCase[] = [
  { name: 'a plain answer', body: { input: [ask('Say hello.')] } },
  { name: 'an answer to a string', body: { input: 'Say hello.' } },
  {
    name: 'a system message in the input',
    body: { input: [{ ...ask('Be short.'), role: 'system' }, ask('Say hello.')] },
  },
  {
    name: 'a developer message and instructions',
    body: {
      instructions: 'Be kind.',
      input: [{ ...ask('Be short.'), role: 'developer' }, ask('Say hello.')],
    },
  },
  { name: 'several turns', body: { input: [ask('I am Ada.'), say('Hello Ada.'), ask('Who am I?')] } },
  {
    name: 'earlier answers with their phase',
    body: {
      input: [say('Let me see.', 'commentary'), say('It is four.', 'final_answer'), ask('Say it again.')],
    },
  },
  {
    name: 'a call of a function',
    body: { input: [ask("How's the weather in Oslo?")], tools: [weather] },
    judge: ({ output, tools }) => {
      const call = output.find(({ type }) => type === 'function_call');
      if (call === undefined) throw new Error('No function is called.');
      JSON.parse(String(call.arguments));
      if (tools.length !== 1) throw new Error('The tools of the request are not repeated.');
    },
  },
  {
    name: 'the result of a function',
    body: {
      tools: [weather],
      input: [
        ask("How's the weather in Oslo?"),
        { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"place":"Oslo"}' },
        { type: 'function_call_output', call_id: 'call_1', output: '7 degrees' },
      ],
    },
    judge: ({ output }) => {
      if (!JSON.stringify(output).includes('7 degrees')) throw new Error('The result was not read.');
    },
  },
  {
    name: 'an image in the input',
    body: {
      input: [
        {
          type: 'message',
          role: 'user',
          content: [
            { type: 'input_text', text: 'Describe it.' },
            { type: 'input_image', image_url: PNG },
          ],
        },
      ],
    },
  },
  {
    name: 'a structured answer',
    body: {
      input: 'Name a city.',
      text: {
        format: {
          type: 'json_schema',
          name: 'city',
          strict: true,
          schema: {
            type: 'object',
            properties: { city: { type: 'string' } },
            required: ['city'],
            additionalProperties: false,
          },
        },
      },
    },
    judge: ({ text }) => {
      if (text.format.type !== 'json_schema') throw new Error('The format of the request is not repeated.');
    },
  },
];

/** Asks for a whole answer and judges it. */
export async function judgeWhole(post: Post, { body, judge }: OpenResponsesCase): Promise<void> {
  const answer = await post(body);
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
  judgeResponse(JSON.parse(text), judge);
}

/** Asks for a stream, judges each event, and the response that ends it. */
export async function judgeStreamed(post: Post, { body, judge }: OpenResponsesCase): Promise<void> {
  const answer = await post({ ...body, stream: true });
  const text = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status} ${text}`);
  if (!answer.headers.get('content-type')?.startsWith('text/event-stream'))
    throw new Error('This is no stream.');
  const events = readStream(text);
  const wrong = events.findIndex(({ sequence_number: at }, index) => at !== index);
  if (wrong >= 0) throw new Error(`Event ${wrong} has the number ${events[wrong]?.sequence_number}.`);
  const last = events.at(-1);
  if (events[0]?.type !== 'response.created') throw new Error('It does not begin with response.created.');
  if (last?.type !== 'response.completed') throw new Error(`It ends with ${last?.type}.`);
  judgeResponse(last.response, judge);
  judgePieces(events, last.response);
}

export type Post = (body: object) => Promise<Response>;

function judgeResponse(found: unknown, judge: OpenResponsesCase['judge']): void {
  const response = responseResource.parse(found);
  if (response.status !== 'completed' || response.completed_at === null)
    throw new Error(`It has the status ${response.status}.`);
  if (response.output.length === 0) throw new Error('It has no output.');
  judge?.(response);
}

function readStream(text: string): StreamingEvent[] {
  const lines = text.split('\n');
  const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice('data: '.length));
  const names = lines
    .filter((line) => line.startsWith('event: '))
    .map((line) => line.slice('event: '.length));
  const events = data
    .filter((each) => each !== '[DONE]')
    .map((each) => streamingEvent.parse(JSON.parse(each)));
  const misnamed = events.find(({ type }, index) => names[index] !== type);
  if (misnamed !== undefined) throw new Error(`${misnamed.type} has another name on its line.`);
  return events;
}

/** The deltas must join to the texts and arguments of the last response. */
function judgePieces(events: readonly StreamingEvent[], { output }: ResponseResource): void {
  const pieces = new Map<number, string>();
  for (const event of events)
    if (
      event.type === 'response.output_text.delta' ||
      event.type === 'response.function_call_arguments.delta'
    )
      pieces.set(event.output_index, (pieces.get(event.output_index) ?? '') + event.delta);
  for (const [index, item] of output.entries()) {
    if (item.type === 'reasoning') continue;
    const whole =
      item.type === 'message'
        ? item.content.map((each) => (each.type === 'output_text' ? each.text : '')).join('')
        : item.arguments;
    if (pieces.get(index) !== whole) throw new Error(`The pieces of item ${index} are not what it holds.`);
  }
}
