import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { isApiError } from '../../api/contract/errors.ts';
import {
  type TranslationTarget,
  translateRequest,
} from '../../api/inference/translation/translate-request.ts';

const CAP = 4_000;
const ASKED = { upstreamModel: 'm', outputTokensCap: CAP, reasonsByEffort: false };

function asked(from: FormatName, to: TranslationTarget, body: object): Record<string, unknown> {
  const result = translateRequest({ model: 'm', ...body }, from, to, ASKED);
  if (isApiError(result)) throw new Error(`${result.param}: ${result.message}`);
  return JSON.parse(result.bytes.toString());
}

const refusal = (from: FormatName, to: TranslationTarget, body: object) => {
  const result = translateRequest({ model: 'm', ...body }, from, to, ASKED);
  return isApiError(result) ? result : null;
};

const user = { role: 'user', content: 'x' };
const schema = { type: 'object', properties: { city: { type: 'string' } } };
const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });

describe('what a provider of the messages format would refuse is said so that it takes it', () => {
  const to = 'messages';
  const turns = (messages: object[]) => asked('chat', to, { messages }).messages;

  it('white space before a call is left out, and so is a turn of nothing', () => {
    const messages = [
      user,
      { role: 'assistant', content: '\n\n', tool_calls: [call('c')] },
      { role: 'tool', tool_call_id: 'c', content: '' },
      { role: 'assistant', content: '' },
      {
        role: 'user',
        content: [
          { type: 'text', text: '' },
          { type: 'text', text: 'y' },
        ],
      },
    ];
    expect(turns(messages)).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'x' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c', content: [] },
          { type: 'text', text: 'y' },
        ],
      },
    ]);
  });

  it('ids of calls that another server made have letters that it takes, the same in call and result', () => {
    const id = 'functions.get_weather:0';
    expect(
      turns([
        user,
        { role: 'assistant', tool_calls: [call(id)] },
        { role: 'tool', tool_call_id: id, content: '7' },
      ]),
    ).toMatchObject([
      {},
      { content: [{ id: 'functions_get_weather_0' }] },
      { content: [{ tool_use_id: 'functions_get_weather_0' }] },
    ]);
  });

  it.each([
    [{}, { type: 'object', properties: {} }],
    [undefined, { type: 'object', properties: {} }],
    [{ properties: { a: {} } }, { type: 'object', properties: { a: {} } }],
    [{ $ref: '#/$defs/a' }, { type: 'object', $ref: '#/$defs/a' }],
    [schema, schema],
  ])('a tool with the parameters %o has a schema of an object', (parameters, written) => {
    const tools = [{ type: 'function', function: { name: 'f', parameters } }];
    expect(asked('chat', to, { messages: [user], tools }).tools).toEqual([
      { name: 'f', input_schema: written },
    ]);
  });

  it.each([
    [500, 1_024],
    [2_000, 2_000],
    [9_000, CAP - 1],
  ])('a budget of %i is one that there is, and leaves room for the answer', (max_tokens, budget_tokens) => {
    const body = { messages: [user], reasoning: { max_tokens } };
    expect(asked('chat', to, body).thinking).toEqual({ type: 'enabled', budget_tokens });
  });

  it('thought that another vendor has signed stays behind', () => {
    const reasoning_details = [
      { type: 'reasoning.encrypted', data: 'theirs', format: 'openai-responses-v1' },
      { type: 'reasoning.text', text: 'a', signature: 's', format: 'anthropic-claude-v1' },
    ];
    const messages = [user, { role: 'assistant', content: 'y', reasoning_details }, user];
    const ours = [
      { type: 'thinking', thinking: 'a', signature: 's' },
      { type: 'text', text: 'y' },
    ];
    expect(turns(messages)).toMatchObject([{}, { content: ours }, {}]);
    const input = [
      user,
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'a' }], encrypted_content: 'gAAAA' },
      { type: 'message', role: 'assistant', content: 'y' },
    ];
    expect(asked('responses', to, { input }).messages).toMatchObject([{}, { content: [{ text: 'y' }] }]);
  });
});

describe('what is wanted of tools and answers is asked for', () => {
  it('that arguments keep to their schema', () => {
    const tools = [{ type: 'function', function: { name: 'f', parameters: schema, strict: true } }];
    expect(asked('chat', 'messages', { messages: [user], tools }).tools).toMatchObject([{ strict: true }]);
    const strict = [{ name: 'f', input_schema: schema, strict: true }];
    expect(asked('messages', 'chat', { messages: [user], tools: strict }).tools).toMatchObject([
      { function: { strict: true } },
    ]);
  });

  it('what an answer is meant for', () => {
    const named = { name: 'a', description: 'A city.', schema };
    const format = { type: 'json_schema', ...named };
    expect(asked('responses', 'chat', { input: 'x', text: { format } }).response_format).toEqual({
      type: 'json_schema',
      json_schema: named,
    });
    expect(asked('responses', 'messages', { input: 'x', text: { format } }).output_config).toEqual({
      format: { type: 'json_schema', schema: { description: 'A city.', ...schema } },
    });
  });

  it('no thought, in the word that the caller has for it', () => {
    const body = { input: 'x', reasoning: { effort: 'none' } };
    expect(asked('responses', 'chat', body).reasoning_effort).toBe('none');
    expect(asked('responses', 'messages', body).thinking).toEqual({ type: 'disabled' });
  });
});

describe('what the chat format has other words for is said in them', () => {
  const to = 'chat';

  it('that a tool failed, and where one text of its result ends', () => {
    const result = (content: unknown) => ({ type: 'tool_result', tool_use_id: 'c', content, is_error: true });
    const texts = [
      { type: 'text', text: 'no such file' },
      { type: 'text', text: 'in /tmp' },
    ];
    const content = [result(texts), result('Error: gone'), result(undefined)];
    expect(asked('messages', to, { messages: [{ role: 'user', content }] }).messages).toEqual([
      { role: 'tool', tool_call_id: 'c', content: 'Error: no such file\nin /tmp' },
      { role: 'tool', tool_call_id: 'c', content: 'Error: gone' },
      { role: 'tool', tool_call_id: 'c', content: 'Error:' },
    ]);
  });

  it('the title and the context of a document of text', () => {
    const source = { type: 'text', media_type: 'text/plain', data: 'Once.' };
    const content = [{ type: 'document', source, title: 'A tale', context: 'For children.' }];
    expect(asked('messages', to, { messages: [{ role: 'user', content }] }).messages).toEqual([
      { role: 'user', content: ['A tale', 'For children.', 'Once.'].map((text) => ({ type: 'text', text })) },
    ]);
  });

  it('an instruction in the middle of a conversation, where it stands', () => {
    const late = { role: 'developer', content: 'Now in French.' };
    const messages = [user, { role: 'system', content: 'Now in French.' }, user];
    expect(asked('responses', to, { input: [user, late, user] }).messages).toEqual(messages);
    expect(asked('messages', to, { messages }).messages).toEqual(messages);
    expect(refusal('responses', 'messages', { input: [user, late, user] })?.param).toBe('input[1].role');
  });
});

describe('what cannot be said is refused by its place and in words', () => {
  const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
  const result = { type: 'tool_result', tool_use_id: 'c', content: [image] };

  it.each<[string, FormatName, TranslationTarget, object]>([
    ['messages[1].role', 'messages', 'chat', { messages: [user, { role: 'assistant', content: '{' }] }],
    [
      'messages[0].content[0].content[0]',
      'messages',
      'chat',
      { messages: [{ role: 'user', content: [result] }] },
    ],
    [
      'messages[0].content[1].type',
      'messages',
      'chat',
      { messages: [{ role: 'user', content: [{ ...result, content: 'x' }, { type: 'search_result' }] }] },
    ],
    ['tool_choice', 'messages', 'chat', { messages: [user], tool_choice: { type: 'any' } }],
    ['max_tokens', 'responses', 'messages', { input: 'x', max_tokens: 5 }],
    ['max_output_tokens', 'messages', 'chat', { messages: [user], max_output_tokens: 5 }],
    ['tool_choice', 'responses', 'messages', { input: 'x', tool_choice: 'required' }],
    ['include[0]', 'responses', 'messages', { input: 'x', include: ['message.output_text.logprobs'] }],
    ['input[0].role', 'responses', 'messages', { input: [{ role: 'critic', content: 'x' }] }],
    ['response_format', 'chat', 'messages', { messages: [user], response_format: { type: 'json_object' } }],
  ])('%s', (param, from, to, body) => {
    const error = refusal(from, to, body);
    expect(error?.code).toBe('no_provider');
    expect(error?.param).toBe(param);
    expect(error?.message).toContain(`\`${param}\``);
  });

  it('what only clients of one kind ask for, and every answer has, is refused to nobody', () => {
    const include = ['reasoning.encrypted_content', 'web_search_call.action.sources'];
    const body = { input: 'x', include, max_tool_calls: 3, parallel_tool_calls: true };
    expect(refusal('responses', 'messages', body)).toBeNull();
    expect(refusal('chat', 'messages', { messages: [user], max_tool_calls: 3 })).toBeNull();
  });
});
