import { describe, expect, it } from 'vitest';
import { recordOf, records } from '../../api/inference/formats/values.ts';
import { AnswerText, addChat } from '../../api/inference/price/answer-text.ts';
import { leftOutOf, refusalOf, sentTo, shownFor, user } from './ask.ts';
import { type Answer, shownCollected, shownEvents, shownStream, shownWhole } from './shown-answers.ts';

/* Chats had functions before they had tools, and clients that still speak so are understood and answered so. */

const schema = { type: 'object', properties: { city: { type: 'string' } } };
const functions = [{ name: 'get', description: 'Gets.', parameters: schema }];
const ways = [
  ['streamed', shownStream],
  ['put together', shownCollected],
  ['whole', shownWhole],
] as const;

describe('functions of a chat', () => {
  it('are sent as tools, of which an answer may call one', () => {
    const body = { messages: [user], functions };
    expect(sentTo('chat', 'messages', body)).toMatchObject({
      tools: [{ name: 'get', description: 'Gets.', input_schema: schema }],
      tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    });
    expect(leftOutOf('chat', 'messages', body)).toEqual([]);
  });

  it.each([
    ['auto', { type: 'auto' }],
    ['none', { type: 'none' }],
    [{ name: 'get' }, { type: 'tool', name: 'get' }],
  ])('are called as is chosen: %j', (function_call, choice) => {
    expect(
      sentTo('chat', 'messages', { messages: [user], functions, function_call }).tool_choice,
    ).toMatchObject(choice);
  });

  it('a choice of no function is refused by its name', () => {
    expect(refusalOf('chat', 'messages', { messages: [user], functions, function_call: {} }).param).toBe(
      'function_call',
    );
  });

  it('members that nobody knows are left out and named', () => {
    const news = [{ ...functions[0], tomorrow: 1 }];
    expect(leftOutOf('chat', 'messages', { messages: [user], functions: news })).toEqual([
      'functions[0].tomorrow',
    ]);
  });

  it('stand beside tools, if there are both, and then the tools decide', () => {
    const tools = [
      { type: 'function', function: { name: 'put', parameters: schema } },
      { type: 'function', function: functions[0] },
    ];
    const body = { messages: [user], functions, tools, tool_choice: 'required', function_call: 'none' };
    const sent = sentTo('chat', 'messages', body);
    expect(records(sent.tools).map(({ name }) => name)).toEqual(['put', 'get']);
    expect(sent.tool_choice).toEqual({ type: 'any' });
    expect(leftOutOf('chat', 'messages', body)).toEqual(['function_call']);
  });
});

describe('earlier calls of functions', () => {
  const call = (city: string) => ({
    role: 'assistant',
    content: null,
    function_call: { name: 'get', arguments: JSON.stringify({ city }) },
  });
  const result = (content: string | null) => ({ role: 'function', name: 'get', content });

  it('are calls of tools with their results, each under an id of its own', () => {
    const messages = [user, call('Oslo'), result('7'), call('Rome'), result('20'), user];
    const sent = records(sentTo('chat', 'messages', { messages, functions }).messages);
    const [first, second] = [1, 3].map((at) => records(sent[at]?.content)[0]);
    expect(first).toMatchObject({ type: 'tool_use', name: 'get', input: { city: 'Oslo' } });
    expect(second).toMatchObject({ type: 'tool_use', name: 'get', input: { city: 'Rome' } });
    expect(first?.id).not.toBe(second?.id);
    expect(sent[2]?.content).toMatchObject([
      { type: 'tool_result', tool_use_id: first?.id, content: [{ text: '7' }] },
    ]);
    expect(sent[4]?.content).toMatchObject([
      { type: 'tool_result', tool_use_id: second?.id, content: [{ text: '20' }] },
      { type: 'text', text: 'x' },
    ]);
  });

  it('may have no result text, and a call without a result does not take that of a later one', () => {
    const messages = [user, call('Oslo'), user, call('Rome'), result(null)];
    const sent = records(sentTo('chat', 'messages', { messages, functions }).messages);
    const rome = records(sent[3]?.content)[0];
    expect(sent[4]?.content).toMatchObject([{ type: 'tool_result', tool_use_id: rome?.id, content: [] }]);
  });
});

describe('a server that answers in the old way', () => {
  const args = '{"city":"Oslo"}';
  const call = (arguments_: unknown) => ({ function_call: { name: 'get', arguments: arguments_ } });
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: 'a',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const end = chunk({}, 'function_call');
  const whole = (message: object, finish_reason = 'function_call') => ({
    id: 'a',
    choices: [{ index: 0, message: { role: 'assistant', content: 'I look.', ...message }, finish_reason }],
  });
  const begin = chunk({ role: 'assistant', content: 'I look.' });
  const tool_calls = [{ index: 0, id: 'c1', type: 'function', function: { name: 'get', arguments: args } }];

  const calls: [string, Answer][] = [
    [
      'in pieces',
      {
        whole: whole(call(args)),
        events: [
          begin,
          chunk(call('')),
          chunk({ function_call: { arguments: '{"city":' } }),
          chunk({ function_call: { arguments: '"Oslo"}' } }),
          end,
        ],
      },
    ],
    [
      'with its name in every piece',
      { whole: whole(call(args)), events: [begin, chunk(call('{"city":')), chunk(call('"Oslo"}')), end] },
    ],
    [
      'with arguments that are no text, and an end of its own',
      {
        whole: whole(call({ city: 'Oslo' }), 'stop'),
        events: [begin, chunk(call({ city: 'Oslo' }), 'stop')],
      },
    ],
    [
      'in the whole message alone',
      {
        whole: whole(call(args)),
        events: [
          begin,
          { id: 'a', choices: [{ index: 0, message: whole(call(args)).choices[0]?.message }] },
          end,
        ],
      },
    ],
    [
      'beside the same call of a tool',
      {
        whole: whole({ ...call(args), tool_calls }),
        events: [begin, chunk({ ...call(args), tool_calls }), end],
      },
    ],
    [
      'and says that there are no calls of tools',
      {
        whole: whole({ ...call(args), tool_calls: [] }),
        events: [begin, chunk({ ...call(args), tool_calls: null }), end],
      },
    ],
  ];

  describe.each(calls)('%s', (_how, answer) => {
    it.each(ways)('has called the tool, once and under an id: %s', (_way, shown) => {
      const message = shown('chat', 'messages', answer);
      expect(message).toMatchObject({
        stop_reason: 'tool_use',
        content: [
          { type: 'text', text: 'I look.' },
          { type: 'tool_use', id: expect.stringMatching(/./), name: 'get', input: { city: 'Oslo' } },
        ],
      });
      const { output } = shown('chat', 'responses', answer);
      expect(output).toMatchObject([
        { type: 'message' },
        { type: 'function_call', call_id: expect.stringMatching(/./), name: 'get', arguments: args },
      ]);
    });

    it('is charged for the call once', () => {
      for (const values of [[answer.whole], answer.events]) {
        const text = new AnswerText();
        for (const value of values) addChat(text, JSON.parse(JSON.stringify(value)));
        expect(text.bytes).toBe(`I look.get${args}`.length);
      }
    });
  });

  it.each(ways)('and calls nothing has answered with its text: %s', (_way, shown) => {
    const nothing = { function_call: { name: '', arguments: '' } };
    const answer = { whole: whole(nothing, 'stop'), events: [begin, chunk(nothing, 'stop')] };
    expect(shown('chat', 'messages', answer)).toMatchObject({
      stop_reason: 'end_turn',
      content: [{ type: 'text', text: 'I look.' }],
    });
    expect(shown('chat', 'messages', answer).content).toHaveLength(1);
  });
});

describe('an answer to a caller of functions', () => {
  const content = [
    { type: 'text', text: 'I look.' },
    { type: 'tool_use', id: 'c1', name: 'get', input: { city: 'Oslo' } },
  ];
  const begin = {
    type: 'message',
    role: 'assistant',
    model: 'm',
    id: 'a',
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  const answer: Answer = {
    whole: { ...begin, content, stop_reason: 'tool_use' },
    events: [
      { type: 'message_start', message: { ...begin, content: [] } },
      { type: 'content_block_start', index: 0, content_block: content[0] },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: { ...content[1], input: {} } },
      {
        type: 'content_block_delta',
        index: 1,
        delta: { type: 'input_json_delta', partial_json: '{"city":' },
      },
      { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '"Oslo"}' } },
      { type: 'content_block_stop', index: 1 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ],
  };
  const body = { messages: [user], functions };
  const shownParts = shownFor('chat', 'messages', body);

  it.each(ways)('has a function_call and ends with it, and can be sent back: %s', (_how, shown) => {
    const [choice] = records(shown('messages', 'chat', answer, shownParts).choices);
    const message = recordOf(choice?.message);
    expect(choice?.finish_reason).toBe('function_call');
    expect(message).toMatchObject({
      content: 'I look.',
      function_call: { name: 'get', arguments: '{"city":"Oslo"}' },
    });
    expect(message).not.toHaveProperty('tool_calls');
    const messages = [user, message, { role: 'function', name: 'get', content: '7' }];
    expect(sentTo('chat', 'messages', { messages, functions }).messages).toMatchObject([
      {},
      { content: [{ text: 'I look.' }, { type: 'tool_use', name: 'get', input: { city: 'Oslo' } }] },
      { content: [{ type: 'tool_result', content: [{ text: '7' }] }] },
    ]);
  });

  it('has empty arguments where the function is called with none', () => {
    const none: Answer = {
      ...answer,
      events: answer.events.filter(({ type }: { type?: string }) => type !== 'content_block_delta'),
    };
    const [choice] = records(shownStream('messages', 'chat', none, shownParts).choices);
    expect(recordOf(recordOf(choice?.message).function_call).arguments).toBe('{}');
  });

  it('loses no call if the model makes more than one all the same', () => {
    const two = {
      ...answer.whole,
      content: [...content, { type: 'tool_use', id: 'c2', name: 'get', input: {} }],
    };
    const [choice] = records(shownWhole('messages', 'chat', { events: [], whole: two }, shownParts).choices);
    expect(choice?.message).toMatchObject({ function_call: { name: 'get' }, tool_calls: [{ id: 'c2' }] });
  });

  it('has tool_calls for a caller of tools', () => {
    const tools = [{ type: 'function', function: functions[0] }];
    const asTools = shownFor('chat', 'messages', { messages: [user], tools, functions });
    expect(shownEvents('messages', 'chat', answer, asTools).join('')).not.toContain('function_call');
  });
});
