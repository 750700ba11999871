import { describe, expect, it } from 'vitest';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { AnswerText, addChat } from '../../api/inference/price/answer-text.ts';
import { type Answer, shownCollected, shownStream } from './shown-answers.ts';

/* Servers send the whole message beside its pieces, behind them, or in the place of them. It is said once, and counted once. */

const TEXT = 'Rain by noon.';
const THOUGHT = 'Two towns.';
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{"town":"Oslo"}' } };
const note = {
  type: 'url_citation',
  url_citation: { url: 'https://a.example/', title: 'A', start_index: 0, end_index: 4 },
};
const whole = { role: 'assistant', content: TEXT, reasoning_content: THOUGHT };

describe('an answer that is counted by its text', () => {
  const bytesOf = (message: object): number => {
    const text = new AnswerText();
    addChat(text, { choices: [{ index: 0, delta: message }] });
    return text.bytes;
  };

  it('counts the name and every byte of the text of a custom tool', () => {
    const custom = { name: 'patch', input: '*** Begin\n  "a": { 1 }' };
    expect(bytesOf({ tool_calls: [{ index: 0, id: 'c', type: 'custom', custom }] })).toBe(
      custom.name.length + custom.input.length,
    );
  });

  it('counts reasoning once, whether its text, its details or both have it', () => {
    const reasoning_details = [
      { type: 'reasoning.text', text: 'Two ' },
      { type: 'reasoning.summary', summary: 'towns.' },
      { type: 'reasoning.encrypted', data: 'x'.repeat(100) },
    ];
    expect(bytesOf({ reasoning_details })).toBe(THOUGHT.length);
    expect(bytesOf({ reasoning: THOUGHT, reasoning_details })).toBe(THOUGHT.length);
    expect(bytesOf({ reasoning: THOUGHT, reasoning_content: THOUGHT })).toBe(THOUGHT.length);
  });
});

describe('a streamed call that is counted by its text', () => {
  const OSLO = '{"town":"Oslo"}';
  const begun = { index: 0, id: 'c', type: 'function' };
  const named = (json: string) => ({ ...begun, function: { name: 'f', arguments: json } });
  const more = (json: string) => ({ index: 0, function: { arguments: json } });
  const bytesOf = (calls: object[]): number => {
    const text = new AnswerText();
    for (const each of calls) addChat(text, { choices: [{ index: 0, delta: { tool_calls: [each] } }] });
    return text.bytes;
  };
  const once = 'f'.length + OSLO.length;

  it.each([
    [
      'sends all of them so far in each piece',
      [named(''), more('{"town":'), more('{"town":"Os'), more(OSLO)],
    ],
    ['does so, and ends within them', [named('{"town":'), more(OSLO)]],
    ['sends them twice', [named(OSLO), more(OSLO)]],
    ['repeats the call at the end', [named('{"town":'), more('"Oslo"}'), named(OSLO)]],
    ['begins with an empty object', [named('{}'), more(OSLO)]],
  ])('counts the arguments once where its server %s', (_how, calls) => {
    expect(bytesOf(calls)).toBe(once);
  });

  it('counts each call where all have one number', () => {
    expect(bytesOf([named(OSLO), { ...named(OSLO), id: 'd' }])).toBe(2 * once);
  });
});

const chunk = (choice: object) => ({ id: 'x', created: 1, model: 'm', choices: [{ index: 0, ...choice }] });
const thought = chunk({ delta: { role: 'assistant', reasoning_content: THOUGHT } });
const pieces = [thought, ...['Rain', ' by noon.'].map((content) => chunk({ delta: { content } }))];
const end = chunk({ delta: {}, finish_reason: 'stop' });

interface Case {
  how: string;
  events: object[];
  calls?: true;
  cites?: true;
}

const cases: Case[] = [
  {
    how: 'beside each piece, as far as it has come',
    events: [
      chunk({ delta: { reasoning_content: THOUGHT }, message: { ...whole, content: '' } }),
      chunk({ delta: { content: 'Rain' }, message: { ...whole, content: 'Rain' } }),
      chunk({ delta: { content: ' by noon.' }, message: whole, finish_reason: 'stop' }),
    ],
  },
  {
    how: 'beside each piece, the piece once more',
    events: [
      chunk({ delta: { reasoning_content: THOUGHT }, message: { reasoning_content: THOUGHT } }),
      chunk({ delta: { content: 'Rain' }, message: { content: 'Rain' } }),
      chunk({ delta: { content: ' by noon.' }, message: { content: ' by noon.' } }),
      end,
    ],
  },
  { how: 'beside the end', events: [...pieces, chunk({ delta: {}, message: whole, finish_reason: 'stop' })] },
  {
    how: 'at the end, without a piece',
    events: [...pieces, chunk({ message: whole, finish_reason: 'stop' })],
  },
  { how: 'behind the end', events: [...pieces, end, chunk({ message: whole, finish_reason: 'stop' })] },
  {
    how: 'behind the end, with an empty piece',
    events: [...pieces, end, chunk({ delta: null, message: whole })],
  },
  {
    how: 'twice behind the end',
    events: [...pieces, end, chunk({ message: whole }), chunk({ message: whole })],
  },
  { how: 'in the place of all pieces', events: [chunk({ message: whole, finish_reason: 'stop' })] },
  {
    how: 'in the place of all pieces, twice',
    events: [
      chunk({ message: whole, finish_reason: 'stop' }),
      chunk({ message: whole, finish_reason: 'stop' }),
    ],
  },
  { how: 'in the place of all pieces, without a reason for the end', events: [chunk({ message: whole })] },
  {
    how: 'in the place of all pieces, beside empty ones',
    events: [
      chunk({ delta: { role: 'assistant', content: '' } }),
      chunk({ delta: {}, message: whole, finish_reason: 'stop' }),
    ],
  },
  {
    how: 'in the place of pieces, as far as it has come',
    events: [
      chunk({ message: { role: 'assistant', reasoning_content: THOUGHT, content: '' } }),
      chunk({ message: { ...whole, content: 'Rain' } }),
      chunk({ message: whole, finish_reason: 'stop' }),
    ],
  },
  {
    how: 'in the place of pieces, and empty at the end',
    events: [
      chunk({ message: whole }),
      chunk({ message: { role: 'assistant', content: '' }, finish_reason: 'stop' }),
    ],
  },
  {
    how: 'at the end, with the calls that no piece had',
    events: [...pieces, chunk({ message: { ...whole, tool_calls: [call] }, finish_reason: 'tool_calls' })],
    calls: true,
  },
  {
    how: 'at the end, with the calls that the pieces had',
    events: [
      ...pieces,
      chunk({ delta: { tool_calls: [{ index: 0, ...call }] } }),
      chunk({ message: { ...whole, tool_calls: [call] }, finish_reason: 'tool_calls' }),
    ],
    calls: true,
  },
  {
    how: 'at the end, with the sources that no piece had',
    events: [...pieces, chunk({ message: { ...whole, annotations: [note] }, finish_reason: 'stop' })],
    cites: true,
  },
];

describe.each(cases)('a message that a server sends $how', ({ events, calls, cites }) => {
  const answer: Answer = { events, whole: {} };

  it('is once in the answer that is put together', () => {
    const assembly = callFormats.chat.openAssembly();
    for (const event of events) assembly.read(Buffer.from(JSON.stringify(event)), '');
    const { choices } = JSON.parse(assembly.answer()?.toString() ?? '');
    expect(choices).toMatchObject([
      { index: 0, message: whole, finish_reason: calls === undefined ? 'stop' : 'tool_calls' },
    ]);
    const [{ message }] = choices;
    expect(message.tool_calls ?? []).toMatchObject(calls === undefined ? [] : [call]);
    expect(message.tool_calls?.length ?? 0).toBe(calls === undefined ? 0 : 1);
    expect(message.annotations ?? []).toEqual(cites === undefined ? [] : [note]);
  });

  it.each([
    ['JSON', shownCollected],
    ['events', shownStream],
  ] as const)('is once in the %s of the other formats', (_how, shown) => {
    const message = shown('chat', 'messages', answer);
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: THOUGHT },
      { type: 'text', text: TEXT },
      ...(calls === undefined ? [] : [{ type: 'tool_use', id: 'c', name: 'f', input: { town: 'Oslo' } }]),
    ]);
    expect(message).toMatchObject({ stop_reason: calls === undefined ? 'end_turn' : 'tool_use' });
    const response = shown('chat', 'responses', answer);
    expect(response.output).toMatchObject([
      { type: 'reasoning' },
      {
        type: 'message',
        content: [{ text: TEXT, annotations: cites === undefined ? [] : [{ url: 'https://a.example/' }] }],
      },
      ...(calls === undefined ? [] : [{ type: 'function_call', arguments: '{"town":"Oslo"}' }]),
    ]);
    expect(JSON.stringify(response.output).split(THOUGHT).length).toBe(2);
  });

  it('is counted once', () => {
    const text = new AnswerText();
    for (const event of events) addChat(text, JSON.parse(JSON.stringify(event)));
    const called = calls === undefined ? '' : `f${call.function.arguments}`;
    expect(text.bytes).toBe(`${TEXT}${THOUGHT}${called}`.length);
  });
});
