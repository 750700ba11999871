import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { readJsonObject } from '../../api/inference/json/json-object.ts';
import { openSource } from '../../api/inference/translation/translate-answer.ts';
import { relayEvents } from './relay-stream.ts';

/* A call without usage pays for each text that its caller is shown, and for each of them once, wherever the server has it. */

type Event = Record<string, unknown>;

const LONG = 'Rain '.repeat(880);
const LONG_JSON = JSON.stringify({ a: LONG });
const OTHER = 'Snow '.repeat(880);
const SHORT = 'Yes.';
/** A call has a name, and an answer may have a short text beside the long one. */
const SLACK = 40;

const chunkFrame = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
const chunk = (choice: object): Event => ({
  ...chunkFrame,
  choices: [{ index: 0, finish_reason: null, ...choice }],
});
const chatEnd = chunk({ delta: {}, finish_reason: 'stop' });
const delta = (said: object): Event[] => [chunk({ delta: { role: 'assistant', ...said } }), chatEnd];
const called = (json: string) => ({ name: 'f', arguments: json });
const toolCalls = (json: string) => [{ index: 0, id: 'a', type: 'function', function: called(json) }];

const message = { id: 'm', type: 'message', role: 'assistant', model: 'm' };
const messageStart: Event = { type: 'message_start', message: { ...message, content: [] } };
const messageEnd: Event[] = [
  { type: 'message_delta', delta: { stop_reason: 'end_turn' } },
  { type: 'message_stop' },
];
const block = (begun: object, deltas: readonly object[], end: object = {}): Event[] => [
  { type: 'content_block_start', index: 0, content_block: begun },
  ...deltas.map((each) => ({ type: 'content_block_delta', index: 0, delta: each })),
  { type: 'content_block_stop', index: 0, ...end },
];
const textBlock = (text: string) => ({ type: 'text', text });
const textDelta = (text: string) => ({ type: 'text_delta', text });
const tool = (input: unknown) => ({ type: 'tool_use', id: 't', name: 'f', input });
const json = (partial_json: string, more: object = {}) => ({
  type: 'input_json_delta',
  partial_json,
  ...more,
});
const ofMessage = (...events: Event[]): Event[] => [messageStart, ...events, ...messageEnd];

const response = { id: 'r', object: 'response', model: 'm', status: 'completed' };
const place = { item_id: 'i', output_index: 0, content_index: 0 };
const said = (text: string) => ({
  ...{ id: 'i', type: 'message', role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text, annotations: [] }],
});
const ofResponse = (pieces: readonly Event[], last: object = {}): Event[] => [
  { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
  ...pieces,
  { type: 'response.completed', response: { ...response, output: [], ...last } },
];

/** The place, the format, the events of the stream, and how many long texts are shown. */
const streams: [string, FormatName, readonly Event[], number?][] = [
  ['in a choice', 'chat', [chunk({ delta: {}, content: LONG }), chatEnd]],
  ['as the reasoning in a choice', 'chat', [chunk({ delta: {}, reasoning_content: LONG }), chatEnd]],
  ['in a choice and in its delta', 'chat', [chunk({ delta: { content: LONG }, content: LONG }), chatEnd]],
  [
    'in a choice, other than in its delta',
    'chat',
    [chunk({ delta: { content: LONG }, content: OTHER }), chatEnd],
    2,
  ],
  ['beside the choices', 'chat', [{ ...chunk({ delta: {} }), output_text: LONG }, chatEnd]],
  ['under one of two names of reasoning', 'chat', delta({ reasoning: 'x', reasoning_content: LONG })],
  [
    'in the details of reasoning',
    'chat',
    delta({ reasoning: 'x', reasoning_details: [{ type: 'reasoning.text', text: LONG }] }),
  ],
  ['under two names of reasoning', 'chat', delta({ reasoning: LONG, reasoning_content: LONG })],
  ['as reasoning and as content', 'chat', delta({ reasoning: LONG, content: OTHER }), 2],
  [
    'in the function beside a call',
    'chat',
    delta({ tool_calls: toolCalls('{}'), function_call: called(LONG_JSON) }),
  ],
  [
    'in a call and in its function',
    'chat',
    delta({ tool_calls: toolCalls(LONG_JSON), function_call: called(LONG_JSON) }),
  ],
  [
    'in the message beside each delta',
    'chat',
    [
      chunk({ delta: {}, message: { content: LONG.slice(0, 2_000) } }),
      chunk({ delta: {}, message: { content: LONG } }),
      chatEnd,
    ],
  ],
  [
    'in the last delta',
    'messages',
    [
      messageStart,
      { type: 'message_delta', delta: { stop_reason: 'end_turn', text: LONG } },
      { type: 'message_stop' },
    ],
  ],
  [
    'in the message at the end',
    'messages',
    [
      messageStart,
      ...messageEnd.slice(0, 1),
      { type: 'message_stop', message: { ...message, content: [textBlock(LONG)] } },
    ],
  ],
  [
    'in a block, and in the message at the end',
    'messages',
    [
      messageStart,
      ...block(textBlock(''), [textDelta(LONG)]),
      ...messageEnd.slice(0, 1),
      { type: 'message_stop', message: { ...message, content: [textBlock(LONG)] } },
    ],
  ],
  ['beside the input of a call', 'messages', ofMessage(...block(tool({}), [json('{}', { text: LONG })]))],
  [
    'in the end of a block',
    'messages',
    ofMessage(...block(textBlock(''), [textDelta(SHORT)], { content_block: textBlock(LONG) })),
  ],
  [
    'in a block and in its end',
    'messages',
    ofMessage(...block(textBlock(''), [textDelta(LONG)], { content_block: textBlock(LONG) })),
  ],
  [
    'in the end of two blocks under one number',
    'messages',
    ofMessage(
      ...[LONG, OTHER].flatMap((text) =>
        block(textBlock(''), [textDelta(text)], { content_block: textBlock(text) }),
      ),
    ),
    2,
  ],
  [
    'in the input that a call begins with',
    'messages',
    ofMessage(...block(tool({ a: LONG }), [json('{"a":1}')])),
  ],
  [
    'in the input that a call begins with, and in its pieces',
    'messages',
    ofMessage(...block(tool({ a: LONG }), [json(JSON.stringify({ a: LONG }))])),
  ],
  [
    'in the beginning of a part',
    'responses',
    ofResponse([
      {
        type: 'response.content_part.added',
        ...place,
        part: { type: 'output_text', text: LONG, annotations: [] },
      },
    ]),
  ],
  [
    'in the beginning of a part of a summary',
    'responses',
    ofResponse([
      {
        type: 'response.reasoning_summary_part.added',
        item_id: 'i',
        output_index: 0,
        summary_index: 0,
        part: { type: 'summary_text', text: LONG },
      },
    ]),
  ],
  [
    'in the beginning of a part and in its pieces',
    'responses',
    ofResponse([
      {
        type: 'response.content_part.added',
        ...place,
        part: { type: 'output_text', text: LONG, annotations: [] },
      },
      { type: 'response.output_text.delta', ...place, delta: LONG },
    ]),
  ],
  ['in the joined text', 'responses', ofResponse([], { output: [said(SHORT)], output_text: LONG })],
  [
    'in the joined text and in the items',
    'responses',
    ofResponse([], { output: [said(LONG)], output_text: LONG }),
  ],
];

const wholes: [string, FormatName, Event, number?][] = [
  ['in the place of a choice', 'chat', { ...chunkFrame, choices: [LONG] }],
  [
    'in a call without a function',
    'chat',
    {
      ...chunkFrame,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: null,
            tool_calls: [{ id: 'a', type: 'function', name: 'f', arguments: LONG_JSON }],
          },
          finish_reason: 'tool_calls',
        },
      ],
    },
  ],
  [
    'in a choice',
    'chat',
    {
      ...chunkFrame,
      choices: [
        { index: 0, message: { role: 'assistant', content: SHORT }, content: LONG, finish_reason: 'stop' },
      ],
    },
  ],
  [
    'in a choice and in its message',
    'chat',
    {
      ...chunkFrame,
      choices: [
        { index: 0, message: { role: 'assistant', content: LONG }, text: LONG, finish_reason: 'stop' },
      ],
    },
  ],
  ['beside the blocks', 'messages', { ...message, content: [textBlock(SHORT)], text: LONG }],
  [
    'in the prompt of an image',
    'responses',
    {
      ...response,
      output: [
        { id: 'g', type: 'image_generation_call', status: 'completed', result: 'AAAA', revised_prompt: LONG },
      ],
    },
  ],
  ['in the joined text', 'responses', { ...response, output: [said(SHORT)], output_text: LONG }],
  [
    'in the joined text and in the items',
    'responses',
    { ...response, output: [said(LONG)], output_text: LONG },
  ],
];

function assembledBytes(format: FormatName, events: readonly Event[]): number {
  const assembly = callFormats[format].openAssembly();
  for (const event of events) {
    const data = Buffer.from(JSON.stringify(event));
    if (assembly.read(data, '').kind === 'kept') assembly.text.addEvent(data);
  }
  return assembly.text.bytes;
}

function translatedBytes(format: 'chat' | 'messages', events: readonly Event[]): number {
  const source = openSource(format);
  for (const event of events) source.read(Buffer.from(JSON.stringify(event)), '');
  return source.text.bytes;
}

function expectTexts(bytes: number, count: number): void {
  expect(bytes).toBeGreaterThanOrEqual(count * LONG.length);
  expect(bytes).toBeLessThan(count * LONG.length + SLACK);
}

describe('a text that is shown without usage counts once, whichever way the answer is read', () => {
  it.each(streams)('where a stream has it %s: %s', async (_where, format, events, count = 1) => {
    const { shown, countedBytes: bytes } = await relayEvents(format, events);
    expect(shown).toContain(LONG.slice(0, 1_000));
    expectTexts(bytes, count);
    expectTexts(assembledBytes(format, events), count);
    if (format !== 'responses') expectTexts(translatedBytes(format, events), count);
  });

  it.each(wholes)('where JSON has it %s: %s', (_where, format, answer, count = 1) => {
    const read = readJsonObject(Buffer.from(JSON.stringify(answer)));
    if (typeof read === 'string') throw new Error(read);
    const reading = callFormats[format].readAnswer(read.object, read.value);
    if (reading.kind !== 'answer') throw new Error(reading.kind);
    expectTexts(reading.deliveredTokens * 4, count);
  });
});

it('pieces of a call beside pieces of text count each, however alike their chunks are', async () => {
  const piece = 'rain by noon, snow by night, and more ';
  const events = [
    chunk({ delta: { role: 'assistant', tool_calls: toolCalls(piece) } }),
    ...[...'abcdefghij'.repeat(10)].map((content) =>
      chunk({ delta: { content, tool_calls: [{ index: 0, function: { arguments: piece } }] } }),
    ),
    chatEnd,
  ];
  const { countedBytes: bytes } = await relayEvents('chat', events);
  expect(bytes).toBeGreaterThan(90 * piece.replaceAll(' ', '').length);
  expect([assembledBytes('chat', events), translatedBytes('chat', events)]).toEqual([bytes, bytes]);
});

it.each<[FormatName, (text: string) => Event, Event[]]>([
  ['chat', (text) => chunk({ delta: { content: text, text: 'Rain by noon.' } }), [chatEnd]],
  [
    'messages',
    (text) => ({
      ...{ type: 'content_block_delta', index: 0 },
      delta: { type: 'thinking_delta', thinking: 'Rain by noon.', text },
    }),
    messageEnd,
  ],
])(
  'texts beside the same text count each, although the first of them is the same: %s',
  async (format, event, end) => {
    const begun =
      format === 'chat'
        ? []
        : [messageStart, { type: 'content_block_start', index: 0, content_block: textBlock('') }];
    const texts = ['Rain by noon.', 'Snow by night', 'Ice in the morning.'];
    const { countedBytes: bytes } = await relayEvents(format, [...begun, ...texts.map(event), ...end]);
    // The first event has one text, and the others have two each.
    expect(bytes).toBe(texts.join('').length + 2 * 'Rain by noon.'.length);
  },
);

it('an image that a server writes into the text is not counted as text, in a stream or in JSON', async () => {
  const image = `![image](data:image/png;base64,${'iVBORw0KGgo'.repeat(1_000)})`;
  const events = [...['Here ', 'it is: ', image].map((content) => chunk({ delta: { content } })), chatEnd];
  const { countedBytes: bytes } = await relayEvents('chat', events);
  expect(bytes).toBeLessThan(60);
  expect(assembledBytes('chat', events)).toBe(bytes);
});
