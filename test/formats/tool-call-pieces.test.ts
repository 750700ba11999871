import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeCallId } from '../../api/inference/formats/call-numbers.ts';
import { chatFormat } from '../../api/inference/formats/chat-format.ts';
import { messagesFormat } from '../../api/inference/formats/messages-format.ts';
import { newComparedText } from '../../api/inference/price/call-arguments.ts';
import { SnapshotText } from '../../api/inference/price/snapshot-text.ts';
import { AnswerCollector } from '../../api/inference/translation/answer-collector.ts';
import { ChatSource } from '../../api/inference/translation/chat-source.ts';
import { customInput } from '../../api/inference/translation/custom-tools.ts';
import { MessagesSource } from '../../api/inference/translation/messages-source.ts';
import { writeAnswer } from '../../api/inference/translation/translate-answer.ts';
import { officialAnswer } from '../recordings/accumulators.ts';
import { shownFor } from './ask.ts';
import { asAsked } from './asked-dialect.ts';
import { assembled } from './passed-events.ts';
import { passedStream } from './passed-stream.ts';
import { shownCollected, shownStream } from './shown-answers.ts';

interface Called {
  id: string;
  name: string;
  arguments: string;
}

interface Case {
  who: string;
  pieces: object[][];
  calls: Called[];
}

const piece = (
  index: number | null,
  id: string | null,
  name: string | null,
  json: unknown = null,
): object => ({
  ...(index === null ? {} : { index }),
  ...(id === null ? {} : { id, type: 'function' }),
  function: { ...(name === null ? {} : { name }), ...(json === null ? {} : { arguments: json }) },
});
const called = (id: string, name: string, json: string): Called => ({ id, name, arguments: json });

/** The pieces of calls as servers send them, one list a chunk. */
const cases: Case[] = [
  {
    who: 'makes up an id for each piece, and ends with a piece of nothing',
    pieces: [[piece(0, 't1', 'get')], [piece(0, 't2', null, '{"a":1}')], [piece(0, 't3', null, '')]],
    calls: [called('t1', 'get', '{"a":1}')],
  },
  {
    who: 'gives all calls one number and one id, and begins the next behind a line end',
    pieces: [[piece(0, 'f', 'f', '{"x":1}')], [piece(0, 'f', 'f', '\n {"x":2}')]],
    calls: [called('f', 'f', '{"x":1}'), called(madeCallId('x', 1), 'f', '\n {"x":2}')],
  },
  {
    who: 'begins with a piece of nothing under a number of its own',
    pieces: [[piece(0, 't0', null, '')], [piece(1, 'a', 'f', '{"x":')], [piece(1, null, null, '1}')]],
    calls: [called('a', 'f', '{"x":1}')],
  },
  {
    who: 'numbers parallel calls, and sends each in pieces',
    pieces: [
      [piece(0, 'a', 'f', '')],
      [piece(0, null, null, '{"x":')],
      [piece(1, 'b', 'g', '')],
      [piece(0, null, null, '1}')],
      [piece(1, null, null, '{}')],
    ],
    calls: [called('a', 'f', '{"x":1}'), called('b', 'g', '{}')],
  },
  {
    who: 'gives all calls one number',
    pieces: [[piece(0, 'a', 'write', '{"p":"a.py"}')], [piece(0, 'b', 'write', '{"p":"b.py"}')]],
    calls: [called('a', 'write', '{"p":"a.py"}'), called('b', 'write', '{"p":"b.py"}')],
  },
  {
    who: 'gives all calls one number, and interleaves their pieces',
    pieces: [
      [piece(0, 'a', 'f', '{"x":')],
      [piece(0, 'b', 'f', '{"x":')],
      [piece(0, 'a', null, '1}')],
      [piece(0, 'b', null, '2}')],
    ],
    calls: [called('a', 'f', '{"x":1}'), called('b', 'f', '{"x":2}')],
  },
  {
    who: 'gives all calls one number, without arguments',
    pieces: [[piece(0, 'a', 'f', '')], [piece(0, 'b', 'g', '')]],
    calls: [called('a', 'f', '{}'), called('b', 'g', '{}')],
  },
  {
    who: 'numbers no call',
    pieces: [
      [piece(null, 'a', 'f', '{"x":')],
      [piece(null, null, null, '1}')],
      [piece(null, 'b', 'f', '{"x":')],
      [piece(null, null, null, '2}')],
    ],
    calls: [called('a', 'f', '{"x":1}'), called('b', 'f', '{"x":2}')],
  },
  {
    who: 'neither numbers nor names calls, and sends each whole',
    pieces: [
      [piece(null, null, 'f', '{"x":1}'), piece(null, null, 'f', '{"x":2}')],
      [piece(null, null, 'g', '{}')],
    ],
    calls: [
      called(madeCallId('x', 0), 'f', '{"x":1}'),
      called(madeCallId('x', 1), 'f', '{"x":2}'),
      called(madeCallId('x', 2), 'g', '{}'),
    ],
  },
  {
    who: 'gives one number and no ids, and sends each whole',
    pieces: [[piece(0, null, 'f', '{"x":1}')], [piece(0, null, 'f', '{"x":2}')]],
    calls: [called(madeCallId('x', 0), 'f', '{"x":1}'), called(madeCallId('x', 1), 'f', '{"x":2}')],
  },
  {
    who: 'makes up an id for each piece',
    pieces: [[piece(0, 'r1', 'f')], [piece(0, 'r2', null, '{"x":')], [piece(0, 'r3', null, '1}')]],
    calls: [called('r1', 'f', '{"x":1}')],
  },
  {
    who: 'repeats the id and the name in each piece',
    pieces: [[piece(0, 'a', 'f', '{"x":')], [piece(0, 'a', 'f', '1}')]],
    calls: [called('a', 'f', '{"x":1}')],
  },
  {
    who: 'sends later pieces with empty ids and names',
    pieces: [[piece(0, 'a', 'weather')], [piece(0, '', '', '{"city":')], [piece(0, '', '', '"Rome"}')]],
    calls: [called('a', 'weather', '{"city":"Rome"}')],
  },
  {
    who: 'sends later pieces without index, id and name',
    pieces: [[piece(0, 'a', 'f', '{"x":')], [piece(null, null, null, '1}')]],
    calls: [called('a', 'f', '{"x":1}')],
  },
  {
    who: 'sends the name after the id',
    pieces: [[piece(0, 'a', null)], [piece(0, null, 'f')], [piece(0, null, null, '{"x":1}')]],
    calls: [called('a', 'f', '{"x":1}')],
  },
  {
    who: 'sends the id after the name',
    pieces: [[piece(0, null, 'f', '')], [piece(0, 'a', null, '{"x":1}')]],
    calls: [called('a', 'f', '{"x":1}')],
  },
  {
    who: 'sends arguments before the name',
    pieces: [[piece(0, 'a', null, '{"x":')], [piece(0, null, 'f', '1}')]],
    calls: [called('a', 'f', '{"x":1}')],
  },
  {
    who: 'sends arguments as an object',
    pieces: [[piece(0, 'a', 'f', { x: 1, y: [null] })]],
    calls: [called('a', 'f', '{"x":1,"y":[null]}')],
  },
  {
    who: 'sends no arguments',
    pieces: [[piece(0, 'a', 'f')]],
    calls: [called('a', 'f', '{}')],
  },
  {
    who: 'gives all calls one id, and numbers them',
    pieces: [
      [piece(0, 'same', 'f', '{"x":')],
      [piece(0, 'same', null, '1}')],
      [piece(1, 'same', 'g', '{"y":')],
      [piece(1, 'same', null, '2}')],
      [piece(0, 'same', null, ' ')],
    ],
    calls: [called('same', 'f', '{"x":1} '), called(madeCallId('x', 1), 'g', '{"y":2}')],
  },
  {
    who: 'gives all calls one id, and sends them in one chunk',
    pieces: [[piece(0, 'f', 'f', '{"x":1}'), piece(1, 'f', 'f', '{"x":2}')]],
    calls: [called('f', 'f', '{"x":1}'), called(madeCallId('x', 1), 'f', '{"x":2}')],
  },
  {
    who: 'gives all calls one id and one number, and sends each whole',
    pieces: [[piece(0, 'f', 'f', '{"x":1}')], [piece(0, 'f', 'f', '{"x":2}')]],
    calls: [called('f', 'f', '{"x":1}'), called(madeCallId('x', 1), 'f', '{"x":2}')],
  },
  {
    who: 'gives all calls one id and no number, and sends each in pieces',
    pieces: [
      [piece(null, 'f', 'f', '{"x":1}')],
      [piece(null, 'f', 'f', '{"x":')],
      [piece(null, 'f', null, '2}')],
    ],
    calls: [called('f', 'f', '{"x":1}'), called(madeCallId('x', 1), 'f', '{"x":2}')],
  },
  {
    who: 'numbers later pieces on, and repeats the id',
    pieces: [[piece(0, 'a', 'f', '')], [piece(1, 'a', null, '{"x":')], [piece(2, 'a', null, '1}')]],
    calls: [called('a', 'f', '{"x":1}')],
  },
  {
    who: 'repeats id and name, with pieces that end and begin as objects do inside a text',
    pieces: [[piece(0, 'a', 'f', '{"code":"if (x) {}')], [piece(0, 'a', 'f', '{}"}')]],
    calls: [called('a', 'f', '{"code":"if (x) {}{}"}')],
  },
  {
    who: 'goes back to an earlier call by its id, under the one number of all',
    pieces: [[piece(0, 'a', 'f', '{"x":')], [piece(0, 'b', 'g', '{}')], [piece(0, 'a', 'f', '1}')]],
    calls: [called('a', 'f', '{"x":1}'), called('b', 'g', '{}')],
  },
  {
    who: 'begins a call under the number of the one before, and numbers its arguments on',
    pieces: [
      [piece(0, 'a', 'f', '{"x":1}')],
      [piece(0, 'b', 'g', '')],
      [piece(1, null, null, '{"y":')],
      [piece(1, null, null, '2}')],
    ],
    calls: [called('a', 'f', '{"x":1}'), called('b', 'g', '{"y":2}')],
  },
  {
    who: 'numbers by words',
    pieces: [
      [{ ...piece(null, 'a', 'f', '{"x":'), index: 'first' }],
      [{ ...piece(null, null, null, '1}'), index: 'first' }],
    ],
    calls: [called('a', 'f', '{"x":1}')],
  },
  {
    who: 'sends all of the arguments so far in each piece',
    pieces: [
      [piece(0, 'a', 'f', '')],
      [piece(0, null, null, '{"to')],
      [piece(0, null, null, '{"town":"Os')],
      [piece(0, null, null, '{"town":"Oslo"}')],
    ],
    calls: [called('a', 'f', '{"town":"Oslo"}')],
  },
  {
    who: 'sends all of the arguments so far in each piece, and cuts them behind a colon',
    pieces: [[piece(0, 'a', 'f', '{"x":')], [piece(0, 'a', 'f', '{"x":1}')]],
    calls: [called('a', 'f', '{"x":1}')],
  },
  {
    who: 'sends all of the arguments so far of parallel calls under one number without ids',
    pieces: [
      [piece(0, null, 'f', '{"x":')],
      [piece(0, null, 'f', '{"x":1}')],
      [piece(0, null, 'f', '{"x":')],
      [piece(0, null, 'f', '{"x":2}')],
    ],
    calls: [called(madeCallId('x', 0), 'f', '{"x":1}'), called(madeCallId('x', 1), 'f', '{"x":2}')],
  },
  {
    who: 'sends the whole arguments twice',
    pieces: [[piece(0, 'a', 'f', '')], [piece(0, null, null, '{"x":1}')], [piece(0, null, null, '{"x":1}')]],
    calls: [called('a', 'f', '{"x":1}')],
  },
  {
    who: 'sends the pieces of the arguments twice',
    pieces: [
      [piece(0, 'a', 'f', '')],
      ...['{"x":', '1}', '{"x":', '1}'].map((json) => [piece(0, null, null, json)]),
    ],
    calls: [called('a', 'f', '{"x":1}')],
  },
  {
    who: 'sends an empty object before the arguments',
    pieces: [
      [piece(0, 'a', 'f', '{}')],
      [piece(0, null, null, '{"x":')],
      [piece(0, null, null, '1}')],
      [piece(1, 'b', 'g', '{}')],
      [piece(2, 'c', 'h', { x: 1 })],
    ],
    calls: [called('a', 'f', '{"x":1}'), called('b', 'g', '{}'), called('c', 'h', '{"x":1}')],
  },
  {
    who: 'sends an empty object before the arguments, and the id and the name with both',
    pieces: [[piece(0, 'a', 'f', '{}')], [piece(0, 'a', 'f', '{"x":1}')]],
    calls: [called('a', 'f', '{"x":1}')],
  },
  {
    who: 'repeats each call at the end, printed in another way',
    pieces: [
      [piece(0, 'a', 'f', '{"x":')],
      [piece(0, 'a', null, '1}')],
      [piece(1, 'b', 'g', '{"y":"\u00f8"}')],
      [piece(0, 'a', 'f', '{"x": 1}'), piece(1, 'b', 'g', JSON.stringify('{"y": "\u00f8"}'))],
    ],
    calls: [called('a', 'f', '{"x":1}'), called('b', 'g', '{"y":"\u00f8"}')],
  },
  {
    who: 'repeats each call at the end, without ids or without numbers',
    pieces: [
      [piece(0, 'a', 'f', '{"x":1}')],
      [piece(1, 'b', 'g', '{"y":2}')],
      [piece(0, null, 'f', '{"x":1}')],
      [piece(null, 'b', 'g', '{"y":2}')],
    ],
    calls: [called('a', 'f', '{"x":1}'), called('b', 'g', '{"y":2}')],
  },
  {
    who: 'calls the same twice, under the name of the function as the id, or under none',
    pieces: [
      [piece(0, 'f', 'f', '{"x":1}')],
      [piece(0, 'f', 'f', '{"x":1}')],
      [piece(1, null, 'g', '{}')],
      [piece(1, null, 'g', '{}')],
    ],
    calls: [
      called('f', 'f', '{"x":1}'),
      called(madeCallId('x', 1), 'f', '{"x":1}'),
      called(madeCallId('x', 2), 'g', '{}'),
      called(madeCallId('x', 3), 'g', '{}'),
    ],
  },
  {
    who: 'says in a word that a call has no arguments',
    pieces: [
      [piece(0, 'a', 'f', 'null')],
      [piece(1, 'b', 'g', '')],
      [piece(1, null, null, 'null')],
      [piece(2, 'c', 'h', [])],
      [piece(3, 'd', 'k', '{"x":')],
      [piece(3, null, null, 'null')],
      [piece(3, null, null, '}')],
    ],
    calls: [
      called('a', 'f', '{}'),
      called('b', 'g', '{}'),
      called('c', 'h', '{}'),
      called('d', 'k', '{"x":null}'),
    ],
  },
  {
    who: 'goes on with a call under another number, and repeats its id and its name',
    pieces: [[piece(0, 'a', 'f', '{"x":')], [piece(1, 'a', 'f', '1}')], [piece(2, 'b', 'g', '{}')]],
    calls: [called('a', 'f', '{"x":1}'), called('b', 'g', '{}')],
  },
  {
    who: 'begins a call again under another number, with its arguments',
    pieces: [[piece(0, 'a', 'f', '')], [piece(1, 'a', 'f', '{"x":')], [piece(1, null, null, '1}')]],
    calls: [called('a', 'f', '{"x":1}')],
  },
  {
    who: 'repeats a call under another number',
    pieces: [[piece(0, 'a', 'f', '{"x":1}')], [piece(1, 'a', 'f', '{"x": 1}')]],
    calls: [called('a', 'f', '{"x":1}')],
  },
  {
    who: 'sends all of the arguments so far, each time under another number',
    pieces: [[piece(0, 'a', 'f', '{"x')], [piece(1, 'a', 'f', '{"x":1')], [piece(2, 'a', 'f', '{"x":1}')]],
    calls: [called('a', 'f', '{"x":1}')],
  },
  {
    who: 'gives two calls of one function one id and a number each',
    pieces: [[piece(0, 'a', 'f', '{"x":1}')], [piece(1, 'a', 'f', '{"x":2}')]],
    calls: [called('a', 'f', '{"x":1}'), called(madeCallId('x', 1), 'f', '{"x":2}')],
  },
  {
    who: 'numbers from another number than 0',
    pieces: [[piece(1, 'a', 'f', '{}')], [piece(2, 'b', 'g', '{}')]],
    calls: [called('a', 'f', '{}'), called('b', 'g', '{}')],
  },
];

function chunksOf({ pieces }: Pick<Case, 'pieces'>): Buffer[] {
  const chunk = (delta: object, finish_reason: string | null) =>
    Buffer.from(
      JSON.stringify({
        id: 'x',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'm',
        choices: [{ index: 0, delta, finish_reason }],
      }),
    );
  return [...pieces.map((tool_calls) => chunk({ tool_calls }, null)), chunk({}, 'tool_calls')];
}

/* A stream may also end by its mark alone, without the reason why. */
const endings = [
  ['with a reason for its end', (chunks: Buffer[]) => chunks],
  ['without one', (chunks: Buffer[]) => chunks.slice(0, -1)],
] as const;

describe.each(cases)('the tool calls of a server that $who', (each) => {
  it('are whole in an answer that is put together', () => {
    const assembly = chatFormat.openAssembly();
    for (const chunk of chunksOf(each)) assembly.read(chunk, '');
    const answer = JSON.parse(assembly.answer()?.toString() ?? '');
    const calls = each.calls.map(({ id, ...named }) => ({ id, type: 'function', function: named }));
    expect(answer.choices[0].message.tool_calls).toEqual(calls);
  });

  it.each(endings)('are whole to the official client of a stream that passes %s', async (_how, ended) => {
    const chunks = ended(chunksOf(each)).map((chunk) => chunk.toString());
    const { choices } = await officialAnswer('chat', await passedStream(chunks));
    const calls = each.calls.map(({ id, ...named }) => ({ id, type: 'function', function: named }));
    expect(choices).toMatchObject([{ message: { tool_calls: calls }, finish_reason: 'tool_calls' }]);
  });

  it.each(endings)('are whole in the other formats, in a stream %s', (_how, ended) => {
    const collector = new AnswerCollector(new ChatSource());
    for (const chunk of ended(chunksOf(each))) collector.read(chunk, '');
    const whole = collector.finish();
    const shown = (to: 'chat' | 'responses' | 'messages') =>
      JSON.parse(writeAnswer(to, whole, identity, asAsked).bytes.toString());
    expectCalls(each, shown);
    expect(shown('chat').choices[0].finish_reason).toBe('tool_calls');
    expect(shown('messages').stop_reason).toBe('tool_use');
  });

  it.each(endings)('are whole in the events of the other formats, of a stream %s', (_how, ended) => {
    const shown = (to: 'chat' | 'responses' | 'messages') => {
      const events = ended(chunksOf(each)).map((chunk): object => JSON.parse(chunk.toString()));
      return shownStream('chat', to, { events, whole: {} });
    };
    expectCalls(each, shown);
    expect(shown('chat')).toMatchObject({ choices: [{ finish_reason: 'tool_calls' }] });
    expect(shown('messages')).toMatchObject({ stop_reason: 'tool_use' });
  });
});

const identity = { id: 'x', createdAtS: 1, nowS: 2, model: 'm' };

function expectCalls(
  { calls }: Case,
  shown: (to: 'chat' | 'responses' | 'messages') => Record<string, unknown>,
): void {
  expect(shown('responses').output).toMatchObject(
    calls.map(({ id, ...named }) => ({ type: 'function_call', call_id: id, ...named, status: 'completed' })),
  );
  expect(shown('messages').content).toEqual(
    calls.map(({ id, name, arguments: json }) => ({
      type: 'tool_use',
      id,
      name,
      input: JSON.parse(json),
      caller: { type: 'direct' },
    })),
  );
  expect(shown('chat')).toMatchObject({
    choices: [
      {
        message: { tool_calls: calls.map(({ id, ...named }) => ({ id, type: 'function', function: named })) },
      },
    ],
  });
}

describe('the text of a call that comes whole so far in each piece', () => {
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...{ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm' },
    choices: [{ index: 0, delta, finish_reason }],
  });
  const messageOf = async (chunks: readonly object[]) => {
    const assembly = chatFormat.openAssembly();
    for (const each of chunks) assembly.read(Buffer.from(JSON.stringify(each)), '');
    const { choices } = JSON.parse(assembly.answer()?.toString() ?? '');
    const shown = await officialAnswer('chat', await passedStream(chunks));
    expect(shown.choices).toMatchObject([{ message: choices[0].message }]);
    return choices[0].message;
  };

  it.each<[string, string[]]>([
    ['', ['', '{"x"', '{"x":1', '{"x":1}']],
    [', cut behind a colon', ['{"x":', '{"x":1}']],
    [', whole twice', ['{"x":1}', '{"x":1}']],
    [', in pieces', ['{"x"', ':1', '}']],
  ])('is said once where it is the one of a function%s', async (_how, pieces) => {
    const [first, ...later] = pieces.map((json) => ({ arguments: json }));
    const chunks = [
      chunk({ role: 'assistant', content: null, function_call: { name: 'f', ...first } }),
      ...later.map((piece) => chunk({ function_call: piece })),
      chunk({}, 'function_call'),
    ];
    const said = { name: 'f', arguments: '{"x":1}' };
    expect((await messageOf(chunks)).function_call).toEqual(said);
    // A name that is repeated in each piece is one name.
    const named = chunks.map((each) =>
      JSON.parse(JSON.stringify(each).replaceAll('l":{"a', 'l":{"name":"f","a')),
    );
    expect((await messageOf(named)).function_call).toEqual(said);
    expect(shownCollected('chat', 'messages', { events: chunks, whole: {} })).toMatchObject({
      content: [{ type: 'tool_use', name: 'f', input: { x: 1 } }],
    });
  });

  it('is said once where it is the input of a custom tool', async () => {
    const inputOf = async (pieces: readonly string[]): Promise<string> => {
      const calls = pieces.map((input, at) => ({
        index: 0,
        ...(at === 0 ? { id: 'c', type: 'custom' } : {}),
        custom: { ...(at === 0 ? { name: 'patch' } : {}), input },
      }));
      const chunks = calls.map((call, at) =>
        chunk({ ...(at === 0 ? { role: 'assistant' } : {}), tool_calls: [call] }),
      );
      const { tool_calls } = await messageOf([...chunks, chunk({}, 'tool_calls')]);
      return tool_calls[0].custom.input;
    };
    expect(await inputOf(['', '*** Be', '*** Begin Pa', '*** Begin Patch'])).toBe('*** Begin Patch');
    expect(await inputOf(['*** Begin', '*** Begin Patch'])).toBe('*** Begin Patch');
    expect(await inputOf(['***', '*** Begin Patch'])).toBe('*** Begin Patch');
    expect(await inputOf(['*** ', 'Begin', ' Patch', '*** Begin Patch'])).toBe('*** Begin Patch');
    // Pieces that begin alike are no repetition by themselves.
    expect(await inputOf(['-', '--', ' x'])).toBe('--- x');
    expect(await inputOf(['[', '[1,2],[3]]'])).toBe('[[1,2],[3]]');
    expect(await inputOf(['\n', '\n', '\n'])).toBe('\n\n\n');
    expect(await inputOf(['print(1)\n', 'print(1)\n', 'print(2)\n'])).toBe('print(1)\nprint(1)\nprint(2)\n');
  });

  it('of a custom tool loses nothing where its server sends each piece once', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ maxLength: 6 }), { maxLength: 12 }), (pieces) => {
        const text = new SnapshotText(newComparedText());
        expect(pieces.map((each) => text.add(each)).join('') + text.end()).toBe(pieces.join(''));
      }),
    );
  });

  it('of a custom tool is read in a time that grows with its length alone', () => {
    const text = new SnapshotText(newComparedText());
    let shown = 0;
    for (let at = 0; at < 300_000; at++) shown += text.add('aaaa').length;
    expect(shown + text.end().length).toBeGreaterThan(1_199_000);
  });
});

describe('a call of which a stream ends without a word', () => {
  const custom = shownFor('responses', 'chat', { input: 'x', tools: [{ type: 'custom', name: 'patch' }] });
  const chunk = (delta: object) => ({ id: 'x', choices: [{ index: 0, delta, finish_reason: null }] });

  it('of a custom tool has its text', () => {
    const call = { index: 0, id: 'c', function: { name: 'patch', arguments: '{"input":"*** Begin"}' } };
    const answer = { events: [chunk({ tool_calls: [call] })], whole: {} };
    expect(JSON.stringify(shownStream('chat', 'chat', answer, custom))).toContain('*** Begin');
    expect(shownStream('chat', 'responses', answer, custom)).toMatchObject({
      output: [{ input: '*** Begin' }],
    });
  });

  it.each([
    ['', ''],
    ['*** Begin', '*** Begin'],
    ['{"input":"a\\nb', 'a\nb'],
    ['{"input":"a\\n\\u00e', 'a\n'],
    ['{"input":"a\\u00e9\\\\', 'a\u00e9\\'],
    ['{"input":"a\\\\\\', 'a\\'],
    ['{"input":"a', 'a'],
    ['{"input":"a"', 'a'],
    ['{ "input" : "line 1\nline 2\tend" }', 'line 1\nline 2\tend'],
    ['{"input":"say "hi" to them"}', 'say "hi" to them'],
    ['{"input":"match \\d+ in \\"x\\""}', 'match \\d+ in "x"'],
    ['{"patch":"*** Begin"}', '*** Begin'],
    ['{"input":', '{"input":'],
    ['{"a":1}', '{"a":1}'],
    ['"*** Begin"', '*** Begin'],
  ])('of a custom tool has the text in arguments that are cut or no JSON: %j', (json, text) => {
    const call = { index: 0, id: 'c', function: { name: 'patch', arguments: json } };
    const answer = { events: [chunk({ tool_calls: [call] })], whole: {} };
    for (const shown of [shownStream, shownCollected])
      expect(shown('chat', 'responses', answer, custom)).toMatchObject({
        output: [{ type: 'custom_tool_call', input: text }],
      });
  });

  it('of a custom tool has a text, whatever a model writes into its arguments', () => {
    const letters = fc.constantFrom(
      ...[
        '\\',
        '"',
        '{',
        '}',
        ':',
        'input',
        'u',
        'U',
        'T',
        'n',
        '00e9',
        'd83d',
        ' ',
        '\n',
        '\u0000',
        'é',
        '😀',
      ],
    );
    fc.assert(
      fc.property(fc.array(letters, { maxLength: 30 }), fc.boolean(), (written, isWhole) => {
        const json = `{"input":"${written.join('')}${isWhole ? '"}' : ''}`;
        expect(typeof customInput(json)).toBe('string');
      }),
      { numRuns: 2_000 },
    );
    expect(customInput('{"input":"cd C:\\Temp \\U00e9"}')).toBe('cd C:\\Temp \\U00e9');
  });

  it('that waited for its name is shown all the same', () => {
    const answer = {
      events: [chunk({ tool_calls: [{ index: 0, id: 'c', function: { arguments: '{"a":1}' } }] })],
      whole: {},
    };
    for (const shown of [shownStream, shownCollected])
      expect(shown('chat', 'responses', answer)).toMatchObject({
        output: [{ call_id: 'c', arguments: '{"a":1}' }],
      });
  });

  it('whose arguments come behind the reason of the end is whole', () => {
    const begun = chunk({ tool_calls: [{ index: 0, id: 'c', function: { name: 'f', arguments: '{"a":' } }] });
    const ended = { id: 'x', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] };
    const late = chunk({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] });
    const answer = { events: [begun, ended, late], whole: {} };
    expect(shownStream('chat', 'chat', answer)).toMatchObject({
      choices: [{ message: { tool_calls: [{ function: { arguments: '{"a":1}' } }] } }],
    });
  });
});

describe('blocks of a server of the messages format that begins one before the last has ended', () => {
  const start = (index: number, content_block: object) => ({
    type: 'content_block_start',
    ...{ index, content_block },
  });
  const delta = (index: number, piece: object) => ({ type: 'content_block_delta', index, delta: piece });
  const json = (index: number, partial_json: string) =>
    delta(index, { type: 'input_json_delta', partial_json });
  const stop = (index: number) => ({ type: 'content_block_stop', index });
  const use = (id: string) => ({ type: 'tool_use', id, name: `f_${id}`, input: {} });
  const stream = (...events: object[]) => ({
    whole: {},
    events: [
      { type: 'message_start', message: { id: 'x', role: 'assistant', content: [] } },
      ...events,
      { type: 'message_delta', delta: { stop_reason: 'tool_use' } },
      { type: 'message_stop' },
    ],
  });
  const callsIn = (answer: ReturnType<typeof stream>, shown: typeof shownStream): unknown => {
    const { choices } = shown('messages', 'chat', answer) as {
      choices: { message: Record<string, unknown> }[];
    };
    return choices[0]?.message.tool_calls;
  };
  const toolCall = (id: string, text: string) => ({
    id,
    type: 'function',
    function: { name: `f_${id}`, arguments: text },
  });

  it.each([
    ['streamed', shownStream],
    ['put together', shownCollected],
  ] as const)('are whole calls, each with its own input: %s', (_how, shown) => {
    const interleaved = stream(
      ...[start(0, use('a')), start(1, use('b')), start(2, use('c'))],
      ...[json(0, '{"x":'), json(1, '{"y":2}'), stop(1), json(0, '1}'), stop(0), stop(2)],
    );
    const calls = [toolCall('a', '{"x":1}'), toolCall('b', '{"y":2}'), toolCall('c', '{}')];
    expect(callsIn(interleaved, shown)).toEqual(calls);
    expect(callsIn(stream(start(0, use('a')), start(1, use('b')), json(1, '{"y":2}')), shown)).toEqual([
      toolCall('a', '{}'),
      toolCall('b', '{"y":2}'),
    ]);
  });

  it('under one number are calls of their own', () => {
    const one = stream(
      ...[start(0, use('a')), json(0, '{"x":1}'), start(0, use('b')), json(0, '{"y":2}'), stop(0)],
    );
    expect(callsIn(one, shownStream)).toEqual([toolCall('a', '{"x":1}'), toolCall('b', '{"y":2}')]);
  });

  it('are read in a time that grows with their number alone', () => {
    const source = new MessagesSource();
    const blocks = Array.from({ length: 20_000 }, (_, index) => start(index, { type: 'text', text: 'x' }));
    let count = 0;
    for (const block of blocks) {
      const read = source.read(Buffer.from(JSON.stringify(block)));
      count += read.kind === 'pieces' ? read.pieces.length : 0;
    }
    const rest = source.rest().length;
    expect(count + rest).toBe(blocks.length);
    expect(rest).toBeLessThan(100);
  });

  const says = (index: number, piece: string) => delta(index, { type: 'text_delta', text: piece });
  const thinks = (index: number, thinking: string) => delta(index, { type: 'thinking_delta', thinking });
  const text = { type: 'text', text: '' };
  const thinking = { type: 'thinking', thinking: '', signature: '' };
  const signature = (index: number) => delta(index, { type: 'signature_delta', signature: 'c2ln' });
  const turns: [string, object[]][] = [
    [
      'texts',
      [
        ...[start(0, thinking), thinks(0, 'Hm. '), thinks(0, 'So.'), signature(0), stop(0)],
        ...[start(1, text), says(1, 'Hel'), start(2, text), says(2, 'Wor'), says(1, 'lo '), says(2, 'ld')],
        ...[stop(2), stop(1)],
      ],
    ],
    [
      'texts without beginnings and ends',
      [thinks(0, 'Hm. '), thinks(0, 'So.'), signature(0), stop(0)].concat([
        ...[says(1, 'Hel'), says(2, 'Wor'), says(1, 'lo '), says(2, 'ld')],
      ]),
    ],
    [
      'reasoning and a text',
      [
        ...[start(0, thinking), thinks(0, 'Hm. '), start(1, text), says(1, 'Hello '), thinks(0, 'So.')],
        ...[says(1, 'World'), signature(0), stop(1), stop(0)],
      ],
    ],
    [
      'reasoning, a text and a call',
      [
        ...[start(0, thinking), start(1, text), start(2, use('a')), json(2, '{"x":'), says(1, 'Hello ')],
        ...[thinks(0, 'Hm. '), json(2, '1}'), stop(2), thinks(0, 'So.'), says(1, 'World'), signature(0)],
        ...[stop(0), stop(1)],
      ],
    ],
  ];

  it.each(turns)('are whole %s that take turns', (_of, events) => {
    const answer = stream(...events);
    for (const shown of [shownStream, shownCollected]) {
      expect(shown('messages', 'chat', answer)).toMatchObject({
        choices: [
          {
            message: {
              content: 'Hello World',
              reasoning: 'Hm. So.',
              reasoning_details: [{ text: 'Hm. So.', signature: 'c2ln' }],
            },
          },
        ],
      });
      const { output } = shown('messages', 'responses', answer) as { output: unknown[] };
      expect(output.slice(0, 2)).toMatchObject([
        { type: 'reasoning', summary: [{ text: 'Hm. So.' }], encrypted_content: 'signature:c2ln' },
        { type: 'message', content: [{ type: 'output_text', text: 'Hello World' }] },
      ]);
      expect(output.slice(2)).toMatchObject(
        JSON.stringify(events).includes('tool_use')
          ? [{ type: 'function_call', call_id: 'a', arguments: '{"x":1}' }]
          : [],
      );
    }
    const { content } = assembled(messagesFormat, answer.events) as { content: Record<string, unknown>[] };
    expect(content.map((block) => block.text ?? '').join('')).toBe('Hello World');
    expect(content[0]).toMatchObject({ type: 'thinking', thinking: 'Hm. So.', signature: 'c2ln' });
  });

  it('are shown while they come, also of a server that ends none', () => {
    const source = new MessagesSource();
    const events = [
      start(0, text),
      says(0, 'a'),
      start(1, text),
      ...Array.from({ length: 99 }, () => says(1, 'b')),
    ];
    const said = events.map((event) => {
      const read = source.read(Buffer.from(JSON.stringify(event)));
      return read.kind === 'pieces' ? read.pieces.length : 0;
    });
    expect(said.slice(-50)).toEqual(Array.from({ length: 50 }, () => 1));
    expect(source.rest()).toEqual([]);
  });

  it('keep little back, however long the pieces are that wait', () => {
    const source = new MessagesSource();
    const long = 'x'.repeat(100_000);
    let said = 0;
    for (const event of [
      start(0, text),
      says(0, 'a'),
      start(1, text),
      ...Array.from({ length: 9 }, () => says(1, long)),
    ]) {
      const read = source.read(Buffer.from(JSON.stringify(event)));
      if (read.kind === 'pieces')
        for (const piece of read.pieces) if (piece.type === 'text') said += piece.text.length;
    }
    expect(said).toBeGreaterThan(800_000);
  });

  it('are calls, each with its input once, also where all of it comes so far in each piece', () => {
    const pieces = ['', '{"x', '{"x":', '{"x":1', '{"x":1}'].map((each) => json(0, each));
    const answer = stream(start(0, use('a')), ...pieces, stop(0));
    for (const shown of [shownStream, shownCollected])
      expect(callsIn(answer, shown)).toEqual([toolCall('a', '{"x":1}')]);
    const cut = stream(start(0, use('a')), json(0, '{"x":'), json(0, '{"x":1}'));
    expect(callsIn(cut, shownStream)).toEqual([toolCall('a', '{"x":1}')]);
  });

  it('that all have one id are told apart', () => {
    const twice = stream(start(0, use('a')), stop(0), start(1, use('a')), stop(1));
    expect(callsIn(twice, shownStream)).toEqual([
      toolCall('a', '{}'),
      { ...toolCall('a', '{}'), id: madeCallId('x', 1) },
    ]);
  });

  it('prove the text of their own block', () => {
    const citation = { type: 'web_search_result_location', url: 'https://a.example/', title: 'A' };
    const cited = stream(
      start(0, { type: 'text', text: '' }),
      delta(0, { type: 'text_delta', text: 'Rain.' }),
      start(1, { type: 'text', text: '' }),
      delta(0, { type: 'citations_delta', citation }),
      delta(1, { type: 'text_delta', text: ' Sun.' }),
      ...[stop(0), stop(1)],
    );
    expect(shownStream('messages', 'chat', cited)).toMatchObject({
      choices: [
        {
          message: {
            content: 'Rain. Sun.',
            annotations: [{ url_citation: { url: citation.url, start_index: 0, end_index: 5 } }],
          },
        },
      ],
    });
  });
});
