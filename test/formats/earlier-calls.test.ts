import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chatFormat } from '../../api/inference/formats/chat-format.ts';
import { recordOf, records } from '../../api/inference/formats/values.ts';
import { ChatSource } from '../../api/inference/translation/chat-source.ts';
import { WholeAnswer } from '../../api/inference/translation/whole-answer.ts';
import { cpuMsOf } from '../support/cpu-time.ts';
import { leftOutOf, sentTo, user } from './ask.ts';

/* Earlier turns as providers take them: each call with its own result, and nothing that says nothing. */

const call = (id: string, n: number | string = 0) => ({
  id,
  type: 'function',
  function: { name: 'f', arguments: `{"n":${n}}` },
});
const calling = (...calls: object[]) => ({ role: 'assistant', content: null, tool_calls: calls });
const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content });

/** Each call that a server of the messages format is sent, with what its result says. */
function pairsIn(messages: unknown): [unknown, unknown][] {
  const blocks = records(messages).flatMap(({ content }) => records(content));
  const results = new Map(
    blocks
      .filter(({ type }) => type === 'tool_result')
      .map(({ tool_use_id, content }) => [tool_use_id, records(content)[0]?.text]),
  );
  const uses = blocks.filter(({ type }) => type === 'tool_use');
  expect(new Set(uses.map(({ id }) => id)).size).toBe(uses.length);
  return uses.map(({ id, input }) => [recordOf(input).n, results.get(id)]);
}

describe('calls that have the same id', () => {
  it('in several answers are told apart, and each keeps its own result', () => {
    const messages = [
      ...[
        user,
        calling(call('call_0', 1), call('call_1', 2)),
        result('call_1', 'two'),
        result('call_0', 'one'),
      ],
      ...[user, calling(call('call_0', 3)), user, result('call_0', 'three')],
      ...[calling(call('call_0_2', 4)), result('call_0_2', 'four')],
    ];
    expect(pairsIn(sentTo('chat', 'messages', { messages }).messages)).toEqual([
      [1, 'one'],
      [2, 'two'],
      [3, 'three'],
      [4, 'four'],
    ]);
  });

  it.each(['', 'c'])('in one answer are told apart by the order of their results: %j', (id) => {
    const messages = [user, calling(call(id, 1), call(id, 2)), result(id, 'one'), result(id, 'two')];
    expect(pairsIn(sentTo('chat', 'messages', { messages }).messages)).toEqual([
      [1, 'one'],
      [2, 'two'],
    ]);
  });

  it('but for letters that a server of the messages format does not take are told apart there', () => {
    const messages = [
      ...[user, calling(call('f.1', 1), call('f:1', 2), call('f_1', 3))],
      ...[result('f:1', 'two'), result('f_1', 'three'), result('f.1', 'one')],
    ];
    expect(pairsIn(sentTo('chat', 'messages', { messages }).messages)).toEqual([
      [1, 'one'],
      [2, 'two'],
      [3, 'three'],
    ]);
  });

  it('are told apart at a server of the chat format, too', () => {
    const input = [1, 2].flatMap((n) => [
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: `${n}` },
    ]);
    const messages = records(sentTo('responses', 'chat', { input }).messages);
    expect(messages.map(({ role, tool_call_id, content }) => [role, tool_call_id, content])).toEqual([
      ['assistant', undefined, null],
      ['tool', 'c', '1'],
      ['assistant', undefined, null],
      ['tool', records(messages[2]?.tool_calls)[0]?.id, '2'],
    ]);
  });

  it('whatever their ids are, every call keeps its result', () => {
    const id = fc.constantFrom('', 'a', 'b', 'a_2', 'a_3', 'call_2');
    fc.assert(
      fc.property(fc.array(fc.array(id, { minLength: 1, maxLength: 4 }), { maxLength: 5 }), (answers) => {
        let n = 0;
        const messages = [
          user,
          ...answers.flatMap((ids) => {
            const numbered = ids.map((each) => ({ each, n: ++n }));
            return [
              calling(...numbered.map(({ each, n: at }) => call(each, at))),
              ...numbered.map(({ each, n: at }) => result(each, `r${at}`)),
              user,
            ];
          }),
        ];
        const pairs = pairsIn(sentTo('chat', 'messages', { messages }).messages);
        expect(pairs).toEqual(Array.from({ length: n }, (_, at) => [at + 1, `r${at + 1}`]));
      }),
    );
  });

  it('cost no more time than other ids, however many they are', () => {
    const turnsOf = (id: (n: number) => string) =>
      Array.from({ length: 20_000 }, (_, n) => [
        { type: 'function_call', call_id: id(n), name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: id(n), output: 'x' },
      ]).flat();
    const timeOf = (id: (n: number) => string): number => {
      const input = turnsOf(id);
      return cpuMsOf(() => void sentTo('responses', 'chat', { input }));
    };
    timeOf((n) => `c${n}`);
    expect(timeOf(() => 'c')).toBeLessThan(20 * timeOf((n) => `c${n}`) + 100);
  });
});

describe('a call to which the server gives no id', () => {
  const chunk = (id: string | undefined) => ({
    id,
    choices: [
      {
        index: 0,
        delta: {
          tool_calls: [
            { index: 0, function: { name: 'f', arguments: '{}' } },
            { index: 1, function: { name: 'g', arguments: '{}' } },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
  });
  const idsTranslated = (id: string | undefined): string[] => {
    const source = new ChatSource();
    const read = source.read(Buffer.from(JSON.stringify(chunk(id))), '');
    const { parts } = WholeAnswer.of(read.kind === 'pieces' ? read.pieces : []);
    return parts.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []));
  };
  const idsAssembled = (id: string | undefined): unknown[] => {
    const assembly = chatFormat.openAssembly();
    assembly.read(Buffer.from(JSON.stringify(chunk(id))), '');
    const answer = JSON.parse(assembly.answer()?.toString() ?? '{}');
    return records(answer.choices[0].message.tool_calls).map((each) => each.id);
  };

  it.each([
    ['translated', idsTranslated],
    ['put together', idsAssembled],
  ])('has one that no call of another answer has: %s', (_how, idsOf) => {
    const ids = ['answer-1', 'answer-2', undefined, undefined].flatMap(idsOf);
    expect(new Set(ids).size).toBe(8);
    expect(ids.every((id) => /^call_\w{1,30}$/.test(String(id)))).toBe(true);
  });

  it('has the same one however the answer is read', () => {
    expect(idsAssembled('answer-1')).toEqual(idsTranslated('answer-1'));
  });
});

describe('what says nothing', () => {
  it.each([
    ['messages', { messages: [user, { role: 'assistant', content: [] }, user] }],
    ['messages', { messages: [user, { role: 'assistant', content: '' }, user] }],
    ['responses', { input: [user, { type: 'message', role: 'assistant', content: [] }, user] }],
  ] as const)('is no answer at a server of the chat format: %s', (from, body) => {
    expect(sentTo(from, 'chat', body).messages).toEqual([user, user]);
  });

  it.each([
    ['messages', 'chat', { messages: [user, { role: 'system', content: [] }, user] }],
    ['responses', 'chat', { input: [user, { role: 'developer', content: '' }, user] }],
    ['responses', 'messages', { input: [user, { role: 'system', content: [] }, user] }],
    ['chat', 'messages', { messages: [user, { role: 'system', content: '' }, user] }],
  ] as const)('is no instruction in the middle of a conversation: %s asked in %s', (from, to, body) => {
    expect(JSON.stringify(sentTo(from, to, body).messages)).not.toContain('system');
  });

  it.each<['chat' | 'messages', unknown]>([
    ['chat', ''],
    ['messages', []],
  ])('is a result all the same, because its call waits for one: %s', (to, empty) => {
    const input = [
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: '' },
    ];
    const last = records(sentTo('responses', to, { input }).messages).at(-1);
    expect(to === 'chat' ? last?.content : records(last?.content)[0]?.content).toEqual(empty);
  });
});

describe('the name of who speaks', () => {
  const named = { name: 'ann', content: 'x' };

  it('stands before the words, where the server has no place for it', () => {
    const messages = [
      { role: 'user', ...named },
      { role: 'assistant', name: 'bob', content: 'y' },
      { role: 'developer', ...named },
    ];
    expect(
      sentTo('chat', 'messages', { messages: [{ role: 'system', ...named }, ...messages] }),
    ).toMatchObject({
      system: 'ann: x',
      messages: [
        { role: 'user', content: [{ text: 'ann: x' }] },
        { role: 'assistant', content: [{ text: 'y' }] },
        { role: 'user', content: [{ text: '<system>\nann: x\n</system>' }] },
      ],
    });
    expect(leftOutOf('chat', 'messages', { messages })).toEqual([]);
  });

  it.each([
    ['messages', { messages: [{ role: 'user', ...named }] }, 'messages[0].name'],
    ['responses', { input: [{ role: 'user', ...named }] }, 'input[0].name'],
  ] as const)('is left out and named where the caller’s own format has none: %s', (from, body, name) => {
    expect(leftOutOf(from, 'chat', body)).toEqual([name]);
  });
});
