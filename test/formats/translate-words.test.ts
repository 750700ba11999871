import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { isApiError } from '../../api/contract/errors.ts';
import {
  type TranslationTarget,
  translateRequest,
} from '../../api/inference/translation/translate-request.ts';
import { askedDialect } from './asked-dialect.ts';

const CAP = 4_000;
const ASKED = { upstreamModel: 'm', outputTokensCap: CAP, reasonsByEffort: false, dialect: askedDialect };

function asked(from: FormatName, to: TranslationTarget, body: object): Record<string, unknown> {
  const result = translateRequest({ model: 'm', ...body }, from, to, ASKED);
  if (isApiError(result)) throw new Error(`${result.param}: ${result.message}`);
  return JSON.parse(result.object.bytes.toString());
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
    const written = expect.stringMatching(/^functions_get_weather_0_[0-9a-f]{8}$/);
    expect(
      turns([
        user,
        { role: 'assistant', tool_calls: [call(id)] },
        { role: 'tool', tool_call_id: id, content: '7' },
      ]),
    ).toMatchObject([{}, { content: [{ id: written }] }, { content: [{ tool_use_id: written }] }]);
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

  it.each([
    ['chat', { reasoning_effort: 'high' }, 'reasoning_effort'],
    ['chat', { reasoning: { effort: 'high', exclude: true } }, 'reasoning.effort'],
    ['chat', { reasoning: { max_tokens: 2_000 } }, 'reasoning.max_tokens'],
    ['chat', { reasoning: { enabled: true } }, 'reasoning.enabled'],
    ['responses', { reasoning: { effort: 'low', summary: 'auto' } }, 'reasoning.effort'],
  ] as const)('a wish to think for which the cap has no room is named: %s %j', (from, wish, name) => {
    const body = { model: 'm', ...(from === 'chat' ? { messages: [user] } : { input: 'x' }), ...wish };
    const at = (outputTokensCap: number, reasonsByEffort: boolean) => {
      const result = translateRequest(body, from, to, { ...ASKED, outputTokensCap, reasonsByEffort });
      if (isApiError(result)) throw new Error(result.message);
      return result.leftOut;
    };
    expect(at(1_024, false)).toEqual([name]);
    expect(at(1_025, false)).toEqual([]);
    expect(at(100, true)).toEqual([]);
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
    const closed = { ...schema, required: ['city'], additionalProperties: false };
    const strict = [{ name: 'f', input_schema: closed, strict: true }];
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
      format: {
        type: 'json_schema',
        schema: { description: 'A city.', ...schema, additionalProperties: false },
      },
    });
  });

  it('any JSON object, in an instruction where there is no field for it', () => {
    const response_format = { type: 'json_object' };
    const body = { messages: [{ role: 'system', content: 'Be short.' }, user], response_format };
    expect(asked('chat', 'messages', body).system).toMatch(/^Be short\.\n\n.*JSON/s);
    expect(
      asked('responses', 'messages', { input: 'x', text: { format: response_format } }).system,
    ).toContain('JSON');
    expect(
      asked('responses', 'chat', { input: 'x', text: { format: response_format } }).response_format,
    ).toEqual(response_format);
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
    expect(asked('responses', 'messages', { input: [user, late, user] }).messages).toEqual([
      {
        role: 'user',
        content: ['x', '<system>\nNow in French.\n</system>', 'x'].map((text) => ({ type: 'text', text })),
      },
    ]);
  });

  it('an image that a tool has returned, in a message of the user behind all results', () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } };
    const result = (id: string, content: object[]) => ({ type: 'tool_result', tool_use_id: id, content });
    const content = [result('c', [image]), result('d', [{ type: 'text', text: '7' }])];
    expect(asked('messages', to, { messages: [{ role: 'user', content }] }).messages).toEqual([
      { role: 'tool', tool_call_id: 'c', content: expect.stringContaining('next message') },
      { role: 'tool', tool_call_id: 'd', content: '7' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'From c:' },
          { type: 'image_url', image_url: { url: 'https://example.com/a.png' } },
        ],
      },
    ]);
  });

  it('a result of the caller’s own search, whose source stands before its text', () => {
    const found = {
      type: 'search_result',
      source: 'https://a.example',
      title: 'A',
      content: [{ type: 'text', text: 'B' }],
    };
    expect(asked('messages', to, { messages: [{ role: 'user', content: [found] }] }).messages).toEqual([
      { role: 'user', content: ['A\nhttps://a.example', 'B'].map((text) => ({ type: 'text', text })) },
    ]);
  });
});

describe('what the meaning hangs on, and has no words, is refused by its place and in words', () => {
  it.each<[string, FormatName, TranslationTarget, object]>([
    ['messages[1].role', 'messages', 'chat', { messages: [user, { role: 'assistant', content: '{' }] }],
    [
      'messages[0].content[1].type',
      'messages',
      'chat',
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }, { type: 'container_upload' }] }] },
    ],
    ['tool_choice', 'messages', 'chat', { messages: [user], tool_choice: { type: 'any' } }],
    ['tool_choice', 'responses', 'messages', { input: 'x', tool_choice: 'required' }],
    ['input[0].role', 'responses', 'messages', { input: [{ role: 'critic', content: 'x' }] }],
  ])('%s', (param, from, to, body) => {
    const error = refusal(from, to, body);
    expect(error?.code).toBe('invalid_request');
    expect(error?.param).toBe(param);
    expect(error?.message).toContain(`\`${param}\``);
  });
});

describe('what else has no words is left out by its name', () => {
  const named = (from: FormatName, to: TranslationTarget, body: object): readonly string[] => {
    const result = translateRequest({ model: 'm', ...body }, from, to, ASKED);
    if (isApiError(result)) throw new Error(result.message);
    return result.leftOut;
  };

  it.each<[string, FormatName, TranslationTarget, object]>([
    ['max_tokens', 'responses', 'messages', { input: 'x', max_tokens: 5 }],
    ['max_output_tokens', 'messages', 'chat', { messages: [user], max_output_tokens: 5 }],
    ['include[0]', 'responses', 'messages', { input: 'x', include: ['message.output_text.logprobs'] }],
  ])('%s', (name, from, to, body) => {
    expect(named(from, to, body)).toEqual([name]);
  });

  it('but for what only clients of one kind ask for, and every answer has', () => {
    const include = ['reasoning.encrypted_content', 'web_search_call.action.sources'];
    const body = { input: 'x', include, max_tool_calls: 3, parallel_tool_calls: true };
    expect(named('responses', 'messages', body)).toEqual([]);
    expect(named('chat', 'messages', { messages: [user], max_tool_calls: 3 })).toEqual([]);
  });
});
