import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import type { AskedDialect } from '#core/conversation/conversation.ts';
import { JSON_KEYS_MAX, JSON_VALUES_MAX } from '#core/limits.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { reasonsByEffort } from '../../api/inference/formats/reasoning-words.ts';
import {
  type TranslationTarget,
  translateRequest,
} from '../../api/inference/translation/translate-request.ts';
import { askedDialect } from './asked-dialect.ts';

const CAP = 4_000;
const ASKED = { upstreamModel: 'm', outputTokensCap: CAP, reasonsByEffort: false, dialect: askedDialect };

function translated(from: FormatName, to: TranslationTarget, body: object): Record<string, unknown> {
  const result = translateRequest({ model: 'm', ...body }, from, to, ASKED);
  if (isApiError(result)) throw new Error(`${result.param}: ${result.message}`);
  return JSON.parse(result.object.bytes.toString());
}

function refused(from: FormatName, to: TranslationTarget, body: object): string | null {
  const result = translateRequest({ model: 'm', ...body }, from, to, ASKED);
  if (!isApiError(result)) throw new Error(`translated: ${result.object.bytes.toString()}`);
  expect(result.code).toBe('invalid_request');
  return result.param;
}

/** The names of what the provider is not sent. */
function leftOut(from: FormatName, to: TranslationTarget, body: object): readonly string[] {
  const result = translateRequest({ model: 'm', ...body }, from, to, ASKED);
  if (isApiError(result)) throw new Error(`${result.param}: ${result.message}`);
  return result.leftOut;
}

const IMAGE = 'https://example.com/a.png';
const FILE = 'https://example.com/a.pdf';
const schema = { type: 'object', properties: { city: { type: 'string' } } };

/** One conversation with everything in it, as each format says it. */
const asChat = {
  messages: [
    { role: 'system', content: 'Be short.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Weather?' },
        { type: 'image_url', image_url: { url: IMAGE } },
      ],
    },
    {
      role: 'assistant',
      content: 'I look.',
      tool_calls: [
        { id: 'call_1', type: 'function', function: { name: 'get', arguments: '{"city":"Oslo"}' } },
        { id: 'call_2', type: 'function', function: { name: 'get', arguments: '{"city":"Rome"}' } },
      ],
    },
    { role: 'tool', tool_call_id: 'call_1', content: '7' },
    { role: 'tool', tool_call_id: 'call_2', content: '20' },
    { role: 'user', content: 'And now?' },
  ],
  tools: [{ type: 'function', function: { name: 'get', description: 'Gets.', parameters: schema } }],
  tool_choice: 'required',
  parallel_tool_calls: false,
  temperature: 0.5,
  top_p: 0.9,
};
const asMessages = {
  system: 'Be short.',
  messages: [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Weather?' },
        { type: 'image', source: { type: 'url', url: IMAGE } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'text', text: 'I look.' },
        { type: 'tool_use', id: 'call_1', name: 'get', input: { city: 'Oslo' } },
        { type: 'tool_use', id: 'call_2', name: 'get', input: { city: 'Rome' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'call_1', content: [{ type: 'text', text: '7' }] },
        { type: 'tool_result', tool_use_id: 'call_2', content: [{ type: 'text', text: '20' }] },
        { type: 'text', text: 'And now?' },
      ],
    },
  ],
  tools: [{ name: 'get', description: 'Gets.', input_schema: schema }],
  tool_choice: { type: 'any', disable_parallel_tool_use: true },
  temperature: 0.5,
  top_p: 0.9,
};
const asResponses = {
  instructions: 'Be short.',
  input: [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'Weather?' },
        { type: 'input_image', image_url: IMAGE },
      ],
    },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] },
    { type: 'function_call', call_id: 'call_1', name: 'get', arguments: '{"city":"Oslo"}' },
    { type: 'function_call', call_id: 'call_2', name: 'get', arguments: '{"city":"Rome"}' },
    { type: 'function_call_output', call_id: 'call_1', output: '7' },
    { type: 'function_call_output', call_id: 'call_2', output: '20' },
    { role: 'user', content: 'And now?' },
  ],
  tools: [{ type: 'function', name: 'get', description: 'Gets.', parameters: schema }],
  tool_choice: 'required',
  parallel_tool_calls: false,
  temperature: 0.5,
  top_p: 0.9,
};

describe('one conversation says the same in every format', () => {
  it.each([
    ['chat', asChat],
    ['responses', asResponses],
  ] as const)('%s to messages', (from, body) => {
    expect(translated(from, 'messages', body)).toEqual({ ...asMessages, max_tokens: CAP });
  });

  it.each([
    ['messages', asMessages],
    ['responses', asResponses],
  ] as const)('%s to chat', (from, body) => {
    expect(translated(from, 'chat', body)).toEqual({ ...asChat, max_tokens: CAP });
  });
});

describe('to the messages format', () => {
  const to = 'messages';
  const messages = [{ role: 'user', content: 'x' }];
  const tool = { type: 'function', function: { name: 'f', parameters: schema } };
  const choice = { type: 'function', function: { name: 'f' } };

  it('goes thought with the signature of its provider, and none that nobody signed', () => {
    const said = (details: object[]) =>
      translated('chat', to, {
        messages: [...messages, { role: 'assistant', content: 'y', reasoning_details: details }],
      }).messages;
    const signed = [
      { type: 'reasoning.text', text: 'a' },
      { type: 'reasoning.text', text: 'b', signature: 's' },
      { type: 'reasoning.encrypted', data: 'e' },
    ];
    expect(said(signed)).toMatchObject([
      {},
      {
        content: [
          { type: 'thinking', thinking: 'ab', signature: 's' },
          { type: 'redacted_thinking', data: 'e' },
          { type: 'text', text: 'y' },
        ],
      },
    ]);
    expect(said([{ type: 'reasoning.text', text: 'a' }])).toMatchObject([
      {},
      { content: [{ type: 'text' }] },
    ]);
  });

  it('goes thought that an answer of ours had as an item', () => {
    const input = [
      { role: 'user', content: 'x' },
      { type: 'reasoning', summary: [{ type: 'summary_text', text: 'a' }], encrypted_content: 'signature:s' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'y' }] },
      { role: 'user', content: 'z' },
    ];
    expect(translated('responses', to, { input }).messages).toMatchObject([
      {},
      {
        content: [
          { type: 'thinking', thinking: 'a', signature: 's' },
          { type: 'text', text: 'y' },
        ],
      },
      {},
    ]);
  });

  it.each([
    [{ effort: 'low' }, { type: 'enabled', budget_tokens: 1_024 }],
    [{ effort: 'high' }, { type: 'enabled', budget_tokens: 3_200 }],
    [{ effort: 'none' }, { type: 'disabled' }],
    [{ max_tokens: 2_000 }, { type: 'enabled', budget_tokens: 2_000 }],
  ])('an effort becomes a budget that leaves room for the answer: %o', (reasoning, thinking) => {
    expect(translated('chat', to, { messages, reasoning }).thinking).toEqual(thinking);
  });

  describe('what tools were called with, which is read where it was a text', () => {
    const called = (...texts: string[]) => ({
      messages: texts.flatMap((text, n) => [
        {
          role: 'assistant',
          tool_calls: [{ id: `c${n}`, type: 'function', function: { name: 'f', arguments: text } }],
        },
        { role: 'tool', tool_call_id: `c${n}`, content: 'x' },
      ]),
    });
    const refused = (body: object): unknown => {
      const result = translateRequest({ model: 'm', ...body }, 'chat', to, ASKED);
      return isApiError(result) ? [result.code, result.param] : 'translated';
    };
    const manyKeys = (count: number) =>
      JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 1])));

    it('may have as many keys and values as a body, all together', () => {
      const half = manyKeys(JSON_KEYS_MAX / 2);
      expect(refused(called(half, half))).toBe('translated');
      expect(refused(called(half, half, '{"one":"more"}'))).toEqual(['invalid_request', 'arguments']);
      const values = `{"a":[${'1,'.repeat(JSON_VALUES_MAX)}1]}`;
      expect(refused(called(values))).toEqual(['invalid_request', 'arguments']);
    });

    it('may nest as deep as fits into the body', () => {
      const deep = (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
      expect(refused(called(deep(50)))).toBe('translated');
      for (let depth = 55; depth < 70; depth++)
        expect([['invalid_request', 'arguments'], 'translated']).toContainEqual(refused(called(deep(depth))));
      expect(refused(called(deep(62)))).toEqual(['invalid_request', 'arguments']);
    });
  });

  it.each<[object, object, object | undefined]>([
    [{ effort: 'minimal' }, { type: 'adaptive' }, { effort: 'low' }],
    [{ effort: 'high' }, { type: 'adaptive' }, { effort: 'high' }],
    [{ effort: 'xhigh' }, { type: 'adaptive' }, { effort: 'xhigh' }],
    [{ effort: 'none' }, { type: 'disabled' }, undefined],
    [{ enabled: true }, { type: 'adaptive' }, undefined],
    [{ max_tokens: 1_024 }, { type: 'adaptive' }, { effort: 'low' }],
    [{ max_tokens: 3_500 }, { type: 'adaptive' }, { effort: 'high' }],
  ])('an effort stays one for a model that refuses budgets: %o', (reasoning, thinking, config) => {
    const asked = { ...ASKED, reasonsByEffort: true };
    const result = translateRequest({ model: 'm', messages, reasoning }, 'chat', to, asked);
    if (isApiError(result)) throw new Error(result.message);
    expect(JSON.parse(result.object.bytes.toString())).toMatchObject({ thinking });
    expect(JSON.parse(result.object.bytes.toString()).output_config).toEqual(config);
  });

  it.each([
    ['claude-opus-4-7', true],
    ['claude-opus-4.8', true],
    ['anthropic.claude-sonnet-5', true],
    ['claude-fable-5-1', true],
    ['claude-mythos-preview', true],
    ['claude-sonnet-4-6', false],
    ['claude-opus-4-20250514', false],
    ['claude-haiku-4-5-20251001', false],
    ['claude-3-7-sonnet-20250219', false],
    ['anthropic.claude-opus-4-6-v1', false],
    ['deepseek-v4', false],
  ])('%s refuses budgets: %s', (upstreamModel, byEffort) => {
    expect(reasonsByEffort(upstreamModel)).toBe(byEffort);
  });

  it.each([
    [
      'content',
      [
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
        { role: 'user', content: '' },
      ],
    ],
    ['content', [{ role: 'user', content: ' ' }]],
    ['messages', [{ role: 'system', content: ' ' }]],
  ])('goes no message that says nothing, and no conversation without one: %s', (param, said) => {
    const result = translateRequest({ model: 'm', messages: said }, 'chat', to, ASKED);
    expect(isApiError(result) && [result.code, result.param]).toEqual(['invalid_request', param]);
  });

  it('goes a wanted structure, and a file by its link', () => {
    const body = translated('chat', to, {
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: FILE, filename: 'a.pdf' } }] }],
      response_format: { type: 'json_schema', json_schema: { name: 'w', schema } },
      stop: 'END',
    });
    expect(body).toMatchObject({
      messages: [{ content: [{ type: 'document', source: { type: 'url', url: FILE }, title: 'a.pdf' }] }],
      output_config: { format: { type: 'json_schema', schema } },
      stop_sequences: ['END'],
    });
  });

  it.each([
    ['{"b":1,"a":', { b: 1 }],
    ['call it with 1', { arguments: 'call it with 1' }],
  ])(
    'arguments that a model wrote wrong go as far as they are whole, or as the text that they were: %s',
    (json, input) => {
      const call = { id: 'c', type: 'function', function: { name: 'f', arguments: json } };
      const body = { messages: [...messages, { role: 'assistant', content: null, tool_calls: [call] }] };
      expect(translated('chat', to, body).messages).toEqual([
        expect.anything(),
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input }] },
      ]);
    },
  );

  it.each<[string, object]>([
    ['n', { n: 2 }],
    ['messages[0].content[0].type', { messages: [{ role: 'user', content: [{ type: 'video_url' }] }] }],
    ['tools[0].type', { tools: [{ type: 'computer_use_preview' }] }],
    ['tool_choice', { tool_choice: 'required' }],
    ['tool_choice', { tools: [tool], tool_choice: { type: 'function' } }],
  ])(
    'what the meaning hangs on, and the format has no words for, is refused by its name: %s',
    (param, more) => {
      expect(refused('chat', to, { messages, ...more })).toBe(param);
    },
  );

  it.each<[string, object]>([
    ['seed', { seed: 1 }],
    ['logprobs', { logprobs: true }],
    ['logit_bias', { logit_bias: { 1: 1 } }],
    ['frequency_penalty', { frequency_penalty: 0.5 }],
    ['response_format', { response_format: { type: 'grammar' } }],
    ['verbosity', { verbosity: 'low' }],
    ['a_new_field', { a_new_field: 1 }],
    ['reasoning.enabled', { reasoning: { enabled: 'no' } }],
    [
      'tools[0].function.of_next_year',
      { tools: [{ ...tool, function: { ...tool.function, of_next_year: 1 } }] },
    ],
    ['tool_choice.of_next_year', { tools: [tool], tool_choice: { ...choice, of_next_year: 1 } }],
  ])('what else the format has no words for is left out by its name: %s', (name, more) => {
    expect(leftOut('chat', to, { messages, ...more })).toEqual([name]);
  });

  it('a temperature above the end of its scale is the end of it', () => {
    expect(translated('chat', to, { messages, temperature: 1.5 }).temperature).toBe(1);
  });

  it('arguments that a server wrote as an object are read as one', () => {
    const body = { messages: [...messages, calling({ a: 1 })] };
    expect(translated('chat', to, body).messages).toMatchObject([{}, { content: [{ input: { a: 1 } }] }]);
  });

  it('asks for nothing by values that ask for what happens anyway', () => {
    const more = { n: 1, frequency_penalty: 0, presence_penalty: 0, logprobs: false, seed: null, user: 'u' };
    expect(translated('chat', to, { messages, ...more })).toEqual({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }],
      max_tokens: CAP,
    });
  });
});

describe('to the chat format', () => {
  const to = 'chat';
  const messages = [{ role: 'user', content: 'x' }];

  it('go hints for caches nowhere', () => {
    const cache_control = { type: 'ephemeral' };
    const body = translated('messages', to, {
      system: [{ type: 'text', text: 'a', cache_control }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'x', cache_control }] }],
      tools: [{ name: 'f', input_schema: schema, cache_control }],
      metadata: { user_id: 'u' },
    });
    expect(JSON.stringify(body)).not.toContain('ephemeral');
    expect(body.messages).toEqual([
      { role: 'system', content: 'a' },
      { role: 'user', content: 'x' },
    ]);
  });

  it.each([
    [{ thinking: { type: 'enabled', budget_tokens: 1_024 } }, 'low'],
    [{ thinking: { type: 'enabled', budget_tokens: 2_000 } }, 'medium'],
    [{ thinking: { type: 'enabled', budget_tokens: 3_500 } }, 'high'],
    [{ thinking: { type: 'adaptive' }, output_config: { effort: 'max' } }, 'max'],
    [{ thinking: { type: 'disabled' } }, undefined],
  ])('a budget becomes the effort that is nearest: %o', (more, effort) => {
    expect(translated('messages', to, { messages, ...more }).reasoning_effort).toBe(effort);
  });

  it('go values that ask for what happens anyway nowhere', () => {
    expect(translated('responses', to, { input: 'x', truncation: 'disabled' })).not.toHaveProperty(
      'truncation',
    );
    const tools = [{ name: 'f', input_schema: schema, defer_loading: false }];
    expect(translated('messages', to, { messages, tools }).tools).toEqual([
      { type: 'function', function: { name: 'f', parameters: schema } },
    ]);
  });

  it('reasoning of earlier answers goes in the member that the server reads it from', () => {
    const content = [
      { type: 'thinking', thinking: 'why', signature: 's' },
      { type: 'text', text: 'y' },
    ];
    const turns = [...messages, { role: 'assistant', content }, ...messages];
    const answerFor = (reasoningMember: AskedDialect['reasoningMember']) => {
      const asked = { ...ASKED, dialect: { ...askedDialect, reasoningMember } };
      const result = translateRequest({ model: 'm', messages: turns }, 'messages', to, asked);
      if (isApiError(result)) throw new Error(result.message);
      return JSON.parse(result.object.bytes.toString()).messages[1];
    };
    expect(answerFor('reasoning_content')).toEqual({
      role: 'assistant',
      content: 'y',
      reasoning_content: 'why',
    });
    expect(answerFor(null)).toEqual({ role: 'assistant', content: 'y' });
  });

  it.each<[string, FormatName, object]>([
    ['messages[0].content[0]', 'messages', { messages: [{ role: 'user', content: [document()] }] }],
    [
      'messages[0].content[0].type',
      'messages',
      { messages: [{ role: 'user', content: [{ type: 'container_upload' }] }] },
    ],
    ['tools[0].type', 'messages', { messages, tools: [{ type: 'bash_20250124', name: 'bash' }] }],
    ['messages[1].role', 'messages', { messages: [...messages, { role: 'assistant', content: 'It is' }] }],
    ['input[0].type', 'responses', { input: [{ type: 'item_reference', id: 'i' }] }],
    ['tools[0].type', 'responses', { input: 'x', tools: [{ type: 'computer_use_preview' }] }],
    ['tool_choice', 'responses', { input: 'x', tool_choice: { type: 'apply_patch' } }],
  ])(
    'what the meaning hangs on, and the format has no words for, is refused by its name: %s',
    (param, from, body) => {
      expect(refused(from, to, body)).toBe(param);
    },
  );

  it.each<[string, FormatName, object]>([
    ['messages[0].content[0].citations', 'messages', { messages: [{ role: 'user', content: [cited()] }] }],
    ['output_config.task_budget', 'messages', { messages, output_config: { task_budget: {} } }],
    ['top_logprobs', 'responses', { input: 'x', top_logprobs: 3 }],
    ['truncation', 'responses', { input: 'x', truncation: 'auto' }],
    ['input[0].output', 'responses', { input: [{ type: 'function_call_output', call_id: 'c', output: 42 }] }],
    ['input[0].output', 'responses', { input: [{ type: 'function_call_output', output: ['x'] }] }],
    ['messages[0].content[0].content', 'messages', { messages: [result({ city: 'Oslo' })] }],
    ['messages[0].content[0].content', 'messages', { messages: [result(['Oslo'])] }],
    [
      'tool_choice.disable_parallel_tool_use',
      'messages',
      { messages, tool_choice: { type: 'auto', disable_parallel_tool_use: 'yes' } },
    ],
  ])('what else the format has no words for is left out by its name: %s', (name, from, body) => {
    expect(leftOut(from, to, body)).toEqual([name]);
  });

  it('a tool whose loading is deferred goes in full', () => {
    const tools = [{ name: 'f', input_schema: schema, defer_loading: true }];
    expect(translated('messages', to, { messages, tools }).tools).toEqual([
      { type: 'function', function: { name: 'f', parameters: schema } },
    ]);
    expect(leftOut('messages', to, { messages, tools })).toEqual([]);
  });

  it('how long an answer shall be goes as its own field', () => {
    expect(translated('responses', to, { input: 'x', text: { verbosity: 'low' } }).verbosity).toBe('low');
  });
});

function calling(args: unknown): object {
  const call = { id: 'c', type: 'function', function: { name: 'f', arguments: args } };
  return { role: 'assistant', tool_calls: [call] };
}

function result(content: unknown): object {
  return { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content }] };
}

function document(): object {
  return { type: 'document', source: { type: 'url', url: FILE } };
}

function cited(): object {
  return { type: 'document', source: { type: 'text', data: 'x' }, citations: { enabled: true } };
}
