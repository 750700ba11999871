import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { readJsonObject } from '../../api/inference/json/json-object.ts';
import { relayEvents } from './relay-stream.ts';

/* A call without usage pays for the text that its caller is shown, whatever shape its server gives it. */

type Event = Record<string, unknown>;

/** Stands in each text, and nowhere else. */
const MARK = 'Rain ';
const text = fc.integer({ min: 1, max: 4 }).map((times) => MARK.repeat(times));
const type = fc.constantFrom(
  'text',
  'output_text',
  'refusal',
  'thinking',
  'reasoning',
  'json',
  'foo',
  7,
  null,
);
const record = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.record(
    { type, text: value, content: value, refusal: value, thinking: value, other: fc.constant(1) },
    { requiredKeys: [] },
  );
const { said } = fc.letrec<{ said: unknown }>((tie) => ({
  said: fc.oneof(
    { maxDepth: 3 },
    text,
    fc.constantFrom(null, '', 1),
    record(tie('said')),
    fc.array(fc.oneof(record(tie('said'))), { maxLength: 3 }),
  ),
}));

const chatMessage = fc.record(
  {
    content: said,
    refusal: said,
    reasoning: said,
    reasoning_content: said,
    thinking: said,
    reasoning_details: said,
    text: said,
    thoughts: said,
    audio: fc.record({ id: fc.constant('a'), transcript: text }),
    tool_calls: fc.array(
      fc.record(
        {
          ...{ id: fc.constantFrom('a', 'b'), type: fc.constant('function') },
          function: fc.record({ name: fc.constant('f'), arguments: fc.oneof(text, fc.array(text)) }),
          ...{ name: fc.constant('f'), arguments: text },
        },
        { requiredKeys: ['id', 'type'] },
      ),
      { maxLength: 1 },
    ),
    function_call: fc.record({ name: fc.constant('f'), arguments: text }),
  },
  { requiredKeys: [] },
);
const legacy = fc.record({ text, content: said, reasoning_content: said }, { requiredKeys: [] });
const chatFrame = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
const chat = {
  stream: fc.array(fc.tuple(chatMessage, legacy), { minLength: 1, maxLength: 4 }).map((deltas): Event[] =>
    [...deltas, [{}, { finish_reason: 'stop' }] as const].map(([delta, more]) => ({
      ...chatFrame,
      choices: [{ index: 0, delta, finish_reason: null, ...more }],
    })),
  ),
  whole: fc.tuple(chatMessage, legacy).map(
    ([message, more]): Event => ({
      ...chatFrame,
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop', ...more }],
    }),
  ),
};

const block = fc.record(
  {
    type: fc.constantFrom('text', 'thinking', 'reasoning', 'compaction', 'foo', null),
    text: said,
    thinking: said,
    content: said,
  },
  { requiredKeys: ['type'] },
);
const message = { id: 'm', type: 'message', role: 'assistant', model: 'm' };
const messages = {
  stream: fc
    .tuple(
      fc.array(fc.tuple(block, block, fc.option(block)), { minLength: 1, maxLength: 3 }),
      said,
      fc.option(fc.array(block)),
    )
    .map(([blocks, last, repeated]): Event[] => [
      { type: 'message_start', message: { ...message, content: [] } },
      ...blocks.flatMap(([content_block, delta, ended], index) => [
        { type: 'content_block_start', index, content_block },
        { type: 'content_block_delta', index, delta: { ...delta, type: `${String(delta.type)}_delta` } },
        { type: 'content_block_stop', index, ...(ended === null ? {} : { content_block: ended }) },
      ]),
      { type: 'message_delta', delta: { stop_reason: 'end_turn', text: last } },
      { type: 'message_stop', ...(repeated === null ? {} : { message: { ...message, content: repeated } }) },
    ]),
  whole: fc
    .tuple(fc.oneof(fc.array(block), said), said)
    .map(([content, beside]): Event => ({ ...message, content, text: beside })),
};

const item = fc.record(
  {
    ...{ type: fc.constantFrom('message', 'reasoning', 'foo'), id: fc.constantFrom('i', 'j') },
    ...{ content: said, summary: said, text: said, revised_prompt: text },
  },
  { requiredKeys: ['type'] },
);
const response = { id: 'r', object: 'response', model: 'm', status: 'completed' };
const place = { item_id: 'i', output_index: 0, content_index: 0 };
const piece = fc.oneof(
  fc
    .constantFrom(
      'output_text',
      'refusal',
      'reasoning_text',
      'reasoning_summary_text',
      'audio.transcript',
      'foo',
    )
    .chain((name) =>
      fc.oneof(
        said.map((delta): Event => ({ type: `response.${name}.delta`, ...place, delta })),
        text.map((whole): Event => ({ type: `response.${name}.done`, ...place, text: whole })),
      ),
    ),
  fc
    .tuple(fc.constantFrom('added', 'done'), item)
    .map(([word, value]): Event => ({ type: `response.output_item.${word}`, output_index: 0, item: value })),
  fc.tuple(fc.constantFrom('added', 'done'), text).map(
    ([word, whole]): Event => ({
      type: `response.content_part.${word}`,
      ...place,
      part: { type: 'output_text', text: whole, annotations: [] },
    }),
  ),
);
const responses = {
  stream: fc
    .tuple(fc.array(piece, { maxLength: 4 }), fc.array(item, { maxLength: 2 }), fc.option(text))
    .map(([pieces, output, joined]): Event[] => [
      { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
      ...pieces,
      { type: 'response.completed', response: { ...response, output, output_text: joined } },
    ]),
  whole: fc
    .tuple(fc.oneof(fc.array(item), item, text), fc.option(text))
    .map(([output, joined]): Event => ({ ...response, output, output_text: joined })),
};

const markCount = (shown: string): number => shown.split(MARK).length - 1;

describe.each<[FormatName, { stream: fc.Arbitrary<Event[]>; whole: fc.Arbitrary<Event> }]>([
  ['chat', chat],
  ['messages', messages],
  ['responses', responses],
])('a call of %s whose provider reports no usage', (format, { stream, whole }) => {
  it('counts text if its stream shows text, and never more than came', async () => {
    await fc.assert(
      fc.asyncProperty(stream, async (events) => {
        const { shown, countedBytes } = await relayEvents(format, events);
        if (markCount(shown) > 0) expect(countedBytes).toBeGreaterThan(0);
        expect(countedBytes).toBeLessThanOrEqual(Buffer.byteLength(JSON.stringify(events)));
      }),
      { numRuns: 300 },
    );
  });

  it('counts text if its whole answer shows text', () => {
    fc.assert(
      fc.property(whole, (answer) => {
        const json = JSON.stringify(answer);
        const read = readJsonObject(Buffer.from(json));
        if (typeof read === 'string') throw new Error(read);
        const reading = callFormats[format].readAnswer(read.object, read.value);
        if (reading.kind !== 'answer') return;
        const shown = reading.answer.bytes.toString();
        if (markCount(shown) > 0) expect(reading.deliveredTokens).toBeGreaterThan(0);
        expect(reading.deliveredTokens).toBeLessThanOrEqual(Math.ceil(json.length / 4));
      }),
      { numRuns: 300 },
    );
  });
});

describe('an answer of responses that is cut, or whose last event has nothing of it', () => {
  const said = MARK.repeat(20);
  const call = (type: string, members: object): Event => ({ ...members, type, id: 'i', call_id: 'c' });
  const added = (value: object): Event => ({
    type: 'response.output_item.added',
    output_index: 0,
    item: value,
  });
  const part = { type: 'output_text', text: said, annotations: [] };
  it.each<[string, Event]>([
    [
      'in the response as it begins',
      {
        type: 'response.in_progress',
        response: { ...response, output: [{ type: 'message', content: [part] }] },
      },
    ],
    ['in the end of a text', { type: 'response.output_text.done', ...place, text: said }],
    ['in the end of a part', { type: 'response.content_part.done', ...place, part }],
    ['in the beginning of an item', added({ type: 'message', id: 'i', content: [part] })],
    [
      'in a piece of a patch',
      { type: 'response.apply_patch_call_operation_diff.delta', ...place, delta: said },
    ],
    [
      'in the end of a patch',
      { type: 'response.apply_patch_call_operation_diff.done', ...place, diff: said },
    ],
    ['in a piece of a command', { type: 'response.shell_call_command.delta', ...place, delta: said }],
    ['in the end of a command', { type: 'response.shell_call_command.done', ...place, command: said }],
    [
      'in the item of a patch',
      added(call('apply_patch_call', { operation: { type: 'create_file', path: 'a', diff: said } })),
    ],
    ['in the item of a shell', added(call('shell_call', { action: { commands: [said] } }))],
    [
      'in the item of a local shell',
      added(call('local_shell_call', { action: { type: 'exec', command: [said] } })),
    ],
    ['in the action of a browser', added(call('computer_call', { action: { type: 'type', text: said } }))],
    [
      'in the actions of a browser',
      added(call('computer_call', { actions: [{ type: 'type', text: said }] })),
    ],
    [
      'in a search',
      added(call('web_search_call', { action: { type: 'search', query: said, queries: [said] } })),
    ],
    [
      'in a search of several',
      added(call('web_search_call', { action: { type: 'search', queries: [said] } })),
    ],
    ['in a search for files', added(call('file_search_call', { queries: [said] }))],
  ])('counts what it shows %s', async (_where, event) => {
    const begun = { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } };
    const end = { type: 'response.completed', response: { ...response, output: [] } };
    for (const events of [[event], [begun, event], [begun, event, end]]) {
      const { countedBytes } = await relayEvents('responses', events);
      expect(countedBytes).toBeGreaterThanOrEqual(said.length);
      expect(countedBytes).toBeLessThan(2 * said.length);
    }
  });

  it('does not count the pages that a search has found', async () => {
    const sources = [{ type: 'url', url: `https://example.com/${'a'.repeat(2_000)}` }];
    const { countedBytes } = await relayEvents('responses', [
      added(call('web_search_call', { action: { type: 'search', query: said, sources } })),
    ]);
    expect(countedBytes).toBeLessThan(2 * said.length);
  });
});
