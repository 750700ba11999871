import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordOf, records, textOf } from '../../api/inference/formats/values.ts';
import { callerToolsIn, ToolNaming } from '../../api/inference/translation/tool-names.ts';
import { leftOutOf, sentTo, shownFor, user } from './ask.ts';
import { type Answer, shownCollected, shownStream, shownWhole } from './shown-answers.ts';

/* Tools have one name at a provider of another format, whichever member of the request brings them, and their own name at the caller. */

const ways = [
  ['streamed', shownStream],
  ['put together', shownCollected],
  ['whole', shownWhole],
] as const;

const tool = (name: string) => ({ type: 'function', name, parameters: { type: 'object', properties: {} } });
const space = (name: string, ...inner: string[]) => ({ type: 'namespace', name, tools: inner.map(tool) });
const patch = { type: 'custom', name: 'patch', format: { type: 'text' } };

const namesSent = (body: object): string[] =>
  records(sentTo('responses', 'chat', body).tools).map(({ function: called }) =>
    textOf(recordOf(called).name),
  );

/** An answer of a chat server that calls the tools of these names. */
function calling(...names: string[]): Answer {
  const calls = names.map((name, index) => ({
    index,
    id: `c${index}`,
    type: 'function',
    function: { name, arguments: '{"input":"y"}' },
  }));
  const message = {
    role: 'assistant',
    content: null,
    tool_calls: calls.map(({ index: _, ...call }) => call),
  };
  return {
    events: [
      { id: 'a', choices: [{ index: 0, delta: { tool_calls: calls }, finish_reason: null }] },
      { id: 'a', choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    ],
    whole: { id: 'a', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] },
  };
}

const user1 = { type: 'message', ...user };

describe.each(['additional_tools', 'tool_search_output'])(
  'tools that an item of the type %s brings',
  (type) => {
    const item = { type, role: 'developer', call_id: 's', tools: [space('files', 'read'), patch] };
    const body = { input: [item, user1] };

    it('are sent', () => {
      expect(namesSent(body)).toEqual(['files__read', 'patch']);
    });

    it.each(ways)('are called back by their own names and kinds: %s', (_how, shown) => {
      const answer = calling('files__read', 'patch');
      const output = records(shown('chat', 'responses', answer, shownFor('responses', 'chat', body)).output);
      expect(output).toMatchObject([
        { type: 'function_call', name: 'read', namespace: 'files' },
        { type: 'custom_tool_call', name: 'patch', input: 'y' },
      ]);
      expect(output[1]).not.toHaveProperty('namespace');
    });
  },
);

describe('tools whose joined names would be the same', () => {
  const cases: Record<string, object[]> = {
    'one of them in no namespace': [tool('a__b'), space('a', 'b')],
    'the other one first': [space('a', 'b'), tool('a__b')],
    'of two namespaces': [space('a__b', 'c'), space('a', 'b__c')],
    'of a letter that vendors do not take': [space('a.b', 'c'), space('a b', 'c'), tool('a_b__c')],
    'cut short': [space('n'.repeat(40), `${'t'.repeat(40)}1`), space('n'.repeat(40), `${'t'.repeat(40)}2`)],
    'of one that has the other one’s shorter name': [
      space('n'.repeat(40), 't'.repeat(40)),
      tool(
        new ToolNaming(callerToolsIn([space('n'.repeat(40), 't'.repeat(40))])).nameOf(callerTool('n', 't')),
      ),
    ],
  };

  it.each(Object.entries(cases))('have names of their own, in the same order: %s', (_how, tools) => {
    const names = namesSent({ input: 'x', tools });
    expect(new Set(names).size).toBe(tools.length);
    expect(names.every((name) => /^[\w-]{1,64}$/.test(name))).toBe(true);
    for (const [index, name] of names.entries()) {
      const plain = tools[index];
      if (plain !== undefined && 'parameters' in plain) expect(name).toBe(Reflect.get(plain, 'name'));
    }
  });

  it.each(Object.entries(cases))(
    'are told apart in every answer, and in the next request: %s',
    (_how, tools) => {
      const body = { input: [user1], tools };
      const names = namesSent(body);
      for (const [, shown] of ways) {
        const output = records(
          shown('chat', 'responses', calling(...names), shownFor('responses', 'chat', body)).output,
        );
        const identities = tools.map((each) => {
          const inner = records(Reflect.get(each, 'tools'))[0];
          return inner === undefined
            ? [undefined, Reflect.get(each, 'name')]
            : [Reflect.get(each, 'name'), inner.name];
        });
        expect(output.map(({ namespace, name }) => [namespace, name])).toEqual(identities);
        const results = names.map((_, index) => ({
          type: 'function_call_output',
          call_id: `c${index}`,
          output: '7',
        }));
        const next = sentTo('responses', 'chat', { tools, input: [user1, ...output, ...results] });
        const called = records(records(next.messages)[1]?.tool_calls).map(
          (call) => recordOf(call.function).name,
        );
        expect(called).toEqual(names);
      }
    },
  );

  it('have names that do not depend on the order of the tools, and are the ones that a choice names', () => {
    const tools = Object.values(cases).flat();
    const sorted = (list: object[]) => namesSent({ input: 'x', tools: list }).sort();
    expect(sorted(tools.toReversed())).toEqual(sorted(tools));
    const chosen = sentTo('responses', 'chat', {
      input: 'x',
      tools: [tool('a__b'), space('a', 'b')],
      tool_choice: { type: 'function', namespace: 'a', name: 'b' },
    });
    expect(recordOf(recordOf(chosen.tool_choice).function).name).not.toBe('a__b');
    expect(recordOf(recordOf(chosen.tool_choice).function).name).toMatch(/^a__b_/);
    const allowed = sentTo('responses', 'chat', {
      input: 'x',
      tools: [tool('a__b'), space('a', 'b')],
      tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'a__b' }] },
    });
    expect(records(allowed.tools).map(({ function: called }) => recordOf(called).name)).toEqual(['a__b']);
  });

  it('a tool that is gone keeps a name of its own in earlier calls', () => {
    const call = { type: 'function_call', call_id: 'c', namespace: 'a', name: 'b', arguments: '{}' };
    const sent = sentTo('responses', 'chat', { tools: [tool('a__b')], input: [user1, call] });
    const [called] = records(records(sent.messages)[1]?.tool_calls);
    expect(recordOf(called?.function).name).not.toBe('a__b');
  });

  it('any tools have distinct names that vendors take, and are found again by them', () => {
    const word = fc.oneof(fc.stringMatching(/^[ab_]{1,5}$/), fc.string({ minLength: 1, maxLength: 80 }));
    const pair = fc.tuple(fc.oneof(fc.constant(null), word), word);
    fc.assert(
      fc.property(
        fc.uniqueArray(pair, { maxLength: 8, selector: (each) => JSON.stringify(each) }),
        (pairs) => {
          const callers = pairs.map(([namespace, name]) => ({ ...callerTool(name), namespace }));
          const naming = new ToolNaming(callers);
          const names = callers.map((each) => naming.nameOf(each));
          expect(new Set(names).size).toBe(pairs.length);
          for (const [index, name] of names.entries()) {
            expect(name).toMatch(/^[\w-]{1,64}$/);
            const own = callers[index];
            const shown = naming.shown.get(name) ?? { namespace: null, name };
            expect([shown.namespace, shown.name]).toEqual([own?.namespace, own?.name]);
          }
        },
      ),
    );
  });
});

describe('a name that the chat format has no room for', () => {
  const name = `mcp__server__${'x'.repeat(80)}`;
  const body = { messages: [user], tools: [{ name, input_schema: { type: 'object', properties: {} } }] };

  it('is shorter at the provider, in calls and choices, too', () => {
    const sent = sentTo('messages', 'chat', {
      ...body,
      tool_choice: { type: 'tool', name },
      messages: [
        user,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name, input: {} }] },
        user,
      ],
    });
    const [first] = records(sent.tools);
    const short = recordOf(first?.function).name;
    expect(short).toMatch(/^[\w-]{1,64}$/);
    expect(sent.tool_choice).toEqual({ type: 'function', function: { name: short } });
    const [call] = records(records(sent.messages)[1]?.tool_calls);
    expect(call).toMatchObject({ function: { name: short } });
  });

  it.each(ways)('is the caller’s own again in answers: %s', (_how, shown) => {
    const [first] = records(sentTo('messages', 'chat', body).tools);
    const answer = calling(textOf(recordOf(first?.function).name));
    expect(shown('chat', 'messages', answer, shownFor('messages', 'chat', body)).content).toMatchObject([
      { type: 'tool_use', name },
    ]);
  });
});

describe('the description of a namespace', () => {
  const functionOf = (name: string, description?: string) => ({ type: 'function', name, description });
  const written = (about: string, tools: object[]) =>
    records(
      sentTo('responses', 'chat', {
        input: 'x',
        tools: [{ type: 'namespace', name: 'n', description: about, tools }],
      }).tools,
    ).map(({ function: called }) => recordOf(called).description);

  it('stands before that of each of its functions, and is not named', () => {
    const tools = [
      functionOf('a', 'Reads.'),
      functionOf('b'),
      { type: 'custom', name: 'c', description: 'Writes.' },
    ];
    expect(written('Files.', tools)).toEqual(['Files.\n\nReads.', 'Files.', 'Files.\n\nWrites.']);
    const body = { input: 'x', tools: [{ type: 'namespace', name: 'n', description: 'Files.', tools }] };
    expect(leftOutOf('responses', 'messages', body)).toEqual([]);
    expect(written('', [functionOf('a', 'Reads.'), functionOf('b')])).toEqual(['Reads.', undefined]);
  });

  it('stands before the first alone where it is long and they are many', () => {
    const about = 'x'.repeat(40_000);
    expect(written(about, [functionOf('a', 'Reads.'), functionOf('b', 'Writes.')])).toEqual([
      `${about}\n\nReads.`,
      'Writes.',
    ]);
  });
});

describe('a tool that the messages format brings in the middle of a conversation', () => {
  const definition = {
    name: 'get_time',
    description: 'Tells it.',
    input_schema: { type: 'object', properties: {} },
  };
  const addition = { type: 'tool_addition', tool: { type: 'tool_definition', definition } };

  it('is sent with the others, and the message that brings it says nothing', () => {
    const sent = sentTo('messages', 'chat', { messages: [user, { role: 'system', content: [addition] }] });
    expect(sent.messages).toEqual([user]);
    expect(sent.tools).toMatchObject([{ function: { name: 'get_time', description: 'Tells it.' } }]);
  });

  it('is not sent twice where the list of tools has it', () => {
    const reference = { type: 'tool_addition', tool: { type: 'tool_reference', name: 'get_time' } };
    const sent = sentTo('messages', 'chat', {
      tools: [{ ...definition, defer_loading: true }],
      messages: [user, { role: 'system', content: [reference, { type: 'text', text: 'Now.' }] }],
    });
    expect(sent.messages).toEqual([user, { role: 'system', content: 'Now.' }]);
    expect(records(sent.tools)).toHaveLength(1);
  });
});

function callerTool(name: string, inner?: string) {
  return inner === undefined
    ? { name, namespace: null, isCustom: false, isLegacy: false, ownType: null }
    : {
        name: inner.repeat(40),
        namespace: name.repeat(40),
        isCustom: false,
        isLegacy: false,
        ownType: null,
      };
}
