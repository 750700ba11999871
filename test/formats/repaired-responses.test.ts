import { describe, expect, it } from 'vitest';
import { RESPONSE_ITEMS_BYTES } from '#core/limits.ts';
import { EventNumbers } from '../../api/inference/formats/event-numbers.ts';
import { ResponseRepair } from '../../api/inference/formats/response-repair.ts';
import { responsesFormat } from '../../api/inference/formats/responses-format.ts';
import { records } from '../../api/inference/formats/values.ts';
import { type JsonObject, scanJsonObject } from '../../api/inference/json/json-object.ts';
import { ResponsesTextCount } from '../../api/inference/price/stream-text-count.ts';
import { joinedPart, officialAnswer } from '../recordings/accumulators.ts';
import { eventsOf } from '../recordings/player.ts';
import { cpuMsOf } from '../support/cpu-time.ts';
import { assembled, eventOf, MODEL, OWN_ID, passedEvents } from './passed-events.ts';

/* Servers write the items of a response in ways that OpenAI does not document, and official clients fail at them or lose them. */

type Event = { type: string } & Record<string, unknown>;

const frame = {
  id: 'resp_1',
  object: 'response',
  created_at: 7,
  model: MODEL,
  error: null,
  incomplete_details: null,
  instructions: null,
  metadata: {},
  parallel_tool_calls: true,
  temperature: 1,
  tool_choice: 'auto',
  tools: [],
  top_p: 1,
};
const usage = { input_tokens: 10, output_tokens: 5, total_tokens: 15 };
const created: Event = {
  type: 'response.created',
  response: { ...frame, status: 'in_progress', output: [], usage: null },
};
const completed = (output?: readonly object[], type = 'response.completed', status = 'completed'): Event => ({
  type,
  response: { ...frame, status, ...(output === undefined ? {} : { output }), usage },
});

const part = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });
const message = (id: string, text = 'Rain by noon.') => ({
  id,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [part(text)],
});
const says = (index: number, id = `msg_${index}`, pieces = ['Rain', ' by', ' noon.']): Event[] => {
  const at = { item_id: id, output_index: index, content_index: 0 };
  const whole = message(id, pieces.join(''));
  return [
    {
      type: 'response.output_item.added',
      output_index: index,
      item: { ...whole, status: 'in_progress', content: [] },
    },
    { type: 'response.content_part.added', ...at, part: part('') },
    ...pieces.map((delta) => ({ type: 'response.output_text.delta', ...at, delta, logprobs: [] })),
    { type: 'response.output_text.done', ...at, text: pieces.join(''), logprobs: [] },
    { type: 'response.content_part.done', ...at, part: part(pieces.join('')) },
    { type: 'response.output_item.done', output_index: index, item: whole },
  ];
};
const call = (id: string, callId: string) => ({
  id,
  type: 'function_call',
  status: 'completed',
  call_id: callId,
  name: 'weather',
  arguments: '{"town":"Oslo"}',
});
const calls = (index: number, id = `fc_${index}`, callId = `call_${index}`): Event[] => {
  const at = { item_id: id, output_index: index };
  const whole = call(id, callId);
  return [
    {
      type: 'response.output_item.added',
      output_index: index,
      item: { ...whole, status: 'in_progress', arguments: '' },
    },
    { type: 'response.function_call_arguments.delta', ...at, delta: '{"town":' },
    { type: 'response.function_call_arguments.delta', ...at, delta: '"Oslo"}' },
    { type: 'response.function_call_arguments.done', ...at, arguments: '{"town":"Oslo"}' },
    { type: 'response.output_item.done', output_index: index, item: whole },
  ];
};
const thought = (id: string) => ({
  id,
  type: 'reasoning',
  summary: [{ type: 'summary_text', text: 'Hm. So.' }],
  encrypted_content: 'sealed',
});
const thinks = (index: number, id = `rs_${index}`): Event[] => {
  const at = { item_id: id, output_index: index, summary_index: 0 };
  const begun = { type: 'summary_text', text: '' };
  return [
    { type: 'response.output_item.added', output_index: index, item: { ...thought(id), summary: [] } },
    { type: 'response.reasoning_summary_part.added', ...at, part: begun },
    { type: 'response.reasoning_summary_text.delta', ...at, delta: 'Hm.' },
    { type: 'response.reasoning_summary_text.delta', ...at, delta: ' So.' },
    { type: 'response.reasoning_summary_text.done', ...at, text: 'Hm. So.' },
    { type: 'response.reasoning_summary_part.done', ...at, part: thought(id).summary[0] },
    { type: 'response.output_item.done', output_index: index, item: thought(id) },
  ];
};
const searches = (index: number): Event[] => {
  const at = { item_id: 'ws_1', output_index: index };
  const item = {
    id: 'ws_1',
    type: 'web_search_call',
    status: 'completed',
    action: { type: 'search', query: 'x' },
  };
  return [
    { type: 'response.output_item.added', output_index: index, item: { ...item, status: 'in_progress' } },
    { type: 'response.web_search_call.in_progress', ...at },
    { type: 'response.web_search_call.completed', ...at },
    { type: 'response.output_item.done', output_index: index, item },
  ];
};
const all = [...thinks(0), ...says(1), ...calls(2)];
const output = [thought('rs_0'), message('msg_1'), call('fc_2', 'call_2')];

const numbered = (events: readonly Event[]): Event[] =>
  events.map((event, sequence_number) => ({ ...event, sequence_number }));
const not = (events: readonly Event[], ...types: string[]): Event[] =>
  events.filter(({ type }) => !types.some((each) => type.includes(each)));

/** Streams that are as documented, whose events pass as they came. */
const documented: [string, Event[]][] = [
  ['a text', [...says(0), completed([message('msg_0')])]],
  ['reasoning, a text and a call', [...all, completed(output)]],
  ['a search before a text', [...searches(0), ...says(1), completed([])]],
  [
    'items that take turns, and a number that is skipped',
    [
      ...[0, 1, 2, 3, 4].flatMap((at) => [calls(0)[at], calls(3)[at]]).filter((event) => event !== undefined),
      completed([call('fc_0', 'call_0'), call('fc_3', 'call_3')]),
    ],
  ],
  [
    'events of tomorrow',
    [
      ...says(0).slice(0, 3),
      { type: 'response.news.delta', item_id: 'x', output_index: 9, delta: 'x' },
      { type: 'keepalive' },
      ...says(0).slice(3),
      completed([message('msg_0')]),
    ],
  ],
];

it.each(documented)('events as OpenAI documents them pass byte for byte: %s', async (_of, events) => {
  const odd = numbered([created, ...events]).map((event) =>
    JSON.stringify(event).replace('{', '{ "odd":{"n":1.0, "d":12345678901234567890},'),
  );
  for (const bytesAtOnce of [1_000_000, 60]) {
    const passed = await passedEvents(responsesFormat, odd, bytesAtOnce);
    // The first event and the last have a response, whose usage is ours to write.
    expect(passed.text.split('\n\n').slice(1).join('\n\n')).toBe(odd.slice(1, -1).map(eventOf).join(''));
    expect(passed.end).toBe('complete');
  }
});

/** Other ids in each event that belongs to one item, as one proxy writes them. */
const changing = all.map((event, at): Event => {
  const { item } = event;
  if (typeof item === 'object' && item !== null) return { ...event, item: { ...item, id: `id_${at}` } };
  return { ...event, item_id: `id_${at}` };
});

/** Ways in which servers write a response. */
const odd: [string, Event[]][] = [
  ['an end without items', [...all, completed([])]],
  ['an end that has no list of items', [...all, completed()]],
  ['an end with the last item alone', [...all, completed(output.slice(2))]],
  ['an incomplete end without items', [...says(0), completed([], 'response.incomplete', 'incomplete')]],
  ['pieces alone, and an end without items', [...not(all, 'done'), completed([])]],
  ['texts that are said whole, and an end without items', [...not(all, 'delta'), completed([])]],
  ['`response.done` as the end', [...all, completed(output, 'response.done')]],
  [
    '`response.done` as the end of an answer that is cut',
    [...says(0), completed([message('msg_0')], 'response.done', 'incomplete')],
  ],
  ['ids that change in each event', [...changing, completed(output)]],
  ['ids that change in each event, and an end without items', [...changing, completed([])]],
  [
    'an id of the answer that changes',
    [
      {
        ...created,
        type: 'response.in_progress',
        response: { ...frame, id: 'resp_2', status: 'in_progress', output: [] },
      },
      ...says(0),
      {
        type: 'response.completed',
        response: { ...frame, id: 'resp_3', status: 'completed', output: [message('msg_0')], usage },
      },
    ],
  ],
  ['no ids of items in pieces', [...all.map(({ item_id: _, ...event }): Event => event), completed(output)]],
  ['one number for all items', [...thinks(0), ...says(0), ...calls(0), completed([])]],
  ['one id for all items', [...thinks(0, 'x'), ...says(1, 'x'), ...calls(2, 'x'), completed([])]],
  ['no beginnings of items', [...not(all, 'item.added'), completed(output)]],
  ['no beginnings of parts', [...not(all, 'part.added'), completed(output)]],
  ['no beginnings at all', [...not(all, 'added'), completed([])]],
  ['whole items alone', [...all.filter(({ type }) => type === 'response.output_item.done'), completed([])]],
  [
    'beginnings that come twice',
    [...all.flatMap((event) => (event.type.includes('added') ? [event, event] : [event])), completed(output)],
  ],
  [
    'items that begin without their lists',
    [
      { type: 'response.output_item.added', output_index: 0, item: { id: 'rs_0', type: 'reasoning' } },
      ...thinks(0).slice(1),
      {
        type: 'response.output_item.added',
        output_index: 1,
        item: { id: 'msg_1', type: 'message', content: null },
      },
      ...says(1).slice(1),
      completed([]),
    ],
  ],
  [
    'no numbers of parts',
    [...all.map(({ content_index: _, summary_index: _of, ...event }): Event => event), completed(output)],
  ],
];

describe.each(odd)('%s', (_of, events) => {
  const sent = numbered([created, ...events]);

  it.each([1_000_000, 60])(
    'is read by the official SDK as the JSON says it, in pieces of %d bytes',
    async (bytesAtOnce) => {
      const { text, last } = await passedEvents(responsesFormat, sent, bytesAtOnce);
      const read = await officialAnswer('responses', text + last);
      const { output_text: _, ...joined } = joinedPart('responses', read);
      const said = joinedPart('responses', assembled(responsesFormat, sent));
      expect({ ...joined, usage: {} }).toEqual({ ...said, usage: {} });
      expect(records(joined.output).length).toBeGreaterThan(0);
    },
  );

  it('shows all that is said in pieces, each of an item and a part that has begun', async () => {
    const { text, last } = await passedEvents(responsesFormat, sent);
    const begun = new Map<unknown, unknown>();
    let said = '';
    for (const { type, item, item_id, output_index, delta } of eventsOf(text + last)) {
      if (type === 'response.output_item.added') {
        expect(begun.has(output_index)).toBe(false);
        begun.set(output_index, Object(item).id);
      } else if (output_index !== undefined) expect(begun.get(output_index)).toBe(item_id ?? Object(item).id);
      if (type === 'response.output_text.delta') said += delta;
    }
    expect(new Set(begun.values()).size).toBe(begun.size);
    if (!_of.includes('said whole')) expect(said).toBe('Rain by noon.');
  });
});

/** The numbers of the events, which rise by one. */
const numbersOf = (events: readonly Record<string, unknown>[]): unknown[] =>
  events.filter(({ type }) => type !== 'keepalive').map(({ sequence_number }) => sequence_number);

it.each<[string, Event[]]>([
  ...odd.map(([of, events]): [string, Event[]] => [of, numbered([created, ...events])]),
  ['numbers that are missing', [created, ...all, completed(output)]],
  [
    'numbers that are all the same',
    [created, ...all, completed(output)].map((event) => ({ ...event, sequence_number: 0 })),
  ],
  [
    'a sign of life without a number',
    numbered([created, ...all])
      .toSpliced(3, 0, { type: 'keepalive' })
      .concat(completed(output)),
  ],
  ['no beginning', numbered([created, ...not(all, 'added'), completed([])]).slice(1)],
])('the events are numbered one after another: %s', async (_of, events) => {
  for (const bytesAtOnce of [1_000_000, 60]) {
    const { text, last } = await passedEvents(responsesFormat, events, bytesAtOnce);
    const numbers = numbersOf(eventsOf(text + last));
    expect(numbers).toEqual(numbers.map((_, at) => at));
  }
});

it('an error behind events that were added has the next number', () => {
  const reader = responsesFormat.openStream({
    upstreamModel: MODEL,
    publicModel: MODEL,
    showUsage: true,
    ownId: OWN_ID,
  });
  let shown = '';
  for (const event of numbered([created, ...not(all, 'added')])) {
    const data = Buffer.from(JSON.stringify(event));
    const read = reader.read(data, event.type);
    if (read.kind === 'changed') shown += read.events.toString();
    else if (read.kind === 'plain') shown += eventOf(event);
  }
  expect(reader.eventsShown).toBe(eventsOf(shown).length);
});

it.each<[string, Event[]]>([
  ['', [...all, completed(output)]],
  [', and of its items', [...not(all, 'added'), completed([])]],
  [' alone', [{ ...created, type: 'response.in_progress' }, ...all, completed(output)]],
  [', but for a sign of life', [{ type: 'keepalive' }, ...all, completed(output)]],
  [' until its first item has begun', [...all.slice(0, 3), created, ...all.slice(3), completed(output)]],
  [' and all else but the end', [completed(output)]],
])('nothing is lost of a response of which the server leaves out the beginning%s', async (_of, events) => {
  for (const sent of [events, numbered(events)]) {
    for (const bytesAtOnce of [1_000_000, 60]) {
      const { text, last } = await passedEvents(responsesFormat, sent, bytesAtOnce);
      const shown = eventsOf(text + last).filter(({ type }) => type !== 'keepalive');
      expect(shown.filter(({ type }) => type === 'response.created')).toEqual([shown[0]]);
      expect(new Set(shown.flatMap(({ response }) => Object(response).id ?? [])).size).toBe(1);
      const read = await officialAnswer('responses', text + last);
      expect(records(read.output)).toMatchObject(
        output.map(({ type }) => ({
          type,
          ...(type === 'message' ? { content: [{ text: 'Rain by noon.' }] } : {}),
        })),
      );
    }
  }
});

it('an id of ours, which begins as OpenAI’s do, names an item that its server gives none', async () => {
  const events = [
    created,
    ...not(says(0), 'added').map(({ item_id: _, ...event }): Event => event),
    completed([]),
  ];
  const { text } = await passedEvents(responsesFormat, events);
  expect(eventsOf(text).find(({ type }) => type === 'response.output_item.added')?.item).toMatchObject({
    id: `msg_${OWN_ID}_0`,
  });
});

it('items that their server gave one id are told apart, under ids that begin as it does', async () => {
  const { text } = await passedEvents(responsesFormat, [
    created,
    ...says(0, 'x'),
    ...calls(1, 'x'),
    completed([]),
  ]);
  const begun = eventsOf(text).filter(({ type }) => type === 'response.output_item.added');
  expect(begun.map(({ item }) => Object(item).id)).toEqual(['x', 'x_1']);
});

it('the digits of numbers stay as they came in items that the last event left out', async () => {
  const item = `{"id":"msg_0","type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"x","annotations":[],"logprobs":[{"logprob":-1.0e-5,"big":12345678901234567890}]}]}`;
  const events = [
    created,
    ...says(0).slice(0, 2),
    `{"type":"response.output_item.done","output_index":0,"item":${item}}`,
    completed([]),
  ];
  const { last } = await passedEvents(responsesFormat, events);
  expect(last).toContain(`"output":[${item}]`);
});

it.each<[string, (item: string, part: string) => (Event | string)[]]>([
  [
    'item that had not begun',
    (item) => [`{"type":"response.output_item.done","output_index":0,"item":${item}}`],
  ],
  [
    'an item that does not end',
    (item) => [`{"type":"response.output_item.added","output_index":0,"item":${item}}`],
  ],
  [
    'a part',
    (_item, text) => [
      ...says(0).slice(0, 2),
      `{"type":"response.content_part.done","item_id":"msg_0","output_index":0,"content_index":0,"part":${text}}`,
    ],
  ],
  [
    'an annotation',
    (_item, text) => [
      ...says(0).slice(0, 2),
      `{"type":"response.output_text.annotation.added","item_id":"msg_0","output_index":0,"content_index":0,"annotation_index":0,"annotation":${text}}`,
    ],
  ],
])('the digits of numbers stay as they came in all that the gateway adds: %s', async (_of, of) => {
  const numbers = '"ix":12345678901234567890123,"cost":1.10,"small":-1.0e-5';
  const text = `{"type":"output_text","text":"x","annotations":[],${numbers}}`;
  const item = `{"id":"msg_0","type":"message","role":"assistant","status":"completed","content":[${text}],${numbers}}`;
  const { text: shown, last } = await passedEvents(responsesFormat, [
    created,
    ...of(item, text),
    completed([]),
  ]);
  const all = (shown + last).match(/"(?:ix|cost|small)":[^,}\]]+/g) ?? [];
  expect(all.length).toBeGreaterThan(3);
  expect([...new Set(all)].sort()).toEqual(numbers.split(',').sort());
});

it('an answer beyond the limit of what is kept for its end passes as it came', async () => {
  const long = 'x'.repeat(500_000);
  const count = Math.ceil(RESPONSE_ITEMS_BYTES / long.length) + 1;
  const events = [
    created,
    ...says(
      0,
      'msg_0',
      Array.from({ length: count }, () => long),
    ).slice(0, -3),
    completed([]),
  ];
  const { text, last } = await passedEvents(responsesFormat, events);
  expect(text.length).toBeGreaterThan(RESPONSE_ITEMS_BYTES);
  expect(last).toContain('"output":[]');
});

it('the items of a last event that have other ids there are found in a time that grows with their number alone', () => {
  const scanned = (value: object): JsonObject => {
    const object = scanJsonObject(Buffer.from(JSON.stringify(value)));
    if (typeof object === 'string') throw new Error(object);
    return object;
  };
  const ended = (count: number): (() => void) => {
    const repair = new ResponseRepair(OWN_ID, new ResponsesTextCount(), new EventNumbers());
    const items = Array.from({ length: count }, (_, at) => ({
      ...{ type: 'function_call', id: 'fc', call_id: `call-${at}`, name: 'f', arguments: '{}' },
    }));
    for (const [output_index, item] of items.entries()) {
      const event = scanned({ type: 'response.output_item.done', output_index, item });
      repair.repaired(event.bytes, event);
    }
    const last = scanned({ status: 'completed', output: items.map((item) => ({ ...item, id: 'other' })) });
    return () => expect(repair.output(last, { count, areReadable: true })).not.toBe(null);
  };
  /** Returns the time that the ends of `answers` answers take, each with `count` items. */
  const msOf = (answers: number, count: number): number => {
    const ends = Array.from({ length: answers }, () => ended(count));
    return cpuMsOf(() => {
      for (const end of ends) end();
    });
  };
  msOf(16, 200);
  // A search through the whole answer for each of its items would make the long answers sixteen times as slow.
  expect(msOf(3, 3_200)).toBeLessThan(5 * msOf(48, 200));
});
