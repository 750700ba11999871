import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../api/inference/formats/chat-format.ts';
import { messagesFormat } from '../../api/inference/formats/messages-format.ts';
import { responsesFormat } from '../../api/inference/formats/responses-format.ts';
import { NO_TOOL_NAMES } from '../../api/inference/translation/tool-names.ts';
import { openSink, openSource } from '../../api/inference/translation/translate-answer.ts';
import { TranslatedStream } from '../../api/inference/translation/translated-stream.ts';
import { piecesOf, relayEvents, relayStream } from './relay-stream.ts';

/* A piece that differs from one before it in its text alone passes unread only if that one passed unread. */

const WORDS = ['one ', 'two ', 'an error', 'my usage', 'Metrics', 'the end'];
const names = { upstreamModel: 'm', publicModel: 'm', showUsage: false, ownId: 'own', createdAtS: 1 };

const frame = { id: 'gen-1', object: 'chat.completion.chunk', created: 1, model: 'm' };
const chunk = (delta: object, more: object = {}): object => ({
  ...frame,
  choices: [{ index: 0, delta, finish_reason: null }],
  ...more,
});
const chat = (more: object = {}): object[] => [
  chunk({ role: 'assistant', content: '' }, more),
  ...WORDS.map((content) => chunk({ content }, more)),
];

const blockPiece = (said: string): object => ({
  type: 'content_block_delta',
  index: 0,
  delta: { type: 'text_delta', text: said },
});
const messages = (): object[] => [
  {
    type: 'message_start',
    message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [] },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...WORDS.map(blockPiece),
];

const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'in_progress',
  model: 'm',
  output: [],
};
const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] };
const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
const numbered = (events: readonly object[]): object[] =>
  events.map((event, number) => ({ ...event, sequence_number: number }));
const responses = (more: object = {}): object[] =>
  numbered([
    { type: 'response.created', response },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.content_part.added', ...at, part: { type: 'output_text', text: '', annotations: [] } },
    ...WORDS.map((delta, place) => ({
      ...{ type: 'response.output_text.delta', ...at, delta, logprobs: [] },
      ...{ obfuscation: 'x'.repeat(place), ...more },
    })),
  ]);

const eventsOf = (stream: string): string[] => stream.split('\n\n').filter((event) => event !== '');
const sentAs = (events: readonly object[], isNamed: boolean): string =>
  events
    .map((event) => {
      const name = isNamed && 'type' in event ? `event: ${event.type}\n` : '';
      return `${name}data: ${JSON.stringify(event)}\n\n`;
    })
    .join('');

describe.each([
  ['chat', chatFormat, chat(), false],
  ['messages', messagesFormat, messages(), true],
  ['responses', responsesFormat, responses(), true],
] as const)('a stream of %s', (_, format, events, isNamed) => {
  it.each([1, 40, 1_000_000])('passes its pieces byte for byte, %i bytes at once', async (bytesAtOnce) => {
    const sent = sentAs(events, isNamed);
    const { text } = await relayStream(format.openStream(names), piecesOf(sent, bytesAtOnce));
    const pieces = eventsOf(sent).slice(-WORDS.length);
    expect(eventsOf(text).slice(-WORDS.length)).toEqual(pieces);
  });
});

describe('a piece that is read passes no later one unread', () => {
  it('of a chat whose every chunk says that there is no usage', async () => {
    const { shown } = await relayEvents('chat', chat({ usage: null }) as Record<string, unknown>[]);
    for (const word of WORDS) expect(shown).toContain(JSON.stringify(word));
    expect(shown).not.toContain('"usage"');
  });

  it('of a chat whose chunks name no model', async () => {
    const { shown } = await relayEvents('chat', chat({ model: '' }) as Record<string, unknown>[]);
    expect(eventsOf(shown).filter((event) => event.includes('"model":"m"')).length).toBeGreaterThanOrEqual(
      WORDS.length,
    );
  });

  it('of responses whose every piece has a record of usage', async () => {
    const usage = { input_tokens: 3, output_tokens: 1, total_tokens: 4 };
    const { shown } = await relayEvents('responses', responses({ usage }) as Record<string, unknown>[]);
    for (const word of WORDS) expect(shown).toContain(JSON.stringify(word));
    expect(shown).not.toContain('"input_tokens"');
  });
});

it('pieces of a response get the next numbers where those of their server have a gap', async () => {
  const events = responses() as { sequence_number: number }[];
  const gapped = events.map((event, place) => ({
    ...event,
    sequence_number: event.sequence_number + (place > 5 ? 10 : 0),
  }));
  const { shown } = await relayEvents('responses', gapped);
  const numbers = [...shown.matchAll(/"sequence_number":(\d+)/g)].map(([, number]) => Number(number));
  expect(numbers).toEqual(events.map((_, place) => place));
});

const text = fc.oneof(
  fc.constantFrom('', 'a', 'a "word"', '\\', 'usage', 'error', '{}', 'é\n'),
  fc.string({ maxLength: 8 }),
);

/** Chunks of a chat come several times each, so that one is read by the bytes of another. */
const chatDelta = fc.oneof(
  fc.record({ content: text }),
  fc.record({ content: fc.constant(null), reasoning_content: text }),
  fc.record({ content: text, reasoning: text }),
  fc.record({
    reasoning: text,
    reasoning_details: fc.constant([{ type: 'reasoning.text', text: 'a', index: 0 }]),
  }),
  fc.record({ content: text, refusal: fc.constantFrom(null, 'no') }),
  fc.record({ content: text, citations: fc.constant(['https://a.example/1']) }),
  fc.record({
    tool_calls: fc.constantFrom(
      [{ index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '' } }],
      [{ index: 0, function: { arguments: '{"a":1' } }],
      [{ index: 0, function: { arguments: '}' } }],
      [{ index: 1, id: 'call_2', type: 'function', function: { name: 'g', arguments: { n: 777_777_777 } } }],
    ),
  }),
);
const chatMore = fc.constantFrom(
  {},
  {},
  {},
  { usage: null },
  { obfuscation: 'xy' },
  { error: null },
  {
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  },
);
const chatStream = fc
  .array(fc.tuple(chatDelta, chatMore, fc.integer({ min: 1, max: 4 })), { minLength: 1, maxLength: 12 })
  .map((pieces) => [
    chunk({ role: 'assistant', content: '' }),
    ...pieces.flatMap(([delta, more, times]) => Array.from({ length: times }, () => chunk(delta, more))),
    { ...frame, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ]);

const blockDelta = fc.oneof(
  fc.record({ type: fc.constant('text_delta'), text }),
  fc.record({ type: fc.constant('thinking_delta'), thinking: text }),
  fc.record({ type: fc.constant('signature_delta'), signature: fc.constant('c2ln') }),
  fc.record({ type: fc.constant('input_json_delta'), partial_json: fc.constantFrom('', '{"a":1', '}') }),
);
const blockMore = fc.constantFrom({}, {}, {}, { usage: null }, { usage: { output_tokens: 7 } });
const messageStream = fc
  .array(fc.tuple(blockDelta, blockMore, fc.nat(2), fc.integer({ min: 1, max: 4 })), {
    minLength: 1,
    maxLength: 12,
  })
  .map((pieces) => [
    ...messages().slice(0, 1),
    ...[0, 1, 2].map((index) => ({
      type: 'content_block_start',
      index,
      content_block: [
        { type: 'text', text: '' },
        { type: 'thinking', thinking: '' },
        { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
      ][index],
    })),
    ...pieces.flatMap(([delta, more, index, times]) =>
      Array.from({ length: times }, () => ({ type: 'content_block_delta', index, delta, ...more })),
    ),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 9 } },
    { type: 'message_stop' },
  ]);

const identity = { id: 'own', createdAtS: 1, nowS: 1, model: 'm' };
const tokens = { prompt: 3, completion: 2, reasoning: null, cached: 0 };
const shownParts = { showUsage: false, showReasoning: true, names: NO_TOOL_NAMES, echo: '' };

/** The whole stream as its caller sees it in another format, and what its text and its usage are. */
async function translated(from: 'chat' | 'messages', sent: string): Promise<object> {
  const to = from === 'chat' ? 'messages' : 'chat';
  const reader = new TranslatedStream(openSource(from), openSink(to, identity, shownParts));
  const { end, text: passed } = await relayStream(reader, piecesOf(sent, 1_000_000));
  const last = end.kind === 'complete' ? reader.end({ identity, shown: null, tokens }).toString() : '';
  return { kind: end.kind, shown: passed + last, bytes: reader.text.bytes, usage: reader.usage(1) };
}

/** The same events with so many blanks inside that none has the bytes of another. */
const allDifferent = (sent: string): string => {
  let blanks = 0;
  return sent.replaceAll(/^data: \{/gm, () => `data: {${' '.repeat(++blanks)}`);
};

it.each([
  ['chat', chatStream, 'data: [DONE]\n\n'],
  ['messages', messageStream, ''],
] as const)(
  'a stream of %s is translated alike, whether its pieces are alike or not',
  async (from, streams, done) => {
    await fc.assert(
      fc.asyncProperty(streams, async (events) => {
        // Numbers that no float holds.
        const sent = sentAs(events, from === 'messages').replaceAll('777777777', '7'.repeat(25)) + done;
        expect(await translated(from, sent)).toEqual(await translated(from, allDifferent(sent)));
      }),
      { numRuns: 500 },
    );
  },
);
