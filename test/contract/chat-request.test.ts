import { describe, expect, test } from 'vitest';
import { parseChatRequest } from '../../api/contract/chat-request.ts';

const message = { role: 'user', content: 'hi' };
const valid = { model: 'acme/small', messages: [message] };

function refusal(body: unknown): { code: string; param: string | null; message: string } {
  const parsed = parseChatRequest(body);
  if (parsed.ok) throw new Error(`Accepted: ${JSON.stringify(body)}`);
  return parsed.error;
}

function accepted(body: unknown) {
  const parsed = parseChatRequest(body);
  if (!parsed.ok) throw new Error(`Refused: ${parsed.error.message}`);
  return parsed.request;
}

describe('a wrong value is refused, and the field is named', () => {
  const wrong: [field: string, param: string, values: unknown[]][] = [
    ['model', 'model', [undefined, null, '', 5, true, {}, [], 'x'.repeat(257)]],
    ['messages', 'messages', [undefined, null, [], {}, 'hi', 5]],
    ['messages', 'messages[0]', [['hi'], [null], [5], [[]]]],
    [
      'max_tokens',
      'max_tokens',
      ['5', 0, -1, 2 ** 60, 1.5, true, {}, [], Number.NaN, Number.POSITIVE_INFINITY],
    ],
    ['max_completion_tokens', 'max_completion_tokens', ['5', 0, -1, 2 ** 60, 1.5]],
    ['n', 'n', [1e9, 0, -1, 129, 1.5, '2', {}]],
    ['stream', 'stream', ['true', 1, 0, {}, []]],
    ['stream_options', 'stream_options', [true, 'x', []]],
    ['stream_options', 'stream_options.include_usage', [{ include_usage: 1 }, { include_usage: 'true' }]],
    ['temperature', 'temperature', ['1', -0.1, 2.1, {}, [], true, Number.NaN]],
    ['tools', 'tools', [{}, 'x', 5]],
    ['tools', 'tools[0]', [['x'], [null]]],
    ['tools', 'tools[0].type', [[{}], [{ type: 5 }]]],
    [
      'tools',
      'tools[0].function.name',
      [
        [{ type: 'function', function: {} }],
        [{ type: 'function', function: { name: '' } }],
        [{ type: 'function' }],
        [{ type: 'function', function: null }],
        // The flat shape of another format.
        [{ type: 'function', name: 'f' }],
      ],
    ],
    [
      'tools',
      'tools[1].function.name',
      [[{ type: 'function', function: { name: 'f' } }, { type: 'function' }]],
    ],
    ['tool_choice', 'tool_choice', ['any', 5, true, []]],
    ['tool_choice', 'tool_choice.function.name', [{ type: 'function', function: { name: 5 } }]],
    ['tool_choice', 'tool_choice.function.name', [{ type: 'function' }, { type: 'function', name: 'f' }]],
    ['response_format', 'response_format', ['json', []]],
    [
      'response_format',
      'response_format.json_schema',
      [{ type: 'json_schema' }, { type: 'json_schema', json_schema: 5 }],
    ],
    ['reasoning', 'reasoning', ['high', []]],
    ['reasoning', 'reasoning.effort', [{ effort: 'huge' }, { effort: 5 }]],
    ['models', 'models', ['a', {}, Array.from({ length: 9 }, () => 'm')]],
    [
      'models',
      'models[1]',
      [
        ['a', 5],
        ['a', ''],
        ['a', null],
      ],
    ],
  ];
  for (const [field, param, values] of wrong) {
    for (const value of values) {
      test(`${field} = ${JSON.stringify(value)?.slice(0, 60)}`, () => {
        const error = refusal({ ...valid, [field]: value });
        expect(error.code).toBe('invalid_request');
        expect(error.param).toBe(param);
        expect(error.message).toContain(`\`${param}\``);
      });
    }
  }

  test.each([null, [], 'text', 5, true])('a body that is %j is no object', (body) => {
    expect(refusal(body)).toMatchObject({ param: null, message: 'The body has to be an object.' });
  });
});

describe('messages', () => {
  test.each(['system', 'developer', 'user', 'assistant', 'tool', 'function'])(
    'the role %s passes',
    (role) => {
      expect(accepted({ ...valid, messages: [{ role, content: 'x' }] }).messages).toHaveLength(1);
    },
  );

  test.each([undefined, null, 'robot', 5])('the role %j is refused', (role) => {
    expect(refusal({ ...valid, messages: [message, { role, content: 'x' }] }).param).toBe('messages[1].role');
  });

  test('an assistant message may hold only tool calls, a function may have no result, any other needs content', () => {
    const calls = { role: 'assistant', content: null, tool_calls: [{ id: 'a' }] };
    expect(accepted({ ...valid, messages: [message, calls] }).messages[1]).toEqual(calls);
    const nothing = { role: 'function', name: 'f', content: null };
    expect(accepted({ ...valid, messages: [message, nothing] }).messages[1]).toEqual(nothing);
    for (const content of [null, undefined]) {
      expect(refusal({ ...valid, messages: [{ role: 'tool', content }] }).param).toBe('messages[0].content');
    }
  });

  test.each([
    [5, 'messages[0].content'],
    [{}, 'messages[0].content'],
    [[5], 'messages[0].content[0]'],
    [[{}], 'messages[0].content[0].type'],
    [[{ type: 'text' }], 'messages[0].content[0].text'],
    [
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 5 },
      ],
      'messages[0].content[1].text',
    ],
    [[{ type: 'image_url' }], 'messages[0].content[0].image_url'],
    [[{ type: 'image_url', image_url: 'https://x' }], 'messages[0].content[0].image_url'],
    [[{ type: 'image_url', image_url: {} }], 'messages[0].content[0].image_url.url'],
  ])('the content %j is refused at %s', (content, param) => {
    expect(refusal({ ...valid, messages: [{ role: 'user', content }] }).param).toBe(param);
  });

  test('text and image parts pass, and so do parts of the format that the spec does not list', () => {
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: 'https://example.com/cat.png', detail: 'low' } },
      { type: 'input_audio', input_audio: { format: 'wav' } },
    ];
    expect(accepted({ ...valid, messages: [{ role: 'user', content }] }).messages[0]?.content).toEqual(
      content,
    );
  });
});

describe('what clients send for a field that was not set counts as absent', () => {
  const optional =
    'max_tokens max_completion_tokens n stream stream_options temperature tools tool_choice models';

  test.each([...optional.split(' '), 'response_format', 'reasoning'])('%s = null', (field) => {
    expect(accepted({ ...valid, [field]: null })).toMatchObject(valid);
  });

  test('empty tools and models', () => {
    expect(accepted({ ...valid, tools: [], models: [] })).toEqual({ ...valid, tools: null, models: null });
  });
});

test('any other field is accepted', () => {
  const body = { ...valid, top_k: 5, provider: { only: ['x'] }, metadata: { a: 'b' }, seed: 12 };
  expect(accepted(body)).toEqual(body);
});

test('a __proto__ in the body changes no object of ours', () => {
  const request = accepted(
    JSON.parse('{"model":"m","messages":[{"role":"user","content":"a"}],"__proto__":{"n":5}}'),
  );
  expect(request.n).toBeUndefined();
  expect(Object.getPrototypeOf(request)).toBe(Object.prototype);
});

test('the caller cannot make an error message long', () => {
  const error = refusal({
    ...valid,
    tools: [{ type: 'function', function: { name: 'x'.repeat(1e6), description: 5 } }],
  });
  expect(error.message.length).toBeLessThan(200);
});
