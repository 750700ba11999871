import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { isRecord } from '#core/is-record.ts';
import { CallNumbers } from '../../api/inference/formats/call-numbers.ts';
import { chatFormat } from '../../api/inference/formats/chat-format.ts';
import { recordOf, records, textOf } from '../../api/inference/formats/values.ts';
import { AnswerCollector } from '../../api/inference/translation/answer-collector.ts';
import { ChatSource } from '../../api/inference/translation/chat-source.ts';
import { openSink } from '../../api/inference/translation/translate-answer.ts';
import { TranslatedStream } from '../../api/inference/translation/translated-stream.ts';
import { joinedPart, officialAnswer } from '../recordings/accumulators.ts';
import { sdkComplaints } from '../recordings/official-judges.ts';
import { eventsOf } from '../recordings/player.ts';
import { asAsked } from './asked-dialect.ts';
import { assembled } from './passed-events.ts';
import { CREATED_AT_S, eventOf, OWN_ID, passedStream, UPSTREAM_MODEL } from './passed-stream.ts';
import { identity, shownCollected, shownStream } from './shown-answers.ts';

/* Servers write chunks in ways that OpenAI does not document, and official clients fail at them. They can read all that passes. */

const frame = { id: 'x', object: 'chat.completion.chunk', created: 1, model: UPSTREAM_MODEL };
const choiceOf = (delta: object | null, more: object = {}) => ({
  index: 0,
  delta,
  finish_reason: null,
  ...more,
});
const chunk = (delta: object | null, more: object = {}) => ({ ...frame, choices: [choiceOf(delta, more)] });
const begin = chunk({ role: 'assistant', content: '' });
const end = chunk({}, { finish_reason: 'stop' });
const text = ['Rain', ' by', ' noon.'].map((content) => chunk({ content }));
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const counted = { ...frame, choices: [], usage };
const without = <T extends object>(value: T, name: keyof T): object => {
  const { [name]: _, ...rest } = value;
  return rest;
};
const call = (index: number, id: string, json: string) => ({
  index,
  id,
  type: 'function',
  function: { name: 'f', arguments: json },
});
const later = (index: number, json: string) => ({ index, function: { arguments: json } });

/** Streams that are as documented, each of whose chunks passes as it came. */
const documented: [string, object[]][] = [
  ['text', [begin, ...text, end]],
  ['text and usage', [begin, ...text, end, counted]],
  ['text that begins in the first chunk', [chunk({ role: 'assistant', content: 'Rain' }), end]],
  [
    'reasoning and members of a vendor',
    [begin, chunk({ reasoning_content: 'Hm.', news: [1] }), ...text, end],
  ],
  ['nulls that say nothing', [begin, chunk({ content: null, refusal: null, function_call: null }), end]],
  ['a refusal', [chunk({ role: 'assistant', refusal: '' }), chunk({ refusal: 'No.' }), end]],
  ['a list of no calls', [begin, chunk({ content: 'Rain', tool_calls: [] }), end]],
  [
    'parallel calls in pieces',
    [
      chunk({ role: 'assistant', content: null }),
      chunk({ tool_calls: [call(0, 'a', '')] }),
      chunk({ tool_calls: [later(0, '{"x":')] }),
      chunk({ tool_calls: [later(0, '1}')] }),
      chunk({ tool_calls: [call(1, 'b', '')] }),
      chunk({ tool_calls: [later(1, '{}')] }),
      chunk({}, { finish_reason: 'tool_calls' }),
    ],
  ],
  [
    'calls that take turns, and whole ones with the end',
    [
      chunk({ role: 'assistant', tool_calls: [call(0, 'a', ''), call(1, 'b', '')] }),
      chunk({ tool_calls: [later(1, '{'), later(0, '{')] }),
      chunk({ tool_calls: [later(0, '}')] }),
      chunk({ tool_calls: [later(1, '}'), call(2, 'c', '{}')] }, { finish_reason: 'tool_calls' }),
    ],
  ],
  [
    'a call of a custom tool',
    [
      begin,
      chunk({ tool_calls: [{ index: 0, id: 'a', type: 'custom', custom: { name: 'patch', input: '' } }] }),
      chunk({ tool_calls: [{ index: 0, custom: { input: '*** Begin' } }] }),
      chunk({}, { finish_reason: 'tool_calls' }),
    ],
  ],
  [
    'two choices side by side',
    [0, 1].map((index) => ({
      ...frame,
      choices: [{ index, delta: { role: 'assistant', content: `text ${index}` }, finish_reason: 'stop' }],
    })),
  ],
];

it.each(documented)('chunks as OpenAI documents them pass byte for byte: %s', async (_of, chunks) => {
  const odd = chunks.map((each) =>
    'usage' in each
      ? JSON.stringify(each)
      : JSON.stringify(each).replace('{', '{ "odd":{"n":1.0, "d":12345678901234567890},'),
  );
  const passing = odd.filter((json) => !json.includes('"usage"'));
  for (const bytesAtOnce of [1_000_000, 60])
    expect(await passedStream(odd, { bytesAtOnce })).toBe(`${passing.map(eventOf).join('')}data: [DONE]\n\n`);
});

/** Ways in which servers write the stream of a text. */
const texts: [string, object[]][] = [
  ['with an empty id', [begin, ...text, end].map((each) => ({ ...each, id: '' }))],
  ['without an id', [begin, ...text, end].map((each) => without(each, 'id'))],
  ['with an id in the first chunk alone', [begin, ...[...text, end].map((each) => ({ ...each, id: '' }))]],
  ['without object, time and model', [begin, ...text, end].map(({ id, choices }) => ({ id, choices }))],
  [
    'with a chunk that names nothing before the first',
    [{ ...frame, id: '', object: '', model: '', created: 0, choices: [], filters: [1] }, begin, ...text, end],
  ],
  [
    'with an empty role',
    [begin, ...text.map(({ choices: [each] }) => chunk({ ...each?.delta, role: '' })), end],
  ],
  [
    'with a role of null',
    [
      begin,
      ...text.map(({ choices: [each] }) => chunk({ ...each?.delta, role: null, tool_calls: null })),
      end,
    ],
  ],
  ['without any role', [...text, end]],
  [
    'with a role in every chunk, the first of which has text',
    [
      ...text.map(({ choices: [each] }) => chunk({ role: 'assistant', ...each?.delta })),
      chunk({ role: 'assistant', content: '' }, { finish_reason: 'stop' }),
    ],
  ],
  [
    'with a role in every chunk',
    [
      begin,
      ...text.map(({ choices: [each] }) => chunk({ ...each?.delta, role: 'assistant' })),
      chunk({ role: 'assistant' }, { finish_reason: 'stop' }),
    ],
  ],
  [
    'without the index of the choice',
    [begin, ...text, end].map((each) => ({
      ...each,
      choices: each.choices.map((one) => without(one, 'index')),
    })),
  ],
  [
    'without a reason of null',
    [begin, ...text]
      .map((each) => ({ ...each, choices: each.choices.map((one) => without(one, 'finish_reason')) }))
      .concat([end] as never),
  ],
  [
    'with an empty reason',
    [begin, ...text]
      .map((each) => ({ ...each, choices: each.choices.map((one) => ({ ...one, finish_reason: '' })) }))
      .concat([end] as never),
  ],
  [
    'with a reason of null that is a text',
    [begin, ...text]
      .map((each) => ({
        ...each,
        choices: each.choices.map((one) => ({ ...one, finish_reason: 'null' })),
      }))
      .concat([end] as never),
  ],
  ['with another word for the end', [begin, ...text, chunk({}, { finish_reason: 'eos' })]],
  ['without a word for the end', [begin, ...text]],
  [
    'in lists of parts',
    [begin, ...['Rain', ' by noon.'].map((each) => chunk({ content: [{ type: 'text', text: each }] })), end],
  ],
  [
    'with a chunk without a delta',
    [begin, ...text, { ...frame, choices: [{ index: 0, finish_reason: null, filter: {} }] }, end],
  ],
  ['with a delta of null', [begin, ...text, chunk(null), end]],
  [
    'with the whole message beside the delta',
    [
      begin,
      ...text.map((each) => ({
        ...each,
        choices: each.choices.map((one) => ({ ...one, message: { role: 'assistant', content: 'Rain' } })),
      })),
      end,
    ],
  ],
  [
    'with the whole message once more at the end',
    [
      begin,
      ...text,
      {
        ...frame,
        object: 'chat.completion',
        choices: [
          { index: 0, message: { role: 'assistant', content: 'Rain by noon.' }, finish_reason: 'stop' },
        ],
      },
    ],
  ],
  [
    'with the whole message behind the end',
    [
      begin,
      ...text,
      end,
      {
        ...frame,
        choices: [
          { index: 0, message: { role: 'assistant', content: 'Rain by noon.' }, finish_reason: 'stop' },
        ],
      },
    ],
  ],
  [
    'with the whole message in the place of deltas',
    [
      {
        ...frame,
        choices: [
          { index: 0, message: { role: 'assistant', content: 'Rain by noon.' }, finish_reason: 'stop' },
        ],
      },
    ],
  ],
  [
    'with signs of life that are no chunks',
    [{ type: 'ping' }, begin, {}, ...text, { type: 'ping' }, { ...frame }, end] as object[],
  ],
  [
    'with records of its own that have no choices',
    [begin, { ...frame, timings: { n: 1 } }, ...text, { ...frame, choices: {}, timings: { n: 2 } }, end],
  ],
  [
    'with a message that grows',
    ['Rain', 'Rain by', 'Rain by noon.'].map((content, at) => ({
      ...frame,
      choices: [
        { index: 0, message: { role: 'assistant', content }, finish_reason: at === 2 ? 'stop' : null },
      ],
    })),
  ],
];

describe.each(texts)('a text that a server streams %s', (_how, chunks) => {
  it.each([1_000_000, 40])(
    'is whole to the official client, in chunks of the official types (%i bytes at once)',
    async (bytesAtOnce) => {
      const shown = await passedStream([...chunks, { ...chunks.at(-1), choices: [], usage }], {
        publicModel: 'acme/m',
        showUsage: true,
        bytesAtOnce,
      });
      expect(await officialAnswer('chat', shown)).toMatchObject({
        model: 'acme/m',
        usage,
        choices: [
          { index: 0, message: { role: 'assistant', content: 'Rain by noon.' }, finish_reason: 'stop' },
        ],
      });
      for (const event of eventsOf(shown)) expect([...sdkComplaints('chat', 'event', event)]).toEqual([]);
      expect(new Set(eventsOf(shown).map(({ id }) => id)).size).toBe(1);
    },
  );
});

it('the role of an answer stands in its first chunk alone, because Python’s official client adds up all of them', async () => {
  for (const chunks of texts.map(([, each]) => each)) {
    const roles = eventsOf(await passedStream(chunks)).flatMap(({ choices }) =>
      records(choices).flatMap(({ delta }) => recordOf(delta).role ?? []),
    );
    expect(roles).toEqual(['assistant']);
  }
});

describe('an answer without an id', () => {
  it('has the id of its call throughout', async () => {
    const chunks = [begin, ...text, end, counted].map((each) => ({ ...each, id: '' }));
    const shown = eventsOf(await passedStream(chunks, { showUsage: true }));
    expect(new Set(shown.map(({ id }) => id))).toEqual(new Set([OWN_ID]));
  });

  it('keeps an id that comes after a chunk without content, in this chunk, too', async () => {
    const nameless = { ...frame, id: '', created: 0, model: '', choices: [], filters: [{ ok: true }] };
    const shown = eventsOf(await passedStream([nameless, begin, ...text, end], { publicModel: 'acme/m' }));
    expect(shown[0]).toEqual({ ...frame, model: 'acme/m', choices: [], filters: [{ ok: true }] });
    expect(new Set(shown.map(({ id }) => id))).toEqual(new Set(['x']));
  });

  it('is not waited for without end', async () => {
    const nameless = { ...without(frame, 'id'), choices: [], padding: 'x'.repeat(1_000) };
    const chunks = [...Array.from({ length: 100 }, () => nameless), begin, end];
    const shown = eventsOf(await passedStream(chunks));
    expect(shown).toHaveLength(chunks.length);
    expect(new Set(shown.map(({ id }) => id))).toEqual(new Set([OWN_ID]));
  });

  it('that gets a new one with each chunk keeps the first', async () => {
    const chunks = [begin, ...text, end, counted].map((each, at) => ({ ...each, id: `x${at}` }));
    const shown = eventsOf(await passedStream(chunks, { showUsage: true }));
    expect(new Set(shown.map(({ id }) => id))).toEqual(new Set(['x0']));
  });

  it('keeps the id of its other chunks in one of a filter that names nothing', async () => {
    const nameless = { id: '', object: '', created: 0, model: '' };
    const filter = { ...nameless, choices: [{ index: 0, finish_reason: null, filter: { end: 5 } }] };
    const shown = eventsOf(await passedStream([begin, ...text, filter, end], { publicModel: 'acme/m' }));
    expect(shown.at(-2)).toEqual({
      ...frame,
      model: 'acme/m',
      choices: [{ index: 0, delta: {}, finish_reason: null, filter: { end: 5 } }],
    });
  });

  it('has the time of its call where it has none', async () => {
    const [shown] = eventsOf(await passedStream([without(begin, 'created'), end]));
    expect(shown?.created).toBe(CREATED_AT_S);
  });
});

const translated = (to: FormatName): TranslatedStream =>
  new TranslatedStream(new ChatSource(), openSink(to, identity, asAsked));

it('an answer that says why it ends is complete when its stream closes, without counts and a mark', () => {
  const names = { upstreamModel: UPSTREAM_MODEL, publicModel: UPSTREAM_MODEL, showUsage: true };
  for (const reader of [
    chatFormat.openStream({ ...names, ownId: OWN_ID }),
    chatFormat.openAssembly(),
    translated('messages'),
    translated('responses'),
    new AnswerCollector(new ChatSource()),
  ]) {
    for (const each of [begin, ...text, end]) {
      expect(reader.isComplete()).toBe(false);
      const data = Buffer.from(JSON.stringify(each));
      if (!('passes' in reader) || reader.passes?.(data) !== true) reader.read(data, '');
      reader.text.addEvent(data);
    }
    expect(reader.isComplete()).toBe(true);
  }
});

it('an answer of which one choice has not ended is not complete', () => {
  const other = { ...frame, choices: [{ ...choiceOf({ role: 'assistant', content: 'Rain' }), index: 1 }] };
  for (const reader of [
    chatFormat.openStream({ upstreamModel: '', publicModel: '', showUsage: true, ownId: OWN_ID }),
    chatFormat.openAssembly(),
    translated('messages'),
    new AnswerCollector(new ChatSource()),
  ]) {
    for (const each of [begin, other, end]) reader.read(Buffer.from(JSON.stringify(each)), '');
    expect(reader.isComplete()).toBe(false);
  }
});

it('records without choices keep what they say, and signs of life are not shown', async () => {
  const sent = [begin, { type: 'ping' }, {}, { ...frame, timings: { n: 1.5 } }, ...text, end];
  const shown = eventsOf(await passedStream(sent));
  expect(shown).toEqual([begin, { ...frame, timings: { n: 1.5 }, choices: [] }, ...text, end]);
});

it.each<object>([
  { type: 'ping' },
  { type: 'ping', created_at: 5, cost: '0' },
  { type: 'keep-alive', choices: [] },
  { event: 'heartbeat', id: 'h1' },
  { object: 'ping', id: 'p1', model: 'x', created: 9 },
  { ping: 1_700_000_000 },
  { heartbeat: true, type: 'status' },
])('a sign of life is no part of the answer, nor of its names: %j', async (sign) => {
  const sent = [sign, begin, sign, ...text, sign, end, sign];
  expect(eventsOf(await passedStream(sent))).toEqual([begin, ...text, end]);
  const jsonOf = (chunks: readonly object[]) => assembled(chatFormat, chunks);
  expect(jsonOf(sent)).toEqual(jsonOf([begin, ...text, end]));
  for (const shown of [shownStream, shownCollected])
    expect(shown('chat', 'responses', { events: sent, whole: {} })).toMatchObject({ id: 'x' });
});

describe('the name of the model', () => {
  const versioned = [begin, ...text, end].map((each) => ({ ...each, model: 'vendor/m-2026' }));

  it.each([
    ['with the provider’s counts', [...versioned, { ...counted, model: 'vendor/m-2026' }]],
    ['with counts of a record without a name', [...versioned, without(counted, 'model')]],
    ['with the gateway’s counts', versioned],
  ])('is the same in all chunks of a provider that names a version, %s', async (_how, chunks) => {
    const shown = await passedStream(chunks, { publicModel: 'acme/m', showUsage: true });
    expect(new Set(eventsOf(shown).map(({ model }) => model))).toEqual(new Set(['vendor/m-2026']));
  });

  it('is never the provider’s own one', async () => {
    const chunks = [begin, ...text, end, without(counted, 'model')];
    const shown = await passedStream(chunks, { publicModel: 'acme/m', showUsage: true });
    expect(new Set(eventsOf(shown).map(({ model }) => model))).toEqual(new Set(['acme/m']));
  });
});

describe('what a chunk says beside its text', () => {
  const deltas = async (chunks: object[]) =>
    eventsOf(await passedStream(chunks)).flatMap(({ choices }) => records(choices).map(({ delta }) => delta));

  it('is its reasoning, where a list of parts has it', async () => {
    const thinking = [{ type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] }];
    const reference = { type: 'reference', reference_ids: [1] };
    expect(
      await deltas([
        begin,
        chunk({ content: thinking }),
        chunk({ content: [{ type: 'text', text: 'Rain' }, reference] }),
        end,
      ]),
    ).toEqual([
      { role: 'assistant', content: '' },
      { reasoning: 'Hm.' },
      { content: 'Rain', content_parts: [reference] },
      {},
    ]);
  });

  it('keeps the digits of its numbers', async () => {
    const odd =
      '{"id":"x","choices":[{"delta":{"content":"Rain"},"logprobs":{"content":[{"logprob":-1.0e-5}]}}],"n":1.50}';
    const shown = await passedStream([odd, odd]);
    expect(shown.split('"logprob":-1.0e-5').length).toBe(3);
    expect(shown.split('"n":1.50').length).toBe(3);
  });

  it('comes once, where the message at the end has it alone', async () => {
    const note = { type: 'url_citation', url_citation: { url: 'u' } };
    const message = {
      role: 'assistant',
      content: 'Rain by noon.',
      reasoning_content: 'Hm.',
      annotations: [note],
    };
    const last = { ...frame, choices: [{ index: 0, message, finish_reason: 'stop' }] };
    const shown = await deltas([begin, chunk({ reasoning: 'Hm.' }), ...text, last]);
    expect(shown.at(-1)).toEqual({ annotations: [note] });
  });
});

describe('an error', () => {
  it('in a chunk that is written otherwise is an error all the same', () => {
    const reader = chatFormat.openStream({
      upstreamModel: 'm',
      publicModel: 'm',
      showUsage: true,
      ownId: OWN_ID,
    });
    for (const bad of [
      { choices: [{ delta: {}, finish_reason: 'error' }] },
      { error: { message: 'x' } },
      { choices: [], error: { code: 1 } },
    ])
      expect(reader.read(Buffer.from(JSON.stringify(bad)), '').kind).toBe('error');
  });
});

describe('calls that end without arguments', () => {
  it.each([
    ['a first piece of nothing', [chunk({ tool_calls: [call(0, 'a', '')] })]],
    [
      'no text for them',
      [chunk({ tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f' } }] })],
    ],
    [
      'null',
      [
        chunk({
          tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: null } }],
        }),
      ],
    ],
    [
      'several pieces of nothing',
      [chunk({ tool_calls: [call(0, 'a', '')] }), chunk({ tool_calls: [later(0, '')] })],
    ],
  ])('have some that can be parsed, after %s', async (_how, chunks) => {
    const end = chunk({}, { finish_reason: 'tool_calls' });
    const { choices } = await officialAnswer('chat', await passedStream([begin, ...chunks, end]));
    expect(choices).toMatchObject([
      {
        message: { tool_calls: [call(0, 'a', '{}')].map((each) => without(each, 'index')) },
        finish_reason: 'tool_calls',
      },
    ]);
  });

  it('waits for its name within bounds', async () => {
    const pieces = Array.from({ length: 40 }, () => chunk({ tool_calls: [later(0, 'x'.repeat(4_000))] }));
    const reader = chatFormat.openStream({
      upstreamModel: 'm',
      publicModel: 'm',
      showUsage: true,
      ownId: OWN_ID,
    });
    const shown = pieces.map((piece) => {
      const read = reader.read(Buffer.from(JSON.stringify(piece)), '');
      return read.kind === 'changed' ? read.events.length : read.kind;
    });
    expect(Math.max(...shown.filter((bytes) => typeof bytes === 'number'))).toBeGreaterThan(65_536);
    expect(shown.at(-1)).toBe('plain');
  });
});

describe('a call that is written otherwise', () => {
  it('keeps its signature, wherever it stands', async () => {
    const signed = { extra_content: { google: { thought_signature: 'EjQ=' } } };
    const { index: _, ...nameless } = call(0, 'a', '{}');
    for (const pieces of [[{ ...nameless, ...signed }], [nameless, { id: 'a', ...signed }]]) {
      const chunks = pieces.map((piece) => chunk({ tool_calls: [piece] }));
      const { choices } = await officialAnswer('chat', await passedStream([begin, ...chunks, end]));
      expect(choices).toMatchObject([{ message: { tool_calls: [{ id: 'a', ...signed }] } }]);
    }
  });

  it('in one choice has an id of its own beside those of the others', async () => {
    const choices = [0, 1].map((index) => ({
      index,
      delta: { role: 'assistant', tool_calls: [{ function: { name: 'f', arguments: '{}' } }] },
      finish_reason: 'tool_calls',
    }));
    const shown = await passedStream([{ ...frame, choices }]);
    const ids = eventsOf(shown).flatMap((event) =>
      records(event.choices).flatMap(({ delta }) =>
        isRecord(delta) ? records(delta.tool_calls).map(({ id }) => id) : [],
      ),
    );
    expect(new Set(ids).size).toBe(2);
  });
});

/* Whatever mix of ways, the client of a stream reads what a caller of JSON gets, and every chunk is of the official type. */
const way = <T>(...values: T[]) => fc.constantFrom(...values);
const anyPiece = fc.record({
  index: way<unknown>(0, 0, 1, undefined, null, 2),
  id: way<unknown>('a', 'b', '', undefined, null),
  type: way<unknown>('function', '', undefined, null),
  function: fc.record({
    name: way<unknown>('f', 'f', '', undefined, null),
    arguments: way<unknown>('{"x":1}', '{"x":', '1}', '', undefined, null, { x: 1 }),
  }),
});
const anyChunk = fc.record({
  ...{ id: way<unknown>('x', '', undefined), object: way<unknown>(frame.object, '', undefined) },
  ...{ created: way<unknown>(1, 0, undefined), model: way<unknown>(frame.model, '', undefined) },
  choices: fc.array(
    fc.record({
      index: way(0),
      delta: fc.oneof(
        way<unknown>(
          {},
          undefined,
          null,
          { content: 'a' },
          { content: 'b', role: '' },
          { role: 'assistant', content: '' },
        ),
        fc.array(anyPiece, { maxLength: 2 }).map((tool_calls) => ({ tool_calls })),
        anyPiece.map((tool_calls) => ({ tool_calls, content: null })),
      ),
      finish_reason: way<unknown>(null, null, null, undefined, '', 'stop', 'tool_calls'),
    }),
    { maxLength: 1 },
  ),
});

it('whatever a server writes, the client of the stream reads the calls and the text of the JSON', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(anyChunk, { minLength: 1, maxLength: 8 }),
      way(1_000_000, 50),
      async (chunks, bytesAtOnce) => {
        const written = chunks.map((each) => JSON.stringify(each));
        const assembly = chatFormat.openAssembly();
        for (const json of written) assembly.read(Buffer.from(json), '');
        const json = assembly.answer();
        fc.pre(json !== null);
        const shown = await passedStream(written, { bytesAtOnce });
        for (const event of eventsOf(shown)) expect([...sdkComplaints('chat', 'event', event)]).toEqual([]);
        const read = joinedPart('chat', await officialAnswer('chat', shown));
        const whole = joinedPart('chat', JSON.parse(json?.toString() ?? ''));
        const said = ({ choices }: Record<string, unknown>) =>
          records(choices).map(({ message, calls }) => ({
            message,
            calls: records(calls).map(({ function: called }) => {
              const { name, arguments: json } = recordOf(called);
              return { name: textOf(name), json };
            }),
          }));
        expect(said(read)).toEqual(said(whole));
      },
    ),
    { numRuns: 300 },
  );
});

it('a stream that ends with every chunk looks at each of its calls a few times, however many there are', async () => {
  const isWaiting = vi.spyOn(CallNumbers.prototype, 'isWaiting');
  const count = 500;
  const calls = Array.from({ length: count }, (_, at) =>
    chunk({ tool_calls: [call(at, `call-${at}`, '{"x":1}')] }, { finish_reason: 'tool_calls' }),
  );
  await passedStream([begin, ...calls]);
  expect(isWaiting.mock.calls.length).toBeLessThan(10 * count);
  isWaiting.mockRestore();
});
