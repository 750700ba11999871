import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { runAtOnce } from '#core/steps.ts';
import { tellSchema } from '../../api/inference/formats/answer-schema.ts';
import { writeBody } from '../../api/inference/formats/edit-member.ts';
import { recordOf, records } from '../../api/inference/formats/values.ts';
import { MemberChanges, scanJsonObject } from '../../api/inference/json/json-object.ts';
import { type DialectName, dialects } from '../../api/providers/openai/dialects.ts';
import { shownFor } from '../formats/ask.ts';
import { type Answer, shownCollected, shownStream, shownWhole } from '../formats/shown-answers.ts';
import { admitted, at, leftOut, refusal, sent } from './at-dialect.ts';

/* Each server of the chat format is sent what it takes, natively and by translation, and the caller hears what is lost. */

const deepseek = at(dialects.deepseek, ['chat']);
const user = { role: 'user', content: 'a' };
const parameters = { type: 'object', properties: {} };
const chatTool = { type: 'function', function: { name: 'f', parameters } };
const responsesTool = { type: 'function', name: 'f', parameters };
const messagesTool = { name: 'f', input_schema: parameters };

function candidateOf(format: FormatName, extra: object, name: DialectName) {
  const result = admitted(format, extra, at(dialects[name], ['chat']));
  const [candidate] = result.ok ? result.plan.candidates : [];
  if (candidate === undefined) throw new Error('no candidate');
  return candidate;
}

describe('a schema of the answer at a server that knows none', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  const json_schema = { name: 'n', description: 'An a.', schema };
  const asked: Record<FormatName, object> = {
    chat: { response_format: { type: 'json_schema', json_schema } },
    responses: { text: { format: { type: 'json_schema', name: 'n', description: 'An a.', schema } } },
    messages: { output_config: { format: { type: 'json_schema', schema } } },
  };
  const name: Record<FormatName, string> = {
    chat: 'response_format.json_schema',
    responses: 'text.format.schema',
    messages: 'output_config.format.schema',
  };

  it.each(['chat', 'responses', 'messages'] as const)('is told in words by a caller of %s', (format) => {
    const body = sent(format, asked[format], deepseek);
    expect(body.response_format).toEqual({ type: 'json_object' });
    const [system, ...others] = records(body.messages);
    expect(system?.role).toBe('system');
    expect(system?.content).toMatch(/JSON Schema/);
    expect(system?.content).toContain('"properties":{"a":{"type":"string"}}');
    if (format !== 'messages') expect(system?.content).toContain('"description":"An a."');
    expect(others).toMatchObject([{ role: 'user' }]);
    expect(leftOut(format, asked[format], deepseek)).toEqual([name[format]]);
    const strict = { ...asked[format], provider: { require_parameters: true } };
    expect(refusal(format, strict, deepseek)).toBe(`no_provider ${name[format]}`);
  });

  it('stands behind the instructions of the caller, and keeps the digits of its numbers', () => {
    const messages = '[{"role":"developer","content":"s"},{"role":"user","content":1.10}]';
    const format = '{"type":"json_schema","json_schema":{"schema":{"maximum":1.10,"enum":["é\\"\\n"]}}}';
    const body = scanJsonObject(Buffer.from(`{"messages":${messages},"response_format":${format}}`));
    if (typeof body === 'string') throw new Error(body);
    const changes = new MemberChanges();
    tellSchema(body, changes);
    const text = runAtOnce(writeBody(body, changes)).toString();
    expect(text).toContain('"content":1.10');
    const [first, second] = JSON.parse(text).messages;
    expect(first).toEqual({ role: 'developer', content: 's' });
    expect(second.content.split('\n').at(-1)).toBe('{"maximum":1.10,"enum":["é\\"\\n"]}');
  });

  it('is in the hold with the words around it', () => {
    const { addedTokens = 0 } = candidateOf('chat', asked.chat, 'deepseek');
    const [system] = records(sent('chat', asked.chat, deepseek).messages);
    const more = Buffer.byteLength(String(system?.content)) - Buffer.byteLength(JSON.stringify(asked.chat));
    expect(addedTokens).toBeGreaterThan(more);
    const { translated, translatedTokensMax = 0 } = candidateOf('responses', asked.responses, 'deepseek');
    expect(translatedTokensMax).toBeGreaterThan(translated?.bytes.length ?? 0);
  });

  it('passes to every server that takes it, and any JSON passes here', () => {
    for (const each of Object.values(dialects).filter(({ takesSchemas }) => takesSchemas)) {
      expect(sent('chat', asked.chat, at(each))).toMatchObject(asked.chat);
      expect(leftOut('chat', asked.chat, at(each))).toEqual([]);
    }
    const any = { response_format: { type: 'json_object' } };
    expect(sent('chat', any, deepseek)).toMatchObject({ ...any, messages: [{ role: 'user' }] });
    expect(leftOut('chat', any, deepseek)).toEqual([]);
  });
});

describe('a server that reasons unless told not to', () => {
  const rest = { thinking: { type: 'disabled' } };
  const forced = { type: 'function', function: { name: 'f' } };
  const allowed = { mode: 'required', tools: [forced] };

  it.each<[FormatName, object]>([
    ['chat', { tools: [chatTool], tool_choice: 'required' }],
    ['chat', { tools: [chatTool], tool_choice: forced }],
    ['chat', { tools: [chatTool], tool_choice: { type: 'allowed_tools', allowed_tools: allowed } }],
    ['responses', { tools: [responsesTool], tool_choice: 'required' }],
    ['messages', { tools: [messagesTool], tool_choice: { type: 'any' } }],
    ['messages', { tools: [messagesTool], tool_choice: { type: 'tool', name: 'f' } }],
  ])('is told to rest where a tool must be called: %s %j', (format, extra) => {
    expect(sent(format, extra, deepseek)).toMatchObject(rest);
    expect(leftOut(format, extra, deepseek)).toEqual([]);
    expect(sent(format, extra, at(dialects.vllm, ['chat']))).not.toHaveProperty('thinking');
  });

  it.each<[FormatName, object, string[]]>([
    ['chat', { reasoning_effort: 'high' }, ['reasoning_effort']],
    ['chat', { reasoning: { effort: 'high' } }, ['reasoning.effort']],
    ['chat', { thinking: { type: 'enabled' } }, ['thinking.type']],
    ['responses', { reasoning: { effort: 'high' } }, ['reasoning.effort']],
    ['messages', { thinking: { type: 'adaptive' } }, ['thinking.type']],
  ])('names the wish to reason that is lost by it: %s %j', (format, extra, names) => {
    const tools = { chat: [chatTool], responses: [responsesTool], messages: [messagesTool] }[format];
    const choice = { tools, tool_choice: format === 'messages' ? { type: 'any' } : 'required' };
    const body = sent(format, { ...choice, ...extra }, deepseek);
    expect(body).toMatchObject(rest);
    expect(body).not.toHaveProperty('reasoning_effort');
    expect(leftOut(format, { ...choice, ...extra }, deepseek)).toEqual(names);
    const free = { ...extra, tools };
    expect(sent(format, free, deepseek).thinking).not.toEqual(rest.thinking);
    expect(leftOut(format, free, deepseek)).toEqual([]);
  });

  it.each<[FormatName, object]>([
    ['chat', { reasoning_effort: 'none' }],
    ['chat', { reasoning: { enabled: false } }],
    ['chat', { reasoning: { effort: 'none' } }],
    ['responses', { reasoning: { effort: 'none' } }],
    ['messages', { thinking: { type: 'disabled' } }],
  ])('is told so where the caller wishes it: %s %j', (format, extra) => {
    const body = sent(format, extra, deepseek);
    expect(body).toMatchObject(rest);
    expect(body).not.toHaveProperty('reasoning_effort');
    expect(leftOut(format, extra, deepseek)).toEqual([]);
  });

  it('reasons beside tools that it may call', () => {
    for (const tool_choice of ['auto', 'none', null])
      expect(sent('chat', { tools: [chatTool], tool_choice }, deepseek)).not.toHaveProperty('thinking');
  });
});

describe('tools at a server that takes functions alone', () => {
  const patch = { type: 'custom', custom: { name: 'patch', description: 'Patches.' } };
  const tools = [patch, chatTool];
  const called = { id: 'callABCDE', type: 'custom', custom: { name: 'patch', input: '*** "a"\n' } };
  const servers = (Object.keys(dialects) as DialectName[]).filter((name) => !dialects[name].takesCustomTools);

  it.each(servers)('are functions where they take a plain text: %s', (name) => {
    const messages = [
      user,
      { role: 'assistant', content: null, tool_calls: [called] },
      { role: 'tool', tool_call_id: 'callABCDE', content: '7' },
    ];
    const tool_choice = { type: 'custom', custom: { name: 'patch' } };
    const body = sent('chat', { messages, tools, tool_choice }, at(dialects[name]));
    expect(records(body.tools).map(({ type, function: named }) => [type, recordOf(named).name])).toEqual([
      ['function', 'patch'],
      ['function', 'f'],
    ]);
    expect(body.tool_choice).toEqual({ type: 'function', function: { name: 'patch' } });
    expect(records(body.messages)[1]?.tool_calls).toEqual([
      {
        id: 'callABCDE',
        type: 'function',
        function: { name: 'patch', arguments: '{"input":"*** \\"a\\"\\n"}' },
      },
    ]);
    expect(leftOut('chat', { messages, tools, tool_choice }, at(dialects[name]))).toEqual([]);
  });

  it('are functions in earlier calls, too, whose tools are no longer offered', () => {
    const messages = [user, { role: 'assistant', content: null, tool_calls: [called] }];
    expect(JSON.stringify(sent('chat', { messages }, at(dialects.vllm)))).not.toContain('custom');
  });

  const call = {
    index: 0,
    id: 'c1',
    type: 'function',
    function: { name: 'patch', arguments: '{"input":"x"}' },
  };
  const { index: _, ...wholeCall } = call;
  const message = { role: 'assistant', content: null, tool_calls: [wholeCall] };
  const answer: Answer = {
    events: [
      { id: 'a', choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }] },
    ],
    whole: { id: 'a', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] },
  };

  it.each([
    ['streamed', shownStream],
    ['put together', shownCollected],
    ['whole', shownWhole],
  ] as const)('are called back as the caller sent them, %s', (_how, shown) => {
    const names = shownFor('chat', 'chat', { messages: [user], tools });
    const [choice] = records(shown('chat', 'chat', answer, names).choices);
    expect(recordOf(choice?.message).tool_calls).toEqual([
      { id: 'c1', type: 'custom', custom: { name: 'patch', input: 'x' } },
    ]);
  });

  it.each(servers)('are those alone that the choice allows, beside all other fields: %s', (name) => {
    const other = { type: 'function', function: { name: 'g', parameters } };
    const allowed = (mode: string, ...names: string[]) => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: names.map((each) => ({ type: 'function', function: { name: each } })) },
    });
    const given = { tools: [chatTool, other], temperature: 0.5, top_p: 0.5 };
    for (const mode of ['auto', 'required']) {
      const body = sent('chat', { ...given, tool_choice: allowed(mode, 'g') }, at(dialects[name]));
      expect(body).toMatchObject({ ...given, tools: [other], tool_choice: mode });
    }
    const none = sent('chat', { ...given, tool_choice: allowed('auto', 'h') }, at(dialects[name]));
    expect([none.tools, none.tool_choice]).toEqual([undefined, undefined]);
    const both = sent(
      'chat',
      { ...given, tools: [...given.tools, patch], tool_choice: allowed('auto', 'g') },
      at(dialects[name]),
    );
    expect(records(both.tools)).toMatchObject([{ function: { name: 'g' } }]);
  });

  it('pass as they came to a server that takes them', () => {
    const choice = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [patch] } };
    for (const name of ['other', 'openai'] as const)
      expect(sent('chat', { tools, tool_choice: choice }, at(dialects[name]))).toMatchObject({
        tools,
        tool_choice: choice,
      });
  });
});

describe('tags of a caller of responses', () => {
  const tags = { prompt_cache_key: 'session-1', user: 'me', safety_identifier: 'me-1' };
  const openai = at(dialects.openai, ['chat']);

  it('reach a chat of OpenAI as tags of the agent, as those of a chat do', () => {
    const body = sent('responses', tags, openai);
    const own = sent('chat', tags, openai);
    for (const name of Object.keys(tags)) {
      expect(body[name]).toMatch(/^[0-9a-f]{16}/);
      expect(body[name]).toBe(own[name]);
      expect(sent('responses', tags, openai, 8)[name]).not.toBe(body[name]);
    }
    expect(JSON.stringify(body)).not.toMatch(/session-1|"me"|me-1/);
    expect(candidateOf('responses', tags, 'openai').hints).toEqual([]);
  });

  it('are named where they reach nobody', () => {
    for (const name of ['vllm', 'mistral', 'other'] as const) {
      const body = sent('responses', tags, at(dialects[name], ['chat']));
      for (const tag of Object.keys(tags)) expect(body).not.toHaveProperty(tag);
      expect(new Set(candidateOf('responses', tags, name).hints)).toEqual(new Set(Object.keys(tags)));
    }
    expect(candidateOf('responses', { prompt_cache_key: 7, user: 'me' }, 'openai').hints).toEqual([
      'prompt_cache_key',
    ]);
  });
});

describe('the user for whom a call in messages is', () => {
  /** Claude Code writes a record as a text, and more of it in each version. */
  const userId = JSON.stringify({ device_id: 'd'.repeat(64), account_uuid: '', session_id: 's'.repeat(36) });
  const openai = at(dialects.openai, ['chat']);

  it('is a short tag of the caller at OpenAI, however long its name is', () => {
    const tagOf = (user_id: string) => sent('messages', { metadata: { user_id } }, openai).safety_identifier;
    expect(tagOf(userId)).toMatch(/^[\w-]{20,64}$/);
    expect(tagOf('x'.repeat(100_000))).toMatch(/^[\w-]{20,64}$/);
    expect(tagOf(userId)).toBe(tagOf(userId));
    expect(tagOf(userId)).not.toBe(tagOf('other'));
    expect(candidateOf('messages', { metadata: { user_id: userId } }, 'openai').hints).toEqual([]);
  });

  it('is named, with the rest, where it is not sent', () => {
    const more = { metadata: { user_id: userId, team: 'x' } };
    expect(candidateOf('messages', more, 'openai').hints).toEqual(['metadata']);
    for (const name of ['groq', 'other'] as const) {
      const body = sent('messages', { metadata: { user_id: userId } }, at(dialects[name], ['chat']));
      expect(JSON.stringify(body)).not.toContain('safety_identifier');
      expect(candidateOf('messages', { metadata: { user_id: userId } }, name).hints).toEqual(['metadata']);
    }
    expect(sent('messages', { metadata: {} }, openai)).not.toHaveProperty('safety_identifier');
  });
});

describe('a field that one server refuses a whole call for', () => {
  it('is not sent: metadata in a chat of OpenAI, which keeps no answers', () => {
    const both = at(dialects.openai, ['chat', 'responses']);
    expect(sent('chat', { metadata: { a: 'b' } }, both)).not.toHaveProperty('metadata');
    expect(candidateOf('chat', { metadata: { a: 'b' } }, 'openai').hints).toEqual(['metadata']);
    expect(sent('responses', { metadata: { a: 'b' } }, both).metadata).toEqual({ a: 'b' });
  });

  it.each(['seed', 'frequency_penalty', 'presence_penalty'])('is not sent: %s to Google', (name) => {
    const google = at(dialects.google);
    expect(sent('chat', { [name]: 1 }, google)).not.toHaveProperty(name);
    expect(leftOut('chat', { [name]: 1 }, google)).toEqual([name]);
    expect(sent('chat', { [name]: 0 }, google)).not.toHaveProperty(name);
  });

  it.each([
    ['low', 'high'],
    ['medium', 'high'],
    ['xhigh', 'high'],
    ['none', 'none'],
  ])('has the nearest word that Mistral takes: an effort of %s', (effort, word) => {
    const mistral = at(dialects.mistral);
    expect(sent('chat', { reasoning_effort: effort }, mistral).reasoning_effort).toBe(word);
    expect(sent('responses', { reasoning: { effort } }, mistral).reasoning_effort).toBe(word);
  });
});

describe('a link in an earlier answer', () => {
  const link = 'https://example.com/a.png';
  const said = (member: object) => ({
    messages: [user, { role: 'assistant', content: 'b', ...member }, user],
  });

  it.each([
    [{ citations: [link] }],
    [{ executed_tools: [{ type: 'search', output: link, search_results: { results: [{ url: link }] } }] }],
    [{ search_results: [{ url: link }] }],
    [{ content: [{ type: 'text', text: 'b', citations: [{ url: link }] }] }],
  ])('refuses no call of a server that is not sent it: %j', (member) => {
    for (const name of ['vllm', 'self-hosted'] as const) {
      expect(refusal('chat', said(member), at(dialects[name]))).toBe('admitted');
      expect(JSON.stringify(sent('chat', said(member), at(dialects[name])))).not.toContain(link);
    }
  });

  it('is refused where it would be sent, by its place in the body', () => {
    const hidden = { role: 'user', content: [{ type: 'text', text: 'b', image_url: link }] };
    const messages = [{ role: 'system', content: 's' }, { role: 'system', content: 't' }, hidden];
    expect(refusal('chat', { messages }, at(dialects.vllm))).toBe(
      'invalid_request messages[2].content[0].image_url',
    );
    expect(
      refusal(
        'chat',
        said({ images: [{ type: 'image_url', image_url: { url: 'x', extra: link } }] }),
        at(dialects.vllm),
      ),
    ).not.toBe('admitted');
  });
});
