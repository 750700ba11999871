import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import type { AskedDialect } from '#core/conversation/conversation.ts';
import { runAtOnce } from '#core/steps.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { signForeignCallsIn } from '../../api/inference/formats/call-signature.ts';
import { writeBody } from '../../api/inference/formats/edit-member.ts';
import { leaveOutForeignReasoning } from '../../api/inference/formats/foreign-reasoning.ts';
import { markIssuer, readIssuer } from '../../api/inference/formats/signed-reasoning.ts';
import { recordOf, records } from '../../api/inference/formats/values.ts';
import { MemberChanges, scanJsonObject } from '../../api/inference/json/json-object.ts';
import {
  type TranslationTarget,
  translateRequest,
} from '../../api/inference/translation/translate-request.ts';
import { shownFor } from './ask.ts';
import { askedDialect } from './asked-dialect.ts';
import { type Answer, shownCollected, shownStream, shownWhole } from './shown-answers.ts';

/* What earlier answers were shown as comes back in the next request, and reaches those who can read it. */

function asked(
  from: FormatName,
  to: TranslationTarget,
  body: object,
  dialect: Partial<AskedDialect> = {},
): Record<string, unknown> {
  const result = translateRequest({ model: 'm', ...body }, from, to, {
    upstreamModel: 'm',
    outputTokensCap: 4_000,
    reasonsByEffort: false,
    dialect: { ...askedDialect, ...dialect },
  });
  if (isApiError(result)) throw new Error(`${result.param}: ${result.message}`);
  return JSON.parse(result.object.bytes.toString());
}

/** How a caller of responses with these tools is shown its answers. */
const shownTools = (tools: object[]) => shownFor('responses', 'chat', { input: 'x', tools });

const user = { role: 'user', content: 'x' };
const ways = [
  ['streamed', shownStream],
  ['put together', shownCollected],
  ['whole', shownWhole],
] as const;

/** A caller of this format sends this to go on after an answer that it was shown. */
function nextTurn(format: FormatName, shown: Record<string, unknown>): object {
  switch (format) {
    case 'chat':
      return { messages: [user, recordOf(records(shown.choices)[0]).message, result.chat] };
    case 'messages':
      return { messages: [user, { role: 'assistant', content: shown.content }, result.messages] };
    case 'responses':
      return { input: [user, ...records(shown.output), result.responses] };
  }
}

const result = {
  chat: { role: 'tool', tool_call_id: 'c1', content: '7' },
  messages: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: '7' }] },
  responses: { type: 'function_call_output', call_id: 'c1', output: '7' },
};

const chunk = (delta: object, reason: string | null = null) => ({
  id: 'a',
  choices: [{ index: 0, delta, finish_reason: reason }],
});

describe('reasoning of a server that signs nothing', () => {
  const call = { index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
  const message = { role: 'assistant', reasoning_content: 'so', tool_calls: [call] };
  const answer: Answer = {
    events: [chunk({ reasoning_content: 'so' }), chunk({ tool_calls: [call] }, 'tool_calls')],
    whole: { id: 'a', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] },
  };

  describe.each(ways)('%s', (_how, shown) => {
    it.each(['messages', 'responses'] as const)('comes back to it from a caller of %s', (format) => {
      const body = nextTurn(format, shown('chat', format, answer));
      for (const member of ['reasoning_content', 'reasoning'] as const) {
        const [, earlier] = records(asked(format, 'chat', body, { reasoningMember: member }).messages);
        expect(earlier).toMatchObject({ [member]: 'so', tool_calls: [{ id: 'c1' }] });
      }
      const [, earlier] = records(asked(format, 'chat', body, { reasoningMember: null }).messages);
      expect(Object.keys(recordOf(earlier)).sort()).toEqual(['content', 'role', 'tool_calls']);
    });

    it.each(['chat', 'messages', 'responses'] as const)(
      'does not reach a server that wants it signed, from a caller of %s',
      (format) => {
        if (format === 'messages') return;
        const body = nextTurn(format, shown('chat', format, answer));
        expect(JSON.stringify(asked(format, 'messages', body))).not.toContain('"so"');
      },
    );
  });
});

describe('the signature of a call', () => {
  const signed = {
    index: 0,
    id: 'c1',
    type: 'function',
    function: { name: 'f', arguments: '{"a":1}' },
    extra_content: { google: { thought_signature: 'TS' } },
  };
  const { index: _, ...whole } = signed;
  const message = { role: 'assistant', content: null, tool_calls: [whole] };
  const answer: Answer = {
    events: [chunk({ tool_calls: [signed] }, 'tool_calls')],
    whole: { id: 'a', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] },
  };

  describe.each(ways)('%s', (_how, shown) => {
    it.each(['chat', 'messages', 'responses'] as const)(
      'comes back beside the call from a caller of %s, byte for byte, and to its issuer alone',
      (format) => {
        const body = nextTurn(format, shown('chat', format, answer));
        const sent = format === 'chat' ? body : asked(format, 'chat', body, { signsCalls: true });
        const [, earlier] = records(recordOf(sent).messages);
        expect(records(earlier?.tool_calls)).toMatchObject([
          { id: 'c1', extra_content: { google: { thought_signature: 'TS' } } },
        ]);
        for (const to of ['chat', 'messages'] as const)
          if (to !== format) expect(JSON.stringify(asked(format, to, body))).not.toContain('TS');
      },
    );
  });
});

describe('reasoning that Claude has signed', () => {
  const content = [
    { type: 'thinking', thinking: 'so', signature: 'SIG' },
    { type: 'redacted_thinking', data: 'RED' },
    { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
  ];
  const begin = { type: 'message', role: 'assistant', model: 'm', id: 'a' };
  const answer: Answer = {
    whole: { ...begin, content, stop_reason: 'tool_use', usage: { input_tokens: 1, output_tokens: 1 } },
    events: [
      {
        type: 'message_start',
        message: { ...begin, content: [], usage: { input_tokens: 1, output_tokens: 1 } },
      },
      {
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'thinking', thinking: '', signature: '' },
      },
      { type: 'content_block_delta', index: 0, delta: { type: 'thinking_delta', thinking: 'so' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 'SIG' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'content_block_start', index: 1, content_block: content[1] },
      { type: 'content_block_stop', index: 1 },
      {
        type: 'content_block_start',
        index: 2,
        content_block: { type: 'tool_use', id: 'c1', name: 'f', input: {} },
      },
      { type: 'content_block_delta', index: 2, delta: { type: 'input_json_delta', partial_json: '{"a":1}' } },
      { type: 'content_block_stop', index: 2 },
      { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
      { type: 'message_stop' },
    ],
  };

  describe.each(ways)('%s', (_how, shown) => {
    it.each(['chat', 'responses'] as const)(
      'comes back to it byte for byte from a caller of %s',
      (format) => {
        const body = nextTurn(format, shown('messages', format, answer));
        const [, earlier] = records(asked(format, 'messages', body).messages);
        expect(earlier).toEqual({ role: 'assistant', content });
        expect(JSON.stringify(asked(format, 'chat', body, { signsCalls: true }))).not.toMatch(/SIG|RED/);
      },
    );
  });
});

describe('reasoning that a router passes on with the name of its vendor', () => {
  const details = [
    { type: 'reasoning.text', text: 'so', signature: 'S:i%g==', format: 'anthropic-claude-v1', index: 0 },
    { type: 'reasoning.encrypted', data: 'E:n+c==', format: 'google-gemini-v1', id: 'c1:%', index: 1 },
  ];
  const [signed, encrypted] = details;
  const call = { index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } };
  const message = { role: 'assistant', reasoning: 'so', reasoning_details: details, tool_calls: [call] };
  const answer: Answer = {
    events: [
      chunk({ reasoning: 'so', reasoning_details: [{ ...signed, signature: undefined }] }),
      chunk({ reasoning_details: [{ ...signed, text: '' }] }),
      chunk({ reasoning_details: [encrypted] }),
      chunk({ tool_calls: [call] }, 'tool_calls'),
    ],
    whole: { id: 'a', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] },
  };

  describe.each(ways)('%s', (_how, shown) => {
    it.each(['messages', 'responses'] as const)(
      'comes back to the router byte for byte from a caller of %s',
      (format) => {
        const body = nextTurn(format, shown('chat', format, answer));
        const [, earlier] = records(asked(format, 'chat', body, { takesReasoningDetails: true }).messages);
        expect(earlier).toMatchObject({ reasoning_details: details, tool_calls: [{ id: 'c1' }] });
        expect(earlier?.reasoning_details).toEqual(details);
      },
    );

    it.each(['messages', 'responses'] as const)(
      'reaches no other server, but for its vendor’s own, from a caller of %s',
      (format) => {
        const body = nextTurn(format, shown('chat', format, answer));
        expect(JSON.stringify(asked(format, 'chat', body))).not.toMatch(/S:i%g|E:n/);
        if (format === 'messages') return;
        const [, earlier] = records(asked(format, 'messages', body).messages);
        expect(earlier).toMatchObject({
          content: [{ type: 'thinking', thinking: 'so', signature: 'S:i%g==' }, {}],
        });
        expect(JSON.stringify(earlier)).not.toContain('E:n');
      },
    );

    it('reaches a server of the messages format as its vendor signed it, where the caller’s body passes', () => {
      const { messages } = nextTurn('messages', shown('chat', 'messages', answer)) as { messages: object[] };
      const body = scanJsonObject(Buffer.from(JSON.stringify({ messages })));
      if (typeof body === 'string') throw new Error(body);
      const changes = new MemberChanges();
      leaveOutForeignReasoning(body, 'messages', 'claude-x', changes);
      const text = runAtOnce(writeBody(body, changes)).toString();
      expect(JSON.parse(text).messages[1].content[0]).toEqual({
        type: 'thinking',
        thinking: 'so',
        signature: 'S:i%g==',
      });
      expect(text).not.toContain('E:n');
    });
  });

  it('has a name in every answer that a server of the messages format has signed, so that routers know it', () => {
    const content = [
      { type: 'thinking', thinking: 'so', signature: 'SIG' },
      { type: 'redacted_thinking', data: 'RED' },
    ];
    const whole = { id: 'a', type: 'message', content, stop_reason: 'end_turn' };
    const [choice] = records(shownWhole('messages', 'chat', { whole, events: [] }).choices);
    expect(recordOf(recordOf(choice).message).reasoning_details).toEqual([
      { type: 'reasoning.text', text: 'so', signature: 'SIG', format: 'anthropic-claude-v1', index: 0 },
      { type: 'reasoning.encrypted', data: 'RED', format: 'anthropic-claude-v1', index: 1 },
    ]);
  });
});

describe('a mark of the issuer', () => {
  it('gives back what was kept, and who issued it, whatever their letters', () => {
    const name = fc.string({ unit: 'grapheme', maxLength: 20 });
    fc.assert(
      fc.property(
        fc.string(),
        name,
        fc.option(fc.string({ unit: 'grapheme', minLength: 1 })),
        (kept, format, id) => {
          expect(readIssuer(markIssuer(kept, { format, id }))).toEqual({ kept, issuer: { format, id } });
          if (!kept.startsWith('issuer:')) expect(readIssuer(markIssuer(kept, undefined))).toEqual({ kept });
        },
      ),
    );
    expect(readIssuer('issuer:%E0%:x:kept')).toEqual({ kept: 'issuer:%E0%:x:kept' });
  });
});

describe('calls that another model has made', () => {
  const call = (id: string, extra: object = {}) => ({
    id,
    type: 'function',
    function: { name: 'f', arguments: '{"n":10000000000000000001}' },
    ...extra,
  });
  const own = { extra_content: { google: { thought_signature: 'TS' } } };
  const placeholder = {
    extra_content: { google: { thought_signature: 'skip_thought_signature_validator' } },
  };
  const sent = (calls: object[], upstreamModel: string): unknown => {
    const messages = [
      user,
      { role: 'assistant', content: null, tool_calls: calls },
      { role: 'tool', tool_call_id: 'a', content: '7' },
    ];
    const body = scanJsonObject(Buffer.from(`{"seed":1.10,"messages":${JSON.stringify(messages)}}`));
    if (typeof body === 'string') throw new Error(body);
    const changes = new MemberChanges();
    signForeignCallsIn(body, upstreamModel, changes);
    const shown = JSON.parse(runAtOnce(writeBody(body, changes)).toString());
    return shown.messages[1].tool_calls;
  };

  it.each(['gemini-3-pro-preview', 'models/gemini-3.1-flash', 'google/gemini-flash-latest', 'gemini-10'])(
    'have the documented word in the place of a signature, once an answer: %s',
    (model) => {
      expect(sent([call('a'), call('b')], model)).toEqual([call('a', placeholder), call('b')]);
    },
  );

  it.each(['gemini-2.5-pro', 'gemini-1.5-flash-8b', 'gemini-2', 'gemma-3-27b-it'])(
    'pass as they are to a model that signs nothing: %s',
    (model) => {
      expect(sent([call('a')], model)).toEqual([call('a')]);
    },
  );

  it('pass as they are where the model has signed them, of which it signs the first alone', () => {
    expect(sent([call('a', own), call('b')], 'gemini-3-pro')).toEqual([call('a', own), call('b')]);
  });
});

describe('a mark for the cache of a prompt', () => {
  const cache_control = { type: 'ephemeral', ttl: '1h' };
  const tool = { name: 'f', parameters: { type: 'object', properties: {} } };

  it('reaches a server of the messages format from a part, a message, a tool and the top of a chat', () => {
    const body = asked('chat', 'messages', {
      cache_control,
      messages: [
        { role: 'system', content: [{ type: 'text', text: 's', cache_control }] },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a', cache_control },
            { type: 'text', text: 'b' },
          ],
        },
        { role: 'user', content: 'c', cache_control },
      ],
      tools: [{ type: 'function', function: tool, cache_control }],
    });
    expect(body).toMatchObject({
      cache_control,
      system: [{ type: 'text', text: 's', cache_control }],
      messages: [{ content: [{ text: 'a', cache_control }, { text: 'b' }, { text: 'c', cache_control }] }],
      tools: [{ name: 'f', cache_control }],
    });
    expect(records(records(body.messages)[0]?.content)[1]).not.toHaveProperty('cache_control');
  });

  it('reaches it from the items, parts and tools of a responses call, and from a result', () => {
    const body = asked('responses', 'messages', {
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'a', cache_control }] },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: '7', cache_control },
      ],
      tools: [{ type: 'function', ...tool, cache_control }],
    });
    expect(body).toMatchObject({
      messages: [
        { content: [{ text: 'a', cache_control }] },
        {},
        { content: [{ type: 'tool_result', cache_control }] },
      ],
      tools: [{ cache_control }],
    });
  });

  it('keeps no members that need a beta of their own, and is none of another type', () => {
    const parts = [
      { type: 'text', text: 'a', cache_control: { ...cache_control, scope: 'global' } },
      { type: 'text', text: 'b', cache_control: { type: 'eternal' } },
    ];
    expect(
      records(asked('chat', 'messages', { messages: [{ role: 'user', content: parts }] }).messages),
    ).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a', cache_control },
          { type: 'text', text: 'b' },
        ],
      },
    ]);
  });
});

describe('tools of kinds that a server does not know', () => {
  const patch = { type: 'custom', name: 'apply_patch', description: 'Patches.', format: { type: 'text' } };
  const files = {
    type: 'namespace',
    name: 'files',
    tools: [{ type: 'function', name: 'read', parameters: null }],
  };
  const tools = [patch, files];

  it.each(['chat', 'messages'] as const)('are functions at a server of %s', (to) => {
    const sent = records(asked('responses', to, { input: 'x', tools }).tools);
    const functions = sent.map((tool) => (to === 'chat' ? recordOf(tool.function) : tool));
    expect(functions.map(({ name }) => name)).toEqual(['apply_patch', 'files__read']);
    expect(functions[0]).toMatchObject({
      [to === 'chat' ? 'parameters' : 'input_schema']: { required: ['input'] },
    });
  });

  it('are called back as what they are, and their calls come back', () => {
    const calls = [
      {
        index: 0,
        id: 'c1',
        type: 'function',
        function: { name: 'apply_patch', arguments: '{"input":"*** Begin"}' },
      },
      { index: 1, id: 'c2', type: 'function', function: { name: 'files__read', arguments: '{"p":1}' } },
    ];
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: calls.map(({ index: _, ...call }) => call),
    };
    const answer: Answer = {
      events: [chunk({ tool_calls: calls }, 'tool_calls')],
      whole: { id: 'a', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] },
    };
    for (const [, shown] of ways) {
      const output = records(shown('chat', 'responses', answer, shownTools(tools)).output);
      expect(output).toMatchObject([
        { type: 'custom_tool_call', call_id: 'c1', name: 'apply_patch', input: '*** Begin' },
        { type: 'function_call', call_id: 'c2', name: 'read', namespace: 'files', arguments: '{"p":1}' },
      ]);
      const results = [
        { type: 'custom_tool_call_output', call_id: 'c1', output: 'done' },
        { type: 'function_call_output', call_id: 'c2', output: '7' },
      ];
      const [, earlier, ...last] = records(
        asked('responses', 'chat', { input: [user, ...output, ...results], tools }).messages,
      );
      expect(earlier?.tool_calls).toEqual(message.tool_calls);
      expect(last).toEqual([
        { role: 'tool', tool_call_id: 'c1', content: 'done' },
        { role: 'tool', tool_call_id: 'c2', content: '7' },
      ]);
    }
  });

  it('have names of at most 64 letters at the server, no two the same', () => {
    const word = fc.stringMatching(/^[\w. -]{1,60}$/);
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.tuple(word, word), { minLength: 2, maxLength: 6, selector: String }),
        (pairs) => {
          const spaces = pairs.map(([name, inner]) => ({
            type: 'namespace',
            name,
            tools: [{ type: 'function', name: inner }],
          }));
          const names = records(asked('responses', 'chat', { input: 'x', tools: spaces }).tools).map(
            ({ function: called }) => String(recordOf(called).name),
          );
          expect(names.every((name) => name.length <= 64 && /^[\w-]+$/.test(name))).toBe(true);
          expect(new Set(names).size).toBe(pairs.length);
        },
      ),
    );
  });
});

describe('results of tools', () => {
  it('stand directly behind the answer that called them, whatever the user said in between', () => {
    const input = [
      user,
      { type: 'function_call', call_id: 'c1', name: 'f', arguments: '{}' },
      { role: 'user', content: 'wait' },
      { type: 'function_call_output', call_id: 'c1', output: '7' },
    ];
    expect(records(asked('responses', 'messages', { input }).messages)).toMatchObject([
      { role: 'user' },
      { role: 'assistant' },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1' },
          { type: 'text', text: 'wait' },
        ],
      },
    ]);
    expect(records(asked('responses', 'chat', { input }).messages).map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
    ]);
  });
});
