import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { shownUsage } from '../../api/inference/formats/shown-changes.ts';
import { recordOf, records } from '../../api/inference/formats/values.ts';
import {
  openSink,
  openSource,
  openSourceOf,
  writeAnswer,
} from '../../api/inference/translation/translate-answer.ts';
import { translateRequest } from '../../api/inference/translation/translate-request.ts';
import { TranslatedStream } from '../../api/inference/translation/translated-stream.ts';
import { WholeAnswer } from '../../api/inference/translation/whole-answer.ts';
import { candidate, endpoint } from '../inference/support.ts';
import { asAsked, askedDialect } from './asked-dialect.ts';
import {
  type Answer,
  identity,
  shownCollected,
  shownEvents,
  shownStream,
  shownWhole,
} from './shown-answers.ts';

type Block = { type: string } & Record<string, unknown>;

const contentOf = ({ content, output, choices, stop_reason, status }: Record<string, unknown>): unknown =>
  choices === undefined
    ? { content, output, stop_reason, status }
    : records(choices).map(({ message, finish_reason }) => ({
        ...withoutIndex(recordOf(message)),
        finish_reason,
      }));

/** A whole call has no number, unlike its pieces; and where nothing is said, that is an empty text or none. */
const withoutIndex = ({ tool_calls: calls, content, ...message }: Record<string, unknown>): object => ({
  ...message,
  content: content === '' ? null : content,
  ...(calls === undefined ? {} : { tool_calls: records(calls).map(({ index: _, ...call }) => call) }),
});

const words = fc.stringMatching(/^[a-z"\\é🚇]{1,6} ?[a-z]{0,3}$/u);
const args = fc.dictionary(fc.stringMatching(/^[a-z]{1,3}$/), fc.oneof(words, fc.integer(), fc.boolean()), {
  maxKeys: 3,
});
const cuts = fc.array(fc.nat({ max: 9 }), { maxLength: 3 });

function cut(text: string, places: readonly number[]): string[] {
  const at = [0, ...places.map((place) => Math.min(place, text.length)).sort((a, b) => a - b), text.length];
  const pieces = at.slice(1).map((place, index) => text.slice(at[index], place));
  return pieces.filter((piece) => piece !== '');
}

const anyBlock: fc.Arbitrary<Block> = fc.oneof(
  words.map((text) => ({ type: 'text', text })),
  // Some models show nothing of what they think, and sign it.
  fc
    .record({ thinking: fc.oneof(words, fc.constant('')), signature: fc.stringMatching(/^[A-Z]{4}$/) })
    .map((thought) => ({ type: 'thinking', ...thought })),
  fc.stringMatching(/^[A-Z]{4}$/).map((data) => ({ type: 'redacted_thinking', data })),
  args.map((input) => ({ type: 'tool_use', name: 'f', input })),
);

const anyBlocks = fc.array(anyBlock, { minLength: 1, maxLength: 6 }).map((blocks) =>
  blocks
    // A provider goes on with a text, and does not begin another.
    .filter((block, index) => block.type !== 'text' || blocks[index - 1]?.type !== 'text')
    .map((block, index) => (block.type === 'tool_use' ? { id: `toolu_${index}`, ...block } : block)),
);

const stops = fc.constantFrom('end_turn', 'tool_use', 'max_tokens', 'refusal', 'stop_sequence', 'pause_turn');

const ofMessages: fc.Arbitrary<Answer & { blocks: Block[] }> = fc
  .record({ blocks: anyBlocks, places: cuts, stop: stops, stopped: fc.boolean() })
  .map(({ blocks, places, stop, stopped }) => {
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' };
    const end = { stop_reason: stop, stop_sequence: stop === 'stop_sequence' ? 'END' : null };
    const events = blocks.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: begun(block) },
      ...deltasOf(block, places).map((delta) => ({ type: 'content_block_delta', index, delta })),
      ...(stopped ? [{ type: 'content_block_stop', index }] : []),
    ]);
    return {
      blocks,
      whole: { ...message, content: blocks, ...end, usage: { input_tokens: 3, output_tokens: 2 } },
      events: [
        {
          type: 'message_start',
          message: { ...message, content: [], usage: { input_tokens: 3, output_tokens: 1 } },
        },
        ...events,
        { type: 'message_delta', delta: end, usage: { output_tokens: 2 } },
        { type: 'message_stop' },
      ],
    };
  });

function begun(block: Block): Block {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: '' };
    case 'thinking':
      return { type: 'thinking', thinking: '', signature: '' };
    case 'tool_use':
      return { ...block, input: {} };
    default:
      return block;
  }
}

function deltasOf({ type, text, thinking, signature, input }: Block, places: readonly number[]): object[] {
  switch (type) {
    case 'text':
      return cut(String(text), places).map((piece) => ({ type: 'text_delta', text: piece }));
    case 'thinking':
      return [
        ...cut(String(thinking), places).map((piece) => ({ type: 'thinking_delta', thinking: piece })),
        { type: 'signature_delta', signature },
      ];
    case 'tool_use':
      return cut(JSON.stringify(input), places).map((piece) => ({
        type: 'input_json_delta',
        partial_json: piece,
      }));
    default:
      return [];
  }
}

const ofChat: fc.Arbitrary<Answer> = fc
  .record({
    reasoning: fc.option(words),
    content: fc.option(words),
    inputs: fc.array(args, { maxLength: 3 }),
    places: cuts,
    finish: fc.constantFrom('stop', 'length', 'tool_calls', 'content_filter'),
    sideBySide: fc.boolean(),
  })
  .map(({ reasoning, content, inputs, places, finish, sideBySide }) => {
    const frame = { id: 'gen-1', created: 1, model: 'm' };
    const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
    const calls = inputs.map((input, index) => {
      const call = { name: 'f', arguments: JSON.stringify(input) };
      return { index, id: `call_${index}`, type: 'function', function: call };
    });
    const begins = calls.map((call) => ({ ...call, function: { ...call.function, arguments: '' } }));
    const pieces = calls.map((call) =>
      cut(call.function.arguments, places).map((json) => ({
        index: call.index,
        function: { arguments: json },
      })),
    );
    const ordered = sideBySide
      ? [
          ...begins,
          ...pieces.flat().sort((a, b) => a.function.arguments.length - b.function.arguments.length),
        ]
      : begins.flatMap((call, index) => [call, ...(pieces[index] ?? [])]);
    const stable = sideBySide ? inOrderOfEach(ordered, pieces) : ordered;
    const deltas = [
      { role: 'assistant', content: '' },
      ...cut(reasoning ?? '', places).map((piece) => ({ reasoning_content: piece })),
      ...cut(content ?? '', places).map((piece) => ({ content: piece })),
      ...stable.map((call) => ({ tool_calls: [call] })),
    ];
    const chunk = (choices: object[], more = {}) => ({
      ...frame,
      object: 'chat.completion.chunk',
      choices,
      ...more,
    });
    const message = {
      role: 'assistant',
      content,
      ...(reasoning === null ? {} : { reasoning_content: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    };
    return {
      whole: {
        ...frame,
        object: 'chat.completion',
        choices: [{ index: 0, message, finish_reason: finish }],
        usage,
      },
      events: [
        ...deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
        chunk([{ index: 0, delta: {}, finish_reason: finish }]),
        chunk([], { usage }),
      ],
    };
  });

interface CallPiece {
  index: number;
}

/** Side by side, but the pieces of one call one after another. */
function inOrderOfEach(
  ordered: readonly CallPiece[],
  pieces: readonly (readonly CallPiece[])[],
): CallPiece[] {
  const queues = pieces.map((each) => [...each]);
  return ordered.map((piece) => ('id' in piece ? piece : (queues[piece.index]?.shift() ?? piece)));
}

describe.each([
  ['messages', 'chat', ofMessages],
  ['messages', 'responses', ofMessages],
  ['chat', 'messages', ofChat],
  ['chat', 'responses', ofChat],
] as const)('an answer in %s, shown in %s', (from, to, anyAnswer: fc.Arbitrary<Answer>) => {
  it('has the same content whether the provider streamed it or not, and whether the caller streams it or not', () => {
    fc.assert(
      fc.property(anyAnswer, (answer) => {
        const whole = contentOf(shownWhole(from, to, answer));
        expect(contentOf(shownCollected(from, to, answer))).toEqual(whole);
        expect(contentOf(shownStream(from, to, answer))).toEqual(whole);
      }),
      { numRuns: 150 },
    );
  });
});

describe('a stream of responses made of another format', () => {
  it.each([
    ['messages', ofMessages],
    ['chat', ofChat],
  ] as const)(
    'adds each item before its pieces, ends it after them, and says in its events what its end says: %s',
    (from, anyAnswer: fc.Arbitrary<Answer>) => {
      fc.assert(
        fc.property(anyAnswer, (answer) => {
          const events = shownEvents(from, 'responses', answer).map((data) => recordOf(JSON.parse(data)));
          expect(events.map((event) => event.sequence_number)).toEqual([...events.keys()]);
          const open = new Map<unknown, string>();
          const done: unknown[] = [];
          for (const { type, item, item_id: id, delta, output_index: index, ...rest } of events) {
            if (type === 'response.output_item.added') open.set(recordOf(item).id, '');
            else if (type === 'response.output_item.done') {
              done[Number(index)] = item;
              open.delete(recordOf(item).id);
            } else if (id !== undefined) {
              expect(open.has(id)).toBe(true);
              if (typeof delta === 'string') open.set(id, (open.get(id) ?? '') + delta);
              else if ('text' in rest || 'arguments' in rest)
                expect(open.get(id)).toBe(rest.text ?? rest.arguments);
            }
          }
          expect(open.size).toBe(0);
          expect(recordOf(events.at(-1)?.response).output).toEqual(done);
        }),
        { numRuns: 100 },
      );
    },
  );
});

describe('a chat that wants no thought shown', () => {
  const message = {
    id: 'm',
    type: 'message',
    content: [
      { type: 'thinking', thinking: 'secret', signature: 'signed' },
      { type: 'redacted_thinking', data: 'sealed' },
      { type: 'text', text: 'said' },
    ],
    stop_reason: 'end_turn',
  };
  const events = [
    { type: 'message_start', message: { id: 'm' } },
    ...message.content.flatMap((block, index) => [
      {
        type: 'content_block_start',
        index,
        content_block: block.type === 'thinking' ? { type: 'thinking', thinking: '' } : block,
      },
      ...(block.type === 'thinking'
        ? [
            { type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking: 'secret' } },
            { type: 'content_block_delta', index, delta: { type: 'signature_delta', signature: 'signed' } },
          ]
        : []),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
  ];
  const THOUGHT = /secret|signed|sealed/;

  it('is shown none in a stream', () => {
    const streamed = (showReasoning: boolean) => {
      const sink = openSink('chat', identity, { ...asAsked, showReasoning });
      const stream = new TranslatedStream(openSource('messages'), sink);
      const reads = events.map((event) => stream.read(Buffer.from(JSON.stringify(event)), ''));
      return reads.map((read) => (read.kind === 'changed' ? read.events.toString() : '')).join('');
    };
    expect(streamed(true)).toMatch(/secret.*signed.*sealed.*said/s);
    expect(streamed(false)).toContain('said');
    expect(streamed(false)).not.toMatch(THOUGHT);
  });

  it.each([
    ['claude-opus-4-8', { summary: [{ type: 'summary_text', text: 'secret' }] }],
    ['acme-large', { summary: [], content: [{ type: 'reasoning_text', text: 'secret' }] }],
  ])('by %s is told on responses as what it is: Claude alone thinks in summaries', (upstreamModel, told) => {
    const messagesOnly = candidate({
      format: callFormats.messages,
      endpoint: endpoint({ upstreamModel }),
    });
    const whole = WholeAnswer.of(openSourceOf(messagesOnly).readWhole(Buffer.from('{}'), message));
    const { output } = JSON.parse(writeAnswer('responses', whole, identity, asAsked).bytes.toString());
    expect(output[0]).toMatchObject({ type: 'reasoning', ...told });
    const stream = new TranslatedStream(openSourceOf(messagesOnly), openSink('responses', identity, asAsked));
    const reads = events.map((event) => stream.read(Buffer.from(JSON.stringify(event)), ''));
    const shown = reads.map((read) => (read.kind === 'changed' ? read.events.toString() : '')).join('');
    expect(shown).toContain('content' in told ? 'reasoning_text.delta' : 'reasoning_summary_text.delta');
  });

  it('is shown none in a whole answer', () => {
    const answer = WholeAnswer.of(openSource('messages').readWhole(Buffer.from('{}'), message));
    const whole = (showReasoning: boolean) =>
      writeAnswer('chat', answer, identity, { ...asAsked, showReasoning }).bytes.toString();
    expect(whole(true)).toMatch(THOUGHT);
    expect(whole(false)).toContain('said');
    expect(whole(false)).not.toMatch(THOUGHT);
  });
});

it.each([
  ['chat', /"prompt_tokens_details":\{"cached_tokens":5,"cache_write_tokens":7\}/],
  ['responses', /"input_tokens_details":\{"cached_tokens":5,"cache_write_tokens":7\}/],
  ['messages', /"cache_creation_input_tokens":7,"cache_read_input_tokens":5/],
] as const)('tokens that were written to a cache are told in %s, streamed or not', (to, told) => {
  const counted = { prompt: 20, completion: 2, reasoning: null, cached: 5, cacheWritten: 7 };
  const sink = openSink(to, identity, asAsked);
  sink.write({ type: 'start', id: 'a' });
  expect(sink.end({ identity, shown: 1n, tokens: counted }).toString()).toMatch(told);
  expect(shownUsage(to, null, { shown: 1n, tokens: counted }).toString()).toMatch(told);
});

describe('the pages that an answer rests on', () => {
  const file = { type: 'file', file: { name: 'b.pdf' } };
  const page = (url: string, start_index?: number, end_index?: number) => ({
    type: 'url_citation',
    url_citation: { url, title: 'A', start_index, end_index },
  });
  const chunk = (delta: object) => ({ id: 'c', choices: [{ index: 0, delta, finish_reason: null }] });
  const ofChat = (content: string, annotations: object[]): Answer => ({
    events: [chunk({ content }), chunk({ annotations })],
    whole: { id: 'c', choices: [{ index: 0, message: { content, annotations }, finish_reason: 'stop' }] },
  });
  const ways = [
    ['streamed', shownStream],
    ['put together', shownCollected],
    ['whole', shownWhole],
  ] as const;
  const citedIn = (response: Record<string, unknown>): unknown[] =>
    records(response.output).flatMap(({ content }) =>
      records(content).flatMap(({ annotations }) => records(annotations)),
    );

  it.each(ways)('are named with the text that they prove, in responses: %s', (_how, shown) => {
    const answer = ofChat('It is so. And so.', [page('https://a/', 0, 9), file, page('https://b/', 10, 17)]);
    expect(citedIn(shown('chat', 'responses', answer))).toEqual([
      { type: 'url_citation', url: 'https://a/', title: 'A', start_index: 0, end_index: 9 },
      { type: 'url_citation', url: 'https://b/', title: 'A', start_index: 10, end_index: 17 },
    ]);
  });

  it.each(ways)(
    'point at the text before them where the provider says no place, or an empty one: %s',
    (_how, shown) => {
      const answer = ofChat('It is so.', [
        page('https://a/'),
        page('https://b/', 0, 0),
        page('https://c/', 9, 9),
      ]);
      for (const cited of citedIn(shown('chat', 'responses', answer)))
        expect(cited).toMatchObject({ start_index: 0, end_index: 9 });
    },
  );

  it.each(ways)('point at no text that is not there: %s', (_how, shown) => {
    const answer = ofChat('short', [page('https://a/', 2, 900), page('https://b/', -4, 3)]);
    expect(citedIn(shown('chat', 'responses', answer))).toMatchObject([{ start_index: 2, end_index: 5 }, {}]);
  });

  const cite = (url: string) => ({ type: 'web_search_result_location', url, title: 'A', cited_text: 'x' });
  const blocks = [
    { type: 'text', text: 'I looked. ' },
    { type: 'text', text: 'It is so', citations: [cite('https://a/'), cite('https://b/')] },
    { type: 'text', text: ', and so', citations: [cite('https://c/')] },
    { type: 'text', text: '.' },
  ];
  /** Servers send the citations of a block before its text, between its pieces, or behind. */
  const ofMessages = (place: 'before' | 'behind'): Answer => ({
    whole: { id: 'm', type: 'message', content: blocks, stop_reason: 'end_turn' },
    events: [
      { type: 'message_start', message: { id: 'm', content: [] } },
      ...blocks.flatMap(({ text, citations = [] }, index) => {
        const said = [{ type: 'content_block_delta', index, delta: { type: 'text_delta', text } }];
        const cited = citations.map((citation) => ({
          type: 'content_block_delta',
          index,
          delta: { type: 'citations_delta', citation },
        }));
        return [
          { type: 'content_block_start', index, content_block: { type: 'text', text: '', citations: [] } },
          ...(place === 'before' ? [...cited, ...said] : [...said, ...cited]),
          { type: 'content_block_stop', index },
        ];
      }),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ],
  });

  describe.each(['before', 'behind'] as const)('of blocks, cited %s their text,', (place) => {
    it.each(ways)('point at their block: %s', (_how, shown) => {
      const answer = ofMessages(place);
      const spans = [
        [10, 18],
        [10, 18],
        [18, 26],
      ];
      const inResponses = citedIn(shown('messages', 'responses', answer));
      expect(inResponses).toMatchObject(
        spans.map(([start_index, end_index]) => ({ start_index, end_index })),
      );
      const message = recordOf(recordOf(records(shown('messages', 'chat', answer).choices)[0]).message);
      expect(records(message.annotations).map(({ url_citation: cited }) => cited)).toMatchObject(
        spans.map(([start_index, end_index]) => ({ start_index, end_index })),
      );
      const text = String(message.content);
      expect(spans.map(([from, to]) => text.slice(from, to))).toEqual(['It is so', 'It is so', ', and so']);
    });
  });
});

describe('an answer of chat whose content is a list of parts', () => {
  const thinking = (text: string) => ({ type: 'thinking', thinking: [{ type: 'text', text }] });
  const text = (said: string) => ({ type: 'text', text: said });
  const chunk = (delta: object, reason: string | null = null) => ({
    id: 'c',
    choices: [{ index: 0, delta, finish_reason: reason }],
  });
  const content = [thinking('so'), text('first '), { type: 'reference', reference_ids: [1] }, text('last')];
  const answer: Answer = {
    events: [...content.map((part) => chunk({ content: [part] })), chunk({ content: '' }, 'stop')],
    whole: { id: 'c', choices: [{ index: 0, message: { content }, finish_reason: 'stop' }] },
  };

  it.each([
    ['streamed', shownStream],
    ['put together', shownCollected],
    ['whole', shownWhole],
  ])('is shown with its text and its thought, in order: %s', (_how, shown) => {
    expect(records(shown('chat', 'messages', answer).content)).toMatchObject([
      { type: 'thinking', thinking: 'so' },
      { type: 'text', text: 'first last' },
    ]);
    expect(records(shown('chat', 'responses', answer).output)).toMatchObject([
      { type: 'reasoning', content: [{ type: 'reasoning_text', text: 'so' }] },
      { type: 'message', content: [{ text: 'first last' }] },
    ]);
  });

  it('is shown with its refusal where the list is empty', () => {
    const refused = { ...answer, events: [chunk({ content: [], refusal: 'no' }, 'stop')] };
    expect(records(shownStream('chat', 'messages', refused).content)).toMatchObject([
      { type: 'text', text: 'no' },
    ]);
  });
});

describe('what a provider of the messages format has answered', () => {
  const echoed = (from: FormatName, body: object): unknown => {
    const result = translateRequest({ model: 'm', ...body }, from, 'messages', {
      upstreamModel: 'm',
      outputTokensCap: 4_000,
      reasonsByEffort: false,
      dialect: askedDialect,
    });
    if (isApiError(result)) throw new Error(result.message);
    return recordOf(records(recordOf(JSON.parse(result.object.bytes.toString())).messages)[1]).content;
  };
  const user = { role: 'user', content: 'x' };
  const inOrder = (blocks: readonly Block[]): Block[] => [
    ...blocks.filter(({ type }) => type === 'thinking' || type === 'redacted_thinking'),
    ...joined(blocks.filter(({ type }) => type === 'text')),
    ...blocks.filter(({ type }) => type === 'tool_use'),
  ];
  const joined = (texts: Block[]): Block[] =>
    texts.length === 0 ? [] : [{ type: 'text', text: texts.map(({ text }) => text).join('') }];

  it('comes back to it block by block from a caller who speaks responses, signatures and all', () => {
    fc.assert(
      fc.property(ofMessages, fc.boolean(), (answer, stream) => {
        const shown = stream
          ? shownStream('messages', 'responses', answer)
          : shownWhole('messages', 'responses', answer);
        expect(echoed('responses', { input: [user, ...records(shown.output)] })).toEqual(answer.blocks);
      }),
      { numRuns: 150 },
    );
  });

  it('comes back to it whole from a caller who speaks chat: thought, text, calls', () => {
    fc.assert(
      fc.property(ofMessages, fc.boolean(), (answer, stream) => {
        const shown = stream
          ? shownStream('messages', 'chat', answer)
          : shownWhole('messages', 'chat', answer);
        const [choice] = records(shown.choices);
        const messages = [user, recordOf(choice?.message)];
        expect(echoed('chat', { messages })).toEqual(inOrder(answer.blocks));
      }),
      { numRuns: 150 },
    );
  });
});
