import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { recordOf, records } from '../../api/inference/formats/values.ts';
import { officialAnswer } from '../recordings/accumulators.ts';
import { pathOf } from '../support/path-of.ts';
import { plays } from '../support/raw-provider.ts';
import { modelOf, type ProviderKind } from './format-gateway.ts';
import { useRawFormatGateway } from './raw-format-gateway.ts';
import { FORMATS, requestIn } from './requests.ts';

/* Servers of messages and responses write blocks and items in ways that their vendors do not document, and clients fail at them. */

type Answer = Record<string, unknown>;

const raw = useRawFormatGateway();

async function post(format: FormatName, kind: ProviderKind, extra: object = {}): Promise<string> {
  const maxTokens = format === 'messages' ? { max_tokens: 100 } : {};
  const body = requestIn(format, modelOf[kind], { ...maxTokens, ...extra });
  const agent = await raw.gateway.newAgent({ creditUsd: '1.00' });
  return (await raw.gateway.post(body, { path: pathOf(format), agent })).text();
}

const streamOf = (events: readonly object[]): string =>
  events.map((event) => `event: ${recordOf(event).type}\ndata: ${JSON.stringify(event)}\n\n`).join('');

/** As the caller of a whole answer and of a stream gets it, whichever of the two the provider sends. */
async function allAnswers(
  format: FormatName,
  kind: ProviderKind,
  sent: { whole: object; events: readonly object[] },
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (const play of [plays(JSON.stringify(sent.whole), 'application/json'), plays(streamOf(sent.events))]) {
    raw.provider.answers = play;
    answers.push(JSON.parse(await post(format, kind)));
    answers.push(await officialAnswer(format, await post(format, kind, { stream: true })));
  }
  return answers;
}

const responseOf = (output: readonly object[], status = 'completed') => ({
  ...{ id: 'resp_1', object: 'response', created_at: 1, status, model: 'm', output },
  usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
});

/** Returns the items of an answer as each kind of caller gets them. */
async function items(...sent: object[]): Promise<Record<string, unknown>[][]> {
  const events = [
    { type: 'response.created', sequence_number: 0, response: responseOf([], 'in_progress') },
    ...sent.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item: { ...item, status: 'in_progress' } },
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: responseOf(sent) },
  ];
  const answers = await allAnswers('responses', 'all formats', { whole: responseOf(sent), events });
  return answers.map(({ output }) => records(output));
}

const functionCall = { type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'f', status: 'completed' };
const says = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' };
const textPart = (text: string) => ({ type: 'output_text', text, annotations: [] });

describe('an item of a response', () => {
  it.each<[string, object, string]>([
    ['an object', { arguments: { a: 1 } }, '{"a":1}'],
    ['an empty text', { arguments: '' }, '{}'],
    ['null', { arguments: null }, '{}'],
    ['the word for nothing in Python', { arguments: 'None' }, '{}'],
    ['nothing', {}, '{}'],
  ])('that is a call has JSON text as arguments where its server writes %s', async (_what, given, wanted) => {
    for (const [item] of await items({ ...functionCall, ...given })) expect(item?.arguments).toBe(wanted);
  });

  it('that is a call keeps the digits of numbers in an object', async () => {
    raw.provider.answers = plays(
      JSON.stringify(responseOf([{ ...functionCall, arguments: { id: 1 } }])).replace(
        '{"id":1}',
        '{"id":90071992547409931}',
      ),
      'application/json',
    );
    expect(JSON.parse(await post('responses', 'all formats')).output[0].arguments).toBe(
      '{"id":90071992547409931}',
    );
  });

  it('that is a call has a name for its result where its server writes none', async () => {
    const { call_id: _, ...unnamed } = { ...functionCall, arguments: '{}' };
    for (const [item] of await items(unnamed)) expect(item?.call_id).toBe('fc_1');
  });

  it('that is a call shares its name with no other, as where a server takes the name of the function', async () => {
    const same = { ...functionCall, call_id: 'f', arguments: '{}' };
    for (const shown of await items({ ...same, id: 'fc_1' }, { ...same, id: 'fc_2', arguments: '{"a":1}' })) {
      expect(new Set(shown.map(({ call_id }) => call_id)).size).toBe(2);
      expect(shown.map((item) => item.arguments)).toEqual(['{}', '{"a":1}']);
    }
  });

  it.each<[string, unknown]>([
    ['a text', 'Hi'],
    ['one part', { type: 'output_text', text: 'Hi' }],
    ['a list of texts', ['Hi']],
    ['parts of chats', [{ type: 'text', text: 'Hi' }]],
    ['a part without its list of sources', [{ type: 'output_text', text: 'Hi' }]],
  ])('that is a message has a list of parts where its server writes %s', async (_what, content) => {
    for (const [item] of await items({ ...says, content })) expect(item?.content).toEqual([textPart('Hi')]);
  });

  it('that is reasoning has lists of parts where its server writes texts', async () => {
    const thought = { type: 'reasoning', id: 'rs_1', summary: 'Short.', content: 'At length.' };
    for (const [item] of await items(thought, { ...says, content: [textPart('Hi')] }))
      expect(item).toMatchObject({
        summary: [{ type: 'summary_text', text: 'Short.' }],
        content: [{ type: 'reasoning_text', text: 'At length.' }],
      });
  });

  it('has an id, which begins by its type', async () => {
    for (const shown of await items(
      { ...says, id: undefined, content: [textPart('Hi')] },
      { ...functionCall, id: '', arguments: '{}' },
    ))
      expect(shown.map(({ id }) => String(id).slice(0, 3))).toEqual(['msg', 'fc_']);
  });

  it('that is a custom tool’s call has a text as input', async () => {
    const custom = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c1', name: 'f', input: null };
    for (const [item] of await items(custom)) expect(item?.input).toBe('');
  });

  it.each<[string, unknown]>([
    ['a text', 'Hi'],
    ['one item', { ...says, content: [textPart('Hi')] }],
  ])('stands in a list where its server writes %s in the place of the list', async (_what, output) => {
    raw.provider.answers = plays(JSON.stringify({ ...responseOf([]), output }), 'application/json');
    expect(JSON.parse(await post('responses', 'all formats'))).toMatchObject({
      output: [{ type: 'message', content: [{ text: 'Hi' }] }],
      output_text: 'Hi',
    });
  });

  it('that ends without what its pieces have said has it', async () => {
    const at = { item_id: 'msg_1', output_index: 0, content_index: 0 };
    const hollow = { ...says, content: [] };
    const ofCall = { item_id: 'fc_1', output_index: 1 };
    const events = [
      { type: 'response.created', response: responseOf([], 'in_progress') },
      { type: 'response.output_item.added', output_index: 0, item: { ...hollow, status: 'in_progress' } },
      { type: 'response.content_part.added', ...at, part: textPart('') },
      { type: 'response.output_text.delta', ...at, delta: 'Hi' },
      { type: 'response.output_item.done', output_index: 0, item: hollow },
      { type: 'response.output_item.added', output_index: 1, item: { ...functionCall, arguments: '' } },
      { type: 'response.function_call_arguments.delta', ...ofCall, delta: '{"a":1}' },
      { type: 'response.output_item.done', output_index: 1, item: { ...functionCall, arguments: '' } },
      { type: 'response.completed', response: responseOf([]) },
    ];
    raw.provider.answers = plays(streamOf(events));
    const wanted = [{ content: [{ text: 'Hi' }] }, { arguments: '{"a":1}' }];
    expect(JSON.parse(await post('responses', 'all formats')).output).toMatchObject(wanted);
    const streamed = await post('responses', 'all formats', { stream: true });
    expect((await officialAnswer('responses', streamed)).output).toMatchObject(wanted);
  });

  it('whose pieces never come is said in pieces before it ends', async () => {
    const item = { ...says, content: 'Hi' };
    const events = [
      { type: 'response.created', response: responseOf([], 'in_progress') },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, content: [] } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: responseOf([item]) },
    ];
    raw.provider.answers = plays(streamOf(events));
    expect(await post('responses', 'all formats', { stream: true })).toContain('"delta":"Hi"');
  });
});

const messageOf = (content: unknown, stop_reason: string | null = 'tool_use') => ({
  ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'c', content, stop_reason },
  stop_sequence: null,
  usage: { input_tokens: 10, output_tokens: 5 },
});

const eventsOfBlocks = (...blocks: object[]): object[] => [
  { type: 'message_start', message: messageOf([], null) },
  ...blocks.flatMap((content_block, index) => [
    { type: 'content_block_start', index, content_block },
    { type: 'content_block_stop', index },
  ]),
  ...endsOfMessage,
];
const endsOfMessage = [
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 5 },
  },
  { type: 'message_stop' },
];

/** The calls of an answer, in the words of messages. */
function callsIn(format: FormatName, answer: Answer): { id: unknown; input: unknown }[] {
  switch (format) {
    case 'messages':
      return records(answer.content).map(({ id, input }) => ({ id, input }));
    case 'responses':
      return records(answer.output).map((item) => ({
        id: item.call_id,
        input: JSON.parse(String(item.arguments)),
      }));
    case 'chat':
      return records(recordOf(records(answer.choices)[0]?.message).tool_calls).map((call) => ({
        id: call.id,
        input: JSON.parse(String(recordOf(call.function).arguments)),
      }));
  }
}

describe.each(FORMATS)('a block of a message, asked in %s,', (format) => {
  const calls = async (...blocks: object[]) =>
    (
      await allAnswers(format, 'messages only', {
        whole: messageOf(blocks),
        events: eventsOfBlocks(...blocks),
      })
    ).map((answer) => callsIn(format, answer));
  const toolUse = { type: 'tool_use', id: 't', name: 'f', input: {} };

  it.each<[string, unknown, object]>([
    ['null', null, {}],
    ['nothing', undefined, {}],
    ['an empty text', '', {}],
    ['an empty list', [], {}],
    ['its JSON text', '{"a":"1"}', { a: '1' }],
  ])('that is a call has an object as input where its server writes %s', async (_what, input, wanted) => {
    for (const [call] of await calls({ ...toolUse, input })) expect(call?.input).toEqual(wanted);
  });

  it('that is a call has a name for its result where its server writes none', async () => {
    const { id: _, ...unnamed } = toolUse;
    for (const [call] of await calls(unnamed, { ...toolUse, id: null })) expect(call?.id).toMatch(/^call_/);
  });

  it('that is a call shares its name with no other', async () => {
    for (const shown of await calls(toolUse, { ...toolUse, name: 'g' }))
      expect(new Set(shown.map(({ id }) => id)).size).toBe(2);
  });

  it('that is a call has the input whose pieces are objects, with all digits', async () => {
    const events = [
      { type: 'message_start', message: messageOf([], null) },
      { type: 'content_block_start', index: 0, content_block: toolUse },
      { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: { a: 7 } } },
      { type: 'content_block_stop', index: 0 },
      ...endsOfMessage,
    ];
    raw.provider.answers = plays(streamOf(events).replace('{"a":7}', '{"a":90071992547409931}'));
    for (const text of [
      await post(format, 'messages only'),
      await post(format, 'messages only', { stream: true }),
    ])
      expect(text).toMatch(/\\?"a\\?":\s?90071992547409931/);
  });

  it.each<[string, unknown]>([
    ['a text', 'Hello'],
    ['one block', { type: 'text', text: 'Hello' }],
    ['a list of texts', ['Hello']],
  ])('stands in a list where its server writes %s in the place of the list', async (_what, content) => {
    raw.provider.answers = plays(JSON.stringify(messageOf(content, 'end_turn')), 'application/json');
    expect(await post(format, 'messages only')).toContain('"Hello"');
    expect(await post(format, 'messages only', { stream: true })).toContain('"Hello"');
  });
});
