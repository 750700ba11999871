import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { runAtOnce } from '#core/steps.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { fitMessagesCallIds } from '../../api/inference/formats/call-id-rules.ts';
import { writeBody } from '../../api/inference/formats/edit-member.ts';
import { recordOf, records } from '../../api/inference/formats/values.ts';
import { MemberChanges, scanJsonObject } from '../../api/inference/json/json-object.ts';
import { type DialectName, dialects } from '../../api/providers/openai/dialects.ts';
import { askTarget } from '../../openapi/generate/field-table.ts';

/* Ids of earlier calls that a server would refuse are written as it takes them, in the call and in its result alike. */

function sent(from: FormatName, body: object, dialect: DialectName, formats: readonly FormatName[]) {
  const target = { name: dialect, kind: 'openai' as const, dialect: dialects[dialect], formats };
  const asked = askTarget(from, { model: 'm', ...body }, target);
  if (isApiError(asked)) throw new Error(asked.message);
  return asked.sent;
}

const user = { role: 'user', content: 'x' };
const FOREIGN = [
  'functions.get:0',
  'call_0fypS1hVX',
  'toolu_01A09q90qw90lq917835lq9',
  'a',
  'A1B2C3D4_',
  'abc12345é',
];
const LONG = [`call_${'x'.repeat(60)}1`, `call_${'x'.repeat(60)}2`];

const callsOf = (ids: readonly string[]): Record<FormatName, object> => ({
  chat: {
    messages: [
      user,
      {
        role: 'assistant',
        content: null,
        tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })),
      },
      ...ids.map((id) => ({ role: 'tool', tool_call_id: id, content: id })),
    ],
  },
  messages: {
    max_tokens: 9,
    messages: [
      user,
      { role: 'assistant', content: ids.map((id) => ({ type: 'tool_use', id, name: 'f', input: {} })) },
      { role: 'user', content: ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: id })) },
    ],
  },
  responses: {
    input: [
      ...ids.map((id) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}' })),
      ...ids.map((id) => ({ type: 'function_call_output', call_id: id, output: id })),
    ],
  },
});

/** The ids of the calls, and those of their results. */
function idsIn(body: Record<string, unknown>): unknown[][] {
  const items = [...records(body.messages), ...records(body.input)];
  const parts = [
    ...items,
    ...items.flatMap(({ content, tool_calls }) => [...records(content), ...records(tool_calls)]),
  ];
  return [
    parts.flatMap(({ type, id, call_id }) =>
      type === 'function_call' ? [call_id] : type === 'function' || type === 'tool_use' ? [id] : [],
    ),
    parts.flatMap(({ type, role, tool_call_id, tool_use_id, call_id }) =>
      type === 'function_call_output'
        ? [call_id]
        : role === 'tool'
          ? [tool_call_id]
          : type === 'tool_result'
            ? [tool_use_id]
            : [],
    ),
  ];
}

describe('Mistral', () => {
  it.each(['chat', 'messages', 'responses'] as const)(
    'is sent ids of nine letters or digits, each its own: %s',
    (from) => {
      const ids = [...FOREIGN, ...LONG];
      const [calls = [], results] = idsIn(sent(from, callsOf(ids)[from], 'mistral', ['chat']));
      expect(results).toEqual(calls);
      expect(new Set(calls).size).toBe(ids.length);
      expect(calls.filter((id) => !/^[a-zA-Z0-9]{9}$/.test(String(id)))).toEqual([]);
    },
  );

  it.each(['chat', 'messages', 'responses'] as const)(
    'gets its own ids back as they were, and others the same in each turn: %s',
    (from) => {
      const ids = (given: string[]) => idsIn(sent(from, callsOf(given)[from], 'mistral', ['chat']))[0];
      expect(ids(['D681PevKs'])).toEqual(['D681PevKs']);
      expect(ids(['D681PevKs', 'call_1'])?.[1]).toBe(ids(['call_1'])?.[0]);
    },
  );
});

describe('OpenAI', () => {
  it.each([
    ['chat', 'chat', 40],
    ['messages', 'chat', 40],
    ['responses', 'responses', 64],
  ] as const)('is sent no longer ids than it takes: %s asked in %s', (from, to, max) => {
    const ids = ['call_short', ...LONG];
    const [calls = [], results] = idsIn(sent(from, callsOf(ids)[from], 'openai', [to]));
    expect(results).toEqual(calls);
    expect(calls[0]).toBe('call_short');
    expect(new Set(calls).size).toBe(ids.length);
    expect(calls.filter((id) => String(id).length > max)).toEqual([]);
  });
});

it.each(['groq', 'deepseek', 'vllm', 'other'] as const)(
  'other servers are sent ids as they came: %s',
  (dialect) => {
    const ids = [...FOREIGN, ...LONG];
    expect(idsIn(sent('chat', callsOf(ids).chat, dialect, ['chat']))).toEqual([ids, ids]);
  },
);

describe('a server of the messages format', () => {
  it('is sent ids of another server in the letters that it takes', () => {
    const ids = ['functions.get:0', 'functions.get_0', 'functions_get:0', 'toolu_1'];
    const [calls = [], results] = idsIn(sent('messages', callsOf(ids).messages, 'other', ['messages']));
    expect(results).toEqual(calls);
    expect(calls[3]).toBe('toolu_1');
    expect(new Set(calls).size).toBe(4);
    expect(calls.every((id) => /^[a-zA-Z0-9_-]+$/.test(String(id)))).toBe(true);
    const translated = idsIn(sent('chat', callsOf(ids).chat, 'other', ['messages']));
    expect(translated).toEqual([calls, calls]);
  });

  it('is sent all else of such a conversation as it came', () => {
    const odd = {
      type: 'tool_result',
      tool_use_id: 'f:0',
      content: [{ type: 'text', text: '{"tool_use_id":"f:0"}' }],
    };
    const use = { type: 'tool_use', id: 'f:0', name: 'f', input: { id: 'f:0', tool_use_id: 'f:0' } };
    const messages = [user, { role: 'assistant', content: [use] }, { role: 'user', content: [odd] }];
    const [, answer, result] = records(
      sent('messages', { max_tokens: 9, messages }, 'other', ['messages']).messages,
    );
    const id = recordOf(records(answer?.content)[0]).id;
    expect(answer?.content).toEqual([{ ...use, id }]);
    expect(result?.content).toEqual([{ ...odd, tool_use_id: id }]);
  });
});

describe('a conversation passes byte for byte', () => {
  const changed = (id: string, model: string): boolean => {
    const text = `{"messages": [{"role":"user","content":[{"type":"tool_result", "tool_use_id" : "${id}" }]}]}`;
    const object = scanJsonObject(Buffer.from(text));
    if (typeof object === 'string') throw new Error(object);
    const changes = new MemberChanges();
    fitMessagesCallIds(object, model, changes);
    return runAtOnce(writeBody(object, changes)).toString() !== text;
  };

  it.each(['toolu_01A-x', 'call_00_x', 'chatcmpl-tool-1'])(
    'where each id is one that its server takes: %s',
    (id) => {
      expect(changed(id, 'claude-opus-4-8')).toBe(false);
    },
  );

  it('and to a model that gives such ids itself', () => {
    expect(changed('functions.get:0', 'claude-opus-4-8')).toBe(true);
    expect(changed('functions.get:0', 'kimi-k2.5')).toBe(false);
  });

  it.each(['f\\u003a0', 'f 0', 'é', ''])(
    'but for an id in other letters, however it is printed: %s',
    (id) => {
      expect(changed(id, 'claude-opus-4-8')).toBe(true);
    },
  );
});
