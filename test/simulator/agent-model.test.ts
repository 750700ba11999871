import { describe, expect, it } from 'vitest';
import { asksForSearch, nextTurn, readAgentTask } from '../../api/simulator/agent-model.ts';

const property = { type: 'string' };
const tool = (name: string, ...names: string[]) => ({
  name,
  parameters: {
    type: 'object',
    properties: Object.fromEntries(names.map((each) => [each, property])),
    required: names,
  },
});
const tools = [tool('read_file', 'path'), tool('write_file', 'path', 'content'), tool('get_weather', 'city')];
const shell = {
  name: 'shell',
  parameters: {
    type: 'object',
    properties: { command: { type: 'array', items: property } },
    required: ['command'],
  },
};

const asked = (text: string) => readAgentTask({ messages: [{ role: 'user', content: text }] });
const callsFor = (text: string, offered: Parameters<typeof nextTurn>[1] = tools): unknown[] =>
  nextTurn(asked(text), offered).calls.map(({ name, argumentsJson }) => [name, JSON.parse(argumentsJson)]);

describe('the model of agents', () => {
  it('calls the tool that a task speaks of, with arguments from its words', () => {
    expect(callsFor('Read notes.txt.')).toEqual([['read_file', { path: 'notes.txt' }]]);
    expect(callsFor('Write `hello` to a/b.txt')).toEqual([
      ['write_file', { path: 'a/b.txt', content: 'hello' }],
    ]);
    expect(callsFor('What is the weather? Use get_weather for "Oslo".')).toEqual([
      ['get_weather', { city: 'Oslo' }],
    ]);
  });

  it('calls several at once where several fit', () => {
    expect(callsFor('Use get_weather and read_file on a.txt').map((call) => Object(call)[0])).toEqual([
      'read_file',
      'get_weather',
    ]);
  });

  it('does with a shell what no other tool does', () => {
    const commandOf = (text: string) => callsFor(text, [shell]);
    expect(commandOf('Read notes.txt')).toEqual([['shell', { command: ['bash', '-lc', 'cat notes.txt'] }]]);
    expect(commandOf('Run `ls -a`')).toEqual([['shell', { command: ['bash', '-lc', 'ls -a'] }]]);
    expect(commandOf('Create `hi` in a.txt')).toEqual([
      ['shell', { command: ['bash', '-lc', "printf '%s\\n' 'hi' > a.txt"] }],
    ]);
  });

  it('calls none where nothing is to be done, and does small sums', () => {
    expect(nextTurn(asked('Hello'), tools)).toMatchObject({ calls: [], text: expect.any(String) });
    expect(nextTurn(asked('What is 17 + 25?'), tools)).toEqual({ calls: [], text: '17 + 25 = 42' });
    expect(nextTurn(asked('And 6 * 7?'), []).text).toBe('6 * 7 = 42');
  });

  it('asks the only tool that it has, unless the task needs none', () => {
    const only = [tool('get_weather', 'city')];
    expect(callsFor('Will it rain in Oslo tomorrow?', only)).toEqual([
      ['get_weather', { city: expect.any(String) }],
    ]);
    expect(callsFor('Will it rain in Oslo tomorrow?')).toEqual([]);
    for (const text of ['Please say hello to Ann', 'What is 1 + 2?', 'Hi there'])
      expect(callsFor(text, only)).toEqual([]);
    const messages = [
      { role: 'user', content: 'Will it rain in Oslo tomorrow?' },
      { role: 'assistant', tool_calls: [{ id: 'c' }] },
      { role: 'tool', tool_call_id: 'c', content: 'no' },
    ];
    expect(nextTurn(readAgentTask({ messages }), only)).toMatchObject({
      calls: [],
      text: expect.stringContaining('no'),
    });
  });

  it('takes numbers and quoted words from the task, whatever quotes stand around it', () => {
    const parameters = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
    expect(callsFor('Use double on 21.', [{ name: 'double', parameters }])).toEqual([['double', { n: 21 }]]);
    expect(callsFor('"Write `two words` to a.txt, then stop."')).toEqual([
      ['write_file', { path: 'a.txt', content: 'two words' }],
    ]);
    expect(callsFor("What's get_weather of 'New York'? It's Ann's home.")).toEqual([
      ['get_weather', { city: 'New York' }],
    ]);
  });

  it('fills what stands inside an argument, too', () => {
    const files = { type: 'array', items: tool('file', 'path').parameters };
    const parameters = { type: 'object', properties: { files }, required: ['files'] };
    expect(callsFor('Read notes.txt', [{ name: 'read_files', parameters }])).toEqual([
      ['read_files', { files: [{ path: 'notes.txt' }] }],
    ]);
  });

  it('searches only where it is asked to', () => {
    expect([asked('Search the web for boats'), asked('What is 1 + 1?')].map(asksForSearch)).toEqual([
      true,
      false,
    ]);
  });

  const TASK = 'Write `hi` to a.txt, then read a.txt.';
  const histories: [format: string, (rounds: number) => object][] = [
    [
      'chat',
      (rounds) => ({
        messages: [
          { role: 'user', content: TASK },
          ...Array.from({ length: rounds }, (_, n) => [
            { role: 'assistant', tool_calls: [{ id: `c${n}` }, { id: `d${n}` }] },
            { role: 'tool', tool_call_id: `c${n}`, content: `result ${n}` },
            { role: 'tool', tool_call_id: `d${n}`, content: `other ${n}` },
          ]).flat(),
        ],
      }),
    ],
    [
      'messages',
      (rounds) => ({
        messages: [
          {
            role: 'user',
            content: [{ type: 'text', text: '<system-reminder>read_file is best</system-reminder>' }],
          },
          { role: 'user', content: [{ type: 'text', text: `<note-a>x</note-a>${TASK}` }] },
          ...Array.from({ length: rounds }, (_, n) => [
            { role: 'assistant', content: [{ type: 'tool_use', id: `c${n}` }] },
            {
              role: 'user',
              content: [{ type: 'tool_result', tool_use_id: `c${n}`, content: `result ${n}` }],
            },
          ]).flat(),
        ],
      }),
    ],
    [
      'responses',
      (rounds) => ({
        input: [
          { role: 'user', content: [{ type: 'input_text', text: TASK }] },
          ...Array.from({ length: rounds }, (_, n) => [
            { type: 'function_call', call_id: `c${n}` },
            { type: 'function_call', call_id: `d${n}` },
            { type: 'function_call_output', call_id: `c${n}`, output: `result ${n}` },
            { type: 'function_call_output', call_id: `d${n}`, output: `other ${n}` },
          ]).flat(),
        ],
      }),
    ],
  ];

  it.each(histories)(
    'goes on step by step in a conversation of %s, and answers with the results',
    (_format, history) => {
      const turns = [0, 1, 2].map((rounds) => nextTurn(readAgentTask(history(rounds)), tools));
      expect(turns.map(({ calls }) => calls.map(({ name }) => name))).toEqual([
        ['write_file'],
        ['read_file'],
        [],
      ]);
      expect(turns[2]?.text).toContain('result 1');
    },
  );

  it('begins anew with each task', () => {
    const task = readAgentTask({
      messages: [
        { role: 'user', content: 'Read a.txt' },
        { role: 'assistant', tool_calls: [{ id: 'c' }] },
        { role: 'tool', tool_call_id: 'c', content: 'x' },
        { role: 'assistant', content: 'Done.' },
        { role: 'user', content: 'Read b.txt' },
      ],
    });
    expect(task).toEqual({ text: 'Read b.txt', rounds: 0, results: [] });
  });
});
