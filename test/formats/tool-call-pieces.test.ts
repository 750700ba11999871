import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../api/inference/formats/chat-format.ts';
import { AnswerCollector } from '../../api/inference/translation/answer-collector.ts';
import { ChatSource } from '../../api/inference/translation/chat-source.ts';
import { writeAnswer } from '../../api/inference/translation/translate-answer.ts';
import { asAsked } from './asked-dialect.ts';

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

const piece = (index: number | null, id: string | null, name: string | null, json: unknown = null): object => ({
  ...(index === null ? {} : { index }),
  ...(id === null ? {} : { id, type: 'function' }),
  function: { ...(name === null ? {} : { name }), ...(json === null ? {} : { arguments: json }) },
});
const called = (id: string, name: string, json: string): Called => ({ id, name, arguments: json });

/** The pieces of calls as servers send them, one list a chunk. */
const cases: Case[] = [
  {
    who: 'numbers parallel calls, and sends each in pieces',
    pieces: [[piece(0, 'a', 'f', '')], [piece(0, null, null, '{"x":')], [piece(1, 'b', 'g', '')], [piece(0, null, null, '1}')], [piece(1, null, null, '{}')]],
    calls: [called('a', 'f', '{"x":1}'), called('b', 'g', '{}')],
  },
  {
    who: 'gives all calls one number',
    pieces: [[piece(0, 'a', 'write', '{"p":"a.py"}')], [piece(0, 'b', 'write', '{"p":"b.py"}')]],
    calls: [called('a', 'write', '{"p":"a.py"}'), called('b', 'write', '{"p":"b.py"}')],
  },
  {
    who: 'gives all calls one number, and interleaves their pieces',
    pieces: [[piece(0, 'a', 'f', '{"x":')], [piece(0, 'b', 'f', '{"x":')], [piece(0, 'a', null, '1}')], [piece(0, 'b', null, '2}')]],
    calls: [called('a', 'f', '{"x":1}'), called('b', 'f', '{"x":2}')],
  },
  {
    who: 'gives all calls one number, without arguments',
    pieces: [[piece(0, 'a', 'f', '')], [piece(0, 'b', 'g', '')]],
    calls: [called('a', 'f', '{}'), called('b', 'g', '{}')],
  },
  {
    who: 'numbers no call',
    pieces: [[piece(null, 'a', 'f', '{"x":')], [piece(null, null, null, '1}')], [piece(null, 'b', 'f', '{"x":')], [piece(null, null, null, '2}')]],
    calls: [called('a', 'f', '{"x":1}'), called('b', 'f', '{"x":2}')],
  },
  {
    who: 'neither numbers nor names calls, and sends each whole',
    pieces: [[piece(null, null, 'f', '{"x":1}'), piece(null, null, 'f', '{"x":2}')], [piece(null, null, 'g', '{}')]],
    calls: [called('call_0', 'f', '{"x":1}'), called('call_1', 'f', '{"x":2}'), called('call_2', 'g', '{}')],
  },
  {
    who: 'gives one number and no ids, and sends each whole',
    pieces: [[piece(0, null, 'f', '{"x":1}')], [piece(0, null, 'f', '{"x":2}')]],
    calls: [called('call_0', 'f', '{"x":1}'), called('call_1', 'f', '{"x":2}')],
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
    who: 'numbers from another number than 0',
    pieces: [[piece(1, 'a', 'f', '{}')], [piece(2, 'b', 'g', '{}')]],
    calls: [called('a', 'f', '{}'), called('b', 'g', '{}')],
  },
];

function chunksOf({ pieces }: Case): Buffer[] {
  const chunk = (delta: object, finish_reason: string | null) =>
    Buffer.from(JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] }));
  return [...pieces.map((tool_calls) => chunk({ tool_calls }, null)), chunk({}, 'tool_calls')];
}

describe.each(cases)('the tool calls of a server that $who', (each) => {
  it('are whole in an answer that is put together', () => {
    const assembly = chatFormat.openAssembly();
    for (const chunk of chunksOf(each)) assembly.read(chunk, '');
    const answer = JSON.parse(assembly.answer()?.toString() ?? '');
    const calls = each.calls.map(({ id, ...named }) => ({ id, type: 'function', function: named }));
    expect(answer.choices[0].message.tool_calls).toEqual(calls);
  });

  it('are whole in the other formats', () => {
    const collector = new AnswerCollector(new ChatSource());
    for (const chunk of chunksOf(each)) collector.read(chunk, '');
    const identity = { id: 'x', createdAtS: 1, nowS: 2, model: 'm' };
    const shown = (to: 'responses' | 'messages') =>
      JSON.parse(writeAnswer(to, collector.whole, identity, asAsked).bytes.toString());
    expect(shown('responses').output).toMatchObject(
      each.calls.map(({ id, ...named }) => ({ type: 'function_call', call_id: id, ...named, status: 'completed' })),
    );
    expect(shown('messages').content).toEqual(
      each.calls.map(({ id, name, arguments: json }) => ({ type: 'tool_use', id, name, input: JSON.parse(json) })),
    );
  });
});
