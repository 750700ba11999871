import { describe, expect, it } from 'vitest';
import { messagesFormat } from '../../api/inference/formats/messages-format.ts';
import { responsesFormat } from '../../api/inference/formats/responses-format.ts';
import { officialAnswer } from '../recordings/accumulators.ts';
import { shownCollected, shownEvents, shownStream } from './shown-answers.ts';

type Event = { type: string } & Record<string, unknown>;

function jsonOf(format: typeof messagesFormat, events: readonly Event[]): Record<string, unknown> {
  const assembly = format.openAssembly();
  for (const event of events) assembly.read(Buffer.from(JSON.stringify(event)), event.type);
  return JSON.parse(assembly.answer()?.toString() ?? 'null');
}

describe('the JSON of a response that came as a stream', () => {
  const done = (output_index: number, item: object): Event => ({
    type: 'response.output_item.done',
    ...{ output_index, item },
  });
  const added = (output_index: number, item: object): Event => ({
    type: 'response.output_item.added',
    ...{ output_index, item },
  });
  const piece = (type: string, members: object): Event => ({ type: `response.${type}`, ...members });
  const end = (output: unknown, status = 'completed'): Event => ({
    type: `response.${status}`,
    response: { id: 'r', object: 'response', status, output },
  });
  const call = (id: string, members: object = {}): object => ({
    type: 'function_call',
    ...{ id: `fc_${id}`, call_id: id, name: 'f', arguments: `{"of":"${id}"}`, status: 'completed' },
    ...members,
  });
  const said = (text: string, members: object = {}): object => ({
    type: 'message',
    ...{ id: 'msg', role: 'assistant', status: 'completed' },
    content: [{ type: 'output_text', annotations: [], text }],
    ...members,
  });
  const outputOf = (...events: Event[]): unknown => jsonOf(responsesFormat, events).output;

  it.each<[string, (item: Record<string, unknown>) => object]>([
    ['with their own ids', (item) => item],
    ['without ids', ({ id: _, ...item }) => item],
    ['with one id', (item) => ({ ...item, id: 'same' })],
  ])('has every item of a server that gives all items one number, %s', (_how, as) => {
    const items = [said('Hi'), call('a'), call('b')].map((item) => as({ ...item }));
    expect(outputOf(...items.map((item) => done(0, item)), end([]))).toEqual(items);
    const begun = items.map((item) => added(0, { ...item, arguments: '', status: 'in_progress' }));
    expect(outputOf(...begun, ...items.map((item) => done(0, item)), end(null))).toEqual(items);
  });

  it('has every item of a server that numbers none, or numbers them in another order than it ends them', () => {
    const bare = (item: object): Event => ({ type: 'response.output_item.done', item });
    expect(outputOf(bare(said('Hi')), bare(call('a')), bare(call('b')), end([]))).toEqual([
      ...[said('Hi'), call('a'), call('b')],
    ]);
    expect(outputOf(done(1, call('b')), done(0, call('a')), end([]))).toEqual([call('a'), call('b')]);
  });

  const texts = [
    added(0, { type: 'reasoning', id: 'rs', summary: [] }),
    piece('reasoning_summary_text.delta', { item_id: 'rs', output_index: 0, summary_index: 0, delta: 'so ' }),
    piece('reasoning_summary_text.delta', { item_id: 'rs', output_index: 0, summary_index: 0, delta: 'far' }),
    added(1, { ...said(''), status: 'in_progress', content: [] }),
    piece('output_text.delta', { item_id: 'msg', output_index: 1, content_index: 0, delta: 'Hel' }),
    piece('output_text.delta', { item_id: 'msg', output_index: 1, content_index: 0, delta: 'lo' }),
    added(2, call('a', { arguments: '', status: 'in_progress' })),
    piece('function_call_arguments.delta', { item_id: 'fc_a', output_index: 2, delta: '{"of":' }),
    piece('function_call_arguments.delta', { item_id: 'fc_a', output_index: 2, delta: '"a"}' }),
  ];
  const whole = [
    { type: 'reasoning', id: 'rs', summary: [{ type: 'summary_text', text: 'so far' }] },
    ...[said('Hello'), call('a')],
  ];

  it('is made of the pieces where no whole item comes', () => {
    expect(outputOf(...texts, end([]))).toEqual(whole);
    const ended = [
      piece('output_text.done', { item_id: 'msg', output_index: 1, content_index: 0, text: 'Hello' }),
      piece('function_call_arguments.done', { item_id: 'fc_a', output_index: 2, arguments: '{"of":"a"}' }),
    ];
    expect(outputOf(...texts, ...ended, end([]))).toEqual(whole);
  });

  it('is made of the pieces where not even the beginning of an item comes', () => {
    const pieces = texts.filter(({ type }) => type.endsWith('.delta'));
    expect(outputOf(...pieces, end([]))).toMatchObject([
      { type: 'reasoning', summary: [{ text: 'so far' }] },
      { type: 'message', role: 'assistant', status: 'completed', content: [{ text: 'Hello' }] },
      { type: 'function_call', call_id: 'fc_a', arguments: '{"of":"a"}' },
    ]);
  });

  it('is made of the ends of parts where neither pieces nor whole items come', () => {
    const annotation = { type: 'url_citation', url: 'https://a.example/', title: 'A' };
    const at = { item_id: 'msg', output_index: 0, content_index: 0 };
    const events = [
      piece('output_text.annotation.added', { ...at, annotation_index: 0, annotation }),
      piece('output_text.done', { ...at, text: 'Hello' }),
      piece('refusal.done', { ...at, content_index: 1, refusal: 'No.' }),
      piece('custom_tool_call_input.done', { item_id: 'ct', output_index: 1, input: 'go' }),
    ];
    expect(outputOf(...events, end([]))).toMatchObject([
      {
        content: [
          { type: 'output_text', text: 'Hello', annotations: [annotation] },
          { type: 'refusal', refusal: 'No.' },
        ],
      },
      { type: 'custom_tool_call', input: 'go' },
    ]);
  });

  it('has no item twice whose ids differ from event to event', () => {
    const events = texts.map((event, at) => ({
      ...event,
      ...('item_id' in event ? { item_id: `x${at}` } : {}),
    }));
    expect(
      outputOf(...events, ...whole.map((item, at) => done(at, { ...item, id: `y${at}` })), end([])),
    ).toEqual(whole.map((item, at) => ({ ...item, id: `y${at}` })));
    expect(outputOf(...events, end(whole.map((item, at) => ({ ...item, id: `z${at}` }))))).toHaveLength(3);
  });

  it('has the items that its last event leaves out', () => {
    const events = whole.map((item, at) => done(at, item));
    expect(outputOf(...events, end([whole[1]]))).toEqual(whole);
    expect(outputOf(...events, end([{ ...said('Hello'), id: 'other' }]))).toMatchObject([
      ...[whole[0], { id: 'other' }, whole[2]],
    ]);
    // The last event has the last word about an item that it has.
    expect(outputOf(...events, end([said('Hello!')]))).toEqual([whole[0], said('Hello!'), whole[2]]);
    expect(outputOf(...events, end([said('One.')].concat(whole.slice(0, 2))))).toEqual([
      ...[said('One.'), ...whole.slice(0, 2)],
    ]);
  });

  it('says that an item was cut if the answer was', () => {
    expect(outputOf(...texts.slice(0, 5), end([], 'incomplete'))).toMatchObject([
      ...[{ type: 'reasoning' }, { status: 'incomplete', content: [{ text: 'Hel' }] }],
    ]);
  });

  it('takes a time that grows with the number of the events alone', () => {
    const many = Array.from({ length: 30_000 }, (_, at) => call(String(at)));
    expect(outputOf(...many.map((item) => done(0, item)), end([many[5]]))).toHaveLength(30_000);
  });
});

const start = (index: number, content_block: object): Event => ({
  type: 'content_block_start',
  ...{ index, content_block },
});
const delta = (index: number, piece: object): Event => ({
  type: 'content_block_delta',
  ...{ index, delta: piece },
});
const stop = (index: number): Event => ({ type: 'content_block_stop', index });
const text = (index: number, piece: string): Event => delta(index, { type: 'text_delta', text: piece });
const thought = (index: number, piece: string): Event =>
  delta(index, { type: 'thinking_delta', thinking: piece });
const signature = (index: number): Event => delta(index, { type: 'signature_delta', signature: 'c2ln' });
const json = (index: number, partial_json: string): Event =>
  delta(index, { type: 'input_json_delta', partial_json });
const message = (...events: Event[]): Event[] => [
  {
    type: 'message_start',
    message: { id: 'm', type: 'message', role: 'assistant', model: 'x', content: [], usage: {} },
  },
  ...events,
  {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 1 },
  },
  { type: 'message_stop' },
];

describe('a message that came as a stream', () => {
  const contentOf = (...events: Event[]): unknown => jsonOf(messagesFormat, message(...events)).content;
  const shown = (to: 'chat' | 'responses', ...events: Event[]) =>
    [shownCollected, shownStream].map((show) =>
      show('messages', to, { events: message(...events), whole: {} }),
    );
  const use = (id: string): object => ({ type: 'tool_use', id, name: 'f', input: {} });

  it('has all blocks in JSON where they all have one number', () => {
    const blocks = [
      ...[
        start(0, { type: 'thinking', thinking: '', signature: '' }),
        thought(0, 'so'),
        signature(0),
        stop(0),
      ],
      ...[start(0, { type: 'text', text: '' }), text(0, 'Hel'), text(0, 'lo'), stop(0)],
      ...[start(0, use('a')), json(0, '{"x":'), json(0, '1}'), stop(0)],
      ...[start(0, use('b')), json(0, '{"y":2}'), stop(0)],
    ];
    expect(contentOf(...blocks)).toEqual([
      { type: 'thinking', thinking: 'so', signature: 'c2ln' },
      { type: 'text', text: 'Hello' },
      { ...use('a'), input: { x: 1 } },
      { ...use('b'), input: { y: 2 } },
    ]);
  });

  it.each([
    ['of their own', [0, 1, 2]],
    ['that is the same', [0, 0, 0]],
  ])('has blocks that were never begun, under a number %s', (_how, [a = 0, b = 0, c = 0]) => {
    const pieces = [thought(a, 'so'), signature(a), text(b, 'Hel'), text(b, 'lo'), json(c, '{"x":1}')];
    expect(contentOf(...pieces)).toMatchObject([
      { type: 'thinking', thinking: 'so', signature: 'c2ln' },
      { type: 'text', text: 'Hello' },
      { type: 'tool_use', name: '', input: { x: 1 } },
    ]);
    for (const answer of shown('chat', ...pieces))
      expect(answer).toMatchObject({
        choices: [
          {
            message: {
              content: 'Hello',
              reasoning: 'so',
              tool_calls: [{ function: { name: '', arguments: '{"x":1}' } }],
            },
          },
        ],
      });
  });

  it('shows no call of a tool that the provider runs itself, whatever number it has', () => {
    const server = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} };
    const events = [
      start(0, use('a')),
      json(0, '{"x":1}'),
      stop(0),
      start(0, server),
      json(0, '{"q":1}'),
      stop(0),
    ];
    for (const answer of shown('chat', ...events))
      expect(answer).toMatchObject({
        choices: [{ message: { tool_calls: [{ id: 'a', function: { arguments: '{"x":1}' } }] } }],
      });
  });

  const late: [string, Event[]][] = [
    [
      'after the next block has begun',
      [
        start(0, { type: 'thinking', thinking: '' }),
        thought(0, 'so'),
        start(1, { type: 'text', text: '' }),
      ].concat([text(1, 'Hel'), signature(0), stop(0), text(1, 'lo'), stop(1)]),
    ],
    [
      'after its block has ended',
      [start(0, { type: 'thinking', thinking: '' }), thought(0, 'so'), stop(0)].concat([
        start(1, { type: 'text', text: '' }),
        text(1, 'Hello'),
        signature(0),
        stop(1),
      ]),
    ],
    [
      'under the number of the next block',
      [start(0, { type: 'thinking', thinking: '' }), thought(0, 'so'), stop(0)].concat([
        start(0, { type: 'text', text: '' }),
        text(0, 'Hello'),
        signature(0),
        stop(0),
      ]),
    ],
    ['without any beginnings', [thought(0, 'so'), text(1, 'Hello'), signature(0)]],
  ];

  it.each(late)('has a signature with its own reasoning that comes %s', async (_when, events) => {
    expect(contentOf(...events)).toMatchObject([
      { type: 'thinking', thinking: 'so', signature: 'c2ln' },
      { type: 'text', text: 'Hello' },
    ]);
    for (const answer of shown('chat', ...events))
      expect(answer).toMatchObject({
        choices: [
          { message: { reasoning_details: [{ type: 'reasoning.text', text: 'so', signature: 'c2ln' }] } },
        ],
      });
    const output = [
      { type: 'reasoning', summary: [{ text: 'so' }], encrypted_content: 'signature:c2ln' },
      { type: 'message', content: [{ text: 'Hello' }] },
    ];
    for (const answer of shown('responses', ...events)) {
      expect(answer.output).toMatchObject(output);
      expect(answer.output).toHaveLength(2);
    }
    const stream = shownEvents('messages', 'responses', { events: message(...events), whole: {} });
    const official = await officialAnswer('responses', stream.map((data) => `data: ${data}\n\n`).join(''));
    expect(official.output).toMatchObject(output);
    for (const show of [shownCollected, shownStream])
      expect(show('messages', 'messages', { events: message(...events), whole: {} }).content).toMatchObject([
        { type: 'thinking', thinking: 'so', signature: 'c2ln' },
        { type: 'text', text: 'Hello' },
      ]);
  });
});
