import { expect, it } from 'vitest';
import { MESSAGE_BLOCKS_MAX } from '#core/limits.ts';
import { messagesFormat } from '../../api/inference/formats/messages-format.ts';
import { joinedPart, officialAnswer } from '../recordings/accumulators.ts';
import { eventsOf } from '../recordings/player.ts';
import { assembled, eventOf, MODEL, OWN_ID, passedEvents } from './passed-events.ts';
import { shownCollected, shownStream } from './shown-answers.ts';

/* Servers write the blocks of a message in ways that Anthropic does not document, and official clients lose them. They can read all that passes. */

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: MODEL,
  content: [],
  stop_reason: null,
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 1 },
};
const start = { type: 'message_start', message };
const startWithout = (name: keyof typeof message): object => {
  const { [name]: _, ...rest } = message;
  return { type: 'message_start', message: rest };
};
const begin = (index: unknown, content_block: object | null) => ({
  type: 'content_block_start',
  index,
  content_block,
});
const piece = (index: unknown, delta: object | null) => ({ type: 'content_block_delta', index, delta });
const end = (index: unknown) => ({ type: 'content_block_stop', index });
const text = (value: string) => ({ type: 'text_delta', text: value });
const thought = (value: string) => ({ type: 'thinking_delta', thinking: value });
const json = (value: string) => ({ type: 'input_json_delta', partial_json: value });
const emptyText = { type: 'text', text: '' };
const emptyThought = { type: 'thinking', thinking: '', signature: '' };
const call = (id: string) => ({ type: 'tool_use', id, name: 'weather', input: {} });
const ended = (stop_reason: string | null, usage: object | null = { output_tokens: 5 }) => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null },
  ...(usage === null ? {} : { usage }),
});
const stop = { type: 'message_stop' };
const rain = (index: unknown) => [
  begin(index, emptyText),
  piece(index, text('Rain')),
  piece(index, text(' by noon.')),
  end(index),
];
const oslo = (index: unknown, id = 't1') => [
  begin(index, call(id)),
  piece(index, json('{"town":')),
  piece(index, json('"Oslo"}')),
  end(index),
];
const thinks = (index: unknown) => [begin(index, emptyThought), piece(index, thought('Hm.')), end(index)];

/** Streams that are as documented, whose events pass as they came. */
const documented: [string, object[]][] = [
  ['a text', [start, ...rain(0), ended('end_turn'), stop]],
  ['thinking, a text and a call', [start, ...thinks(0), ...rain(1), ...oslo(2), ended('tool_use'), stop]],
  [
    'a signed thought, a ping and a citation',
    [
      start,
      ...thinks(0).slice(0, 2),
      { type: 'ping' },
      piece(0, { type: 'signature_delta', signature: 'S==' }),
      end(0),
      ...rain(1).slice(0, 2),
      piece(1, { type: 'citations_delta', citation: { type: 'char_location' } }),
      piece(1, text(' by noon.')),
      end(1),
      ended('end_turn'),
      stop,
    ],
  ],
  [
    'calls that take turns',
    [
      start,
      begin(0, call('t1')),
      begin(1, call('t2')),
      piece(1, json('{}')),
      piece(0, json('{}')),
      end(0),
      end(1),
      ended('tool_use'),
      stop,
    ],
  ],
  [
    'blocks and pieces of tomorrow',
    [
      start,
      begin(0, { type: 'news', news: 1 }),
      piece(0, { type: 'news_delta', news: 2 }),
      piece(0, text('x')),
      end(0),
      ...rain(1),
      ended('end_turn'),
      stop,
    ],
  ],
];

it.each(documented)('events as Anthropic documents them pass byte for byte: %s', async (_of, events) => {
  const odd = events.map((event) =>
    JSON.stringify(event).replace('{', '{ "odd":{"n":1.0, "d":12345678901234567890},'),
  );
  for (const bytesAtOnce of [1_000_000, 60]) {
    const passed = await passedEvents(messagesFormat, odd, bytesAtOnce);
    // The first event has the counts, which are ours to write.
    expect(passed.text.split('\n\n').slice(1).join('\n\n')).toBe(odd.slice(1, -2).map(eventOf).join(''));
    expect(passed.end).toBe('complete');
  }
});

const inputs = (...pieces: string[]) => pieces.map((each) => piece(0, json(each)));

/** Ways in which servers write a message. */
const odd: [string, object[]][] = [
  [
    'a text that stays open, and thinking under its number',
    [start, ...rain(0).slice(0, 2), ...thinks(0), ...rain(1), ended('end_turn')],
  ],
  ['all blocks under one number', [start, ...thinks(0), ...rain(0), ...oslo(0), ended('tool_use')]],
  ['a number that is skipped', [start, ...thinks(0), ...oslo(2), ended('tool_use')]],
  ['numbers that begin at 1', [start, ...rain(1), ...oslo(2), ended('tool_use')]],
  ['numbers that are texts', [start, ...rain('0'), ...oslo('1'), ended('tool_use')]],
  ['no numbers', [start, ...thinks(undefined), ...rain(undefined), ...oslo(undefined), ended('tool_use')]],
  ['no beginning of a text', [start, ...rain(0).slice(1), ended('end_turn')]],
  [
    'no beginnings of thinking and a text',
    [start, ...thinks(0).slice(1), ...rain(1).slice(1), ended('end_turn')],
  ],
  ['a beginning without a block', [start, begin(0, null), ...rain(0).slice(1), ended('end_turn')]],
  ['no ends of blocks', [start, ...rain(0).slice(0, 3), ...oslo(1).slice(0, 3), ended('tool_use')]],
  [
    'ends of blocks that never began',
    [start, end(0), ...rain(0), end(1), ...oslo(1), end(7), ended('tool_use')],
  ],
  ['ends that come twice', [start, ...rain(0), end(0), ...oslo(1), end(1), ended('tool_use')]],
  [
    'pieces under the number of another block',
    [
      start,
      begin(0, emptyText),
      piece(0, thought('Hm.')),
      piece(0, { type: 'signature_delta', signature: 'S==' }),
      end(0),
      ended('end_turn'),
    ],
  ],
  [
    'a signature under the number of the text behind it',
    [
      start,
      ...thinks(0),
      begin(1, emptyText),
      piece(1, { type: 'signature_delta', signature: 'S==' }),
      piece(1, text('Rain')),
      end(1),
      ended('end_turn'),
    ],
  ],
  [
    'a piece of nothing',
    [start, ...rain(0).slice(0, 2), piece(0, null), ...rain(0).slice(2), ended('end_turn')],
  ],
  [
    'blocks without the members that their pieces fill',
    [
      start,
      begin(0, { type: 'thinking' }),
      piece(0, thought('Hm.')),
      end(0),
      begin(1, { type: 'text', text: null }),
      piece(1, text('Rain')),
      end(1),
      begin(2, { type: 'tool_use', id: 't1', name: 'weather' }),
      piece(2, json('{"town":"Oslo"}')),
      end(2),
      ended('tool_use'),
    ],
  ],
  ...(['usage', 'content', 'type', 'role', 'stop_reason', 'stop_sequence'] as const).map(
    (name): [string, object[]] => [
      `a message that begins without ${name}`,
      [startWithout(name), ...rain(0), ended('end_turn', { input_tokens: 10, output_tokens: 5 })],
    ],
  ),
  [
    'nulls in the place of usage and content',
    [
      { ...start, message: { ...message, usage: null, content: null } },
      ...rain(0),
      ended('end_turn', { input_tokens: 10, output_tokens: 5 }),
    ],
  ],
  ['a beginning that comes twice', [start, start, ...rain(0), ended('end_turn')]],
  [
    'an end without usage before the one that counts',
    [start, ...rain(0), ended('end_turn', null), ended(null)],
  ],
  [
    'usage behind the end, without a word for it',
    [start, ...oslo(0), ended('tool_use', null), { type: 'message_delta', usage: { output_tokens: 5 } }],
  ],
  ['an end without usage', [start, ...rain(0), ended('end_turn', null)]],
  [
    'all of an input so far in each piece',
    [
      start,
      begin(0, call('t1')),
      ...inputs('{"to', '{"town":"Os', '{"town":"Oslo"}'),
      end(0),
      ended('tool_use'),
    ],
  ],
  [
    'all of an input so far, without the end of its block',
    [start, begin(0, call('t1')), ...inputs('{"town":', '{"town":"Oslo"}'), ended('tool_use')],
  ],
  [
    'an input that is said twice',
    [start, begin(0, call('t1')), ...inputs('{"town":"Oslo"}', '{"town":"Oslo"}'), end(0), ended('tool_use')],
  ],
  [
    'a beginning that says why the message ends',
    [
      {
        ...start,
        message: { ...message, stop_reason: 'refusal', stop_details: { type: 'refusal', category: 'x' } },
      },
      ...rain(0),
      ended(null),
    ],
  ],
];

it.each(odd)('the official SDK reads what the JSON says: %s', async (_of, events) => {
  const all = [...events, stop];
  const said = assembled(messagesFormat, all);
  for (const bytesAtOnce of [1_000_000, 60]) {
    const { text: before, last } = await passedEvents(messagesFormat, all, bytesAtOnce);
    const read = joinedPart('messages', await officialAnswer('messages', before + last));
    const expected = joinedPart('messages', said);
    expect(read).toEqual({ ...expected, usage: expect.anything() });
    const shown = eventsOf(before + last);
    expectPaired(shown);
  }
});

it.each(odd.filter(([of]) => of.includes('input')))('a call has its input once: %s', async (_of, events) => {
  const all = [...events, stop];
  const { text: before, last } = await passedEvents(messagesFormat, all);
  for (const { content } of [assembled(messagesFormat, all), await officialAnswer('messages', before + last)])
    expect(content).toMatchObject([{ type: 'tool_use', input: { town: 'Oslo' } }]);
});

it.each<[string, object[]]>([
  ['', [...rain(0), ...oslo(1), ended('tool_use'), stop]],
  [', but for a ping', [{ type: 'ping' }, ...rain(0), ...oslo(1), ended('tool_use'), stop]],
  [', with beginnings of blocks', [...rain(0).slice(1), ...oslo(1), ended('tool_use'), stop]],
  [
    ', but for an event without a message',
    [{ type: 'message_start' }, ...rain(0), ...oslo(1), ended('tool_use'), stop],
  ],
  [
    ' until its first block has begun',
    [...rain(0).slice(0, 2), start, ...rain(0).slice(2), ...oslo(1), ended('tool_use'), stop],
  ],
  [', with an end that comes twice', [...rain(0), ...oslo(1), ended('tool_use'), ended(null), stop]],
])('nothing is lost of a message of which the server leaves out the beginning%s', async (_of, events) => {
  const content = [
    { type: 'text', text: 'Rain by noon.' },
    { type: 'tool_use', id: 't1', name: 'weather', input: { town: 'Oslo' } },
  ];
  expect(assembled(messagesFormat, events)).toMatchObject({
    type: 'message',
    content,
    stop_reason: 'tool_use',
  });
  for (const bytesAtOnce of [1_000_000, 60]) {
    const { text: before, last } = await passedEvents(messagesFormat, events, bytesAtOnce);
    const read = await officialAnswer('messages', before + last);
    const names = { id: OWN_ID, type: 'message', role: 'assistant', model: MODEL };
    expect(read).toMatchObject({ ...names, content, stop_reason: 'tool_use' });
    const shown = eventsOf(before + last);
    expect(shown.filter(({ type }) => type === 'message_start')).toHaveLength(1);
    expectPaired(shown);
  }
});

it('the end of a message is told although its first event says it, and no later one', () => {
  const refused = { ...message, stop_reason: 'refusal', stop_details: { type: 'refusal' } };
  const events = [{ ...start, message: refused }, ...rain(0), ended(null), stop];
  expect(assembled(messagesFormat, events)).toMatchObject({
    stop_reason: 'refusal',
    stop_details: { type: 'refusal' },
  });
  for (const shown of [shownStream, shownCollected])
    expect(shown('messages', 'chat', { events, whole: {} })).toMatchObject({
      choices: [{ finish_reason: 'content_filter' }],
    });
});

/** Blocks are numbered from 0 on, each begins and ends once, and pieces come in between. */
function expectPaired(events: readonly Record<string, unknown>[]): void {
  let count = 0;
  const open = new Set<unknown>();
  for (const { type, index } of events) {
    if (type === 'content_block_start') {
      expect(index).toBe(count++);
      open.add(index);
    } else if (type === 'content_block_delta') expect(Number(index) < count).toBe(true);
    else if (type === 'content_block_stop') expect(open.delete(index)).toBe(true);
  }
  expect([...open]).toEqual([]);
}

it('a stream of very many blocks keeps no more of them than its limit, and loses none that comes in order', async () => {
  const count = MESSAGE_BLOCKS_MAX + 50;
  const events = [
    start,
    ...Array.from({ length: count }, (_, at) => [
      begin(2 * at, emptyText),
      piece(2 * at, text(`${at} `)),
    ]).flat(),
    ended('end_turn'),
    stop,
  ];
  const { text: before, last } = await passedEvents(messagesFormat, events);
  const { content } = await officialAnswer('messages', before + last);
  expect(content).toEqual(Array.from({ length: count }, (_, at) => ({ type: 'text', text: `${at} ` })));
});
