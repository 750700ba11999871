import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { reasonsByEffort } from '../../api/inference/formats/reasoning-words.ts';
import { leftOutOf, refusalOf, sentTo, translate, user } from './ask.ts';

/* Conversations that other vendors take, in the order and with the thinking that Claude wants. */

function askedOf(upstreamModel: string, extra: object, from: FormatName = 'chat') {
  const asked = { upstreamModel, reasonsByEffort: reasonsByEffort(upstreamModel) };
  const result = translate(
    from,
    'messages',
    { ...(from === 'chat' && { messages: [user] }), ...extra },
    asked,
  );
  if (isApiError(result)) throw new Error(result.message);
  const { thinking, output_config, messages } = JSON.parse(result.object.bytes.toString());
  return { thinking, effort: output_config?.effort, messages, leftOut: result.leftOut };
}

const signed = (signature: string) => [
  { type: 'reasoning.text', text: 'hm', signature, format: 'anthropic-claude-v1', index: 0 },
];
const hidden = [{ type: 'reasoning.encrypted', data: 'ZGF0YQ==', format: 'anthropic-claude-v1', index: 0 }];
const foreign = [
  { type: 'reasoning.text', text: 'hm', signature: 'c2ln', format: 'google-gemini-v1', index: 0 },
];
const call = (id: string, more: object = {}): object => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }],
  ...more,
});
const result = (id: string): object => ({ role: 'tool', tool_call_id: id, content: 'y' });
const thinksIn = (blocks: readonly { type: string }[]): boolean =>
  blocks.some(({ type }) => type === 'thinking' || type === 'redacted_thinking');

describe('a model with a budget that goes on from the results of its calls', () => {
  const bare: [string, object[]][] = [
    ['no thinking came back', [user, call('a'), result('a')]],
    ['another vendor signed it', [user, call('a', { reasoning_details: foreign }), result('a')]],
    ['it came back without its signature', [user, call('a', { reasoning_content: 'hm' }), result('a')]],
    ['text stands first', [user, call('a', { content: 'Well.' }), result('a')]],
    [
      'only a later call has it',
      [user, call('a'), result('a'), call('b', { reasoning_details: signed('c2ln') }), result('b')],
    ],
    ['the user speaks behind the results', [user, call('a'), result('a'), user]],
    [
      'an earlier step has it',
      [user, call('a', { reasoning_details: signed('c2ln') }), result('a'), user, call('b'), result('b')],
    ],
  ];

  it.each(bare)('thinks no more, and that is named, where %s', (_name, messages) => {
    for (const name of ['claude-sonnet-4-5', 'claude-3-7-sonnet-20250219', 'anthropic.claude-opus-4-1']) {
      const asked = askedOf(name, { messages, reasoning_effort: 'high' });
      expect(asked).toMatchObject({ thinking: undefined, effort: undefined, leftOut: ['reasoning_effort'] });
      // It would refuse thinking in the answer to which it goes on.
      const [last] = asked.messages.filter(({ role }: { role: string }) => role === 'assistant').slice(-1);
      expect(thinksIn(last.content)).toBe(false);
    }
  });

  it.each(bare)('thinks by an effort instead where the model takes one, also where %s', (_name, messages) => {
    for (const [effort, word] of [
      ['high', 'high'],
      ['minimal', 'low'],
      ['max', 'high'],
    ]) {
      const asked = askedOf('claude-opus-4-6', { messages, reasoning_effort: effort });
      expect(asked).toMatchObject({ thinking: { type: 'adaptive' }, effort: word, leftOut: [] });
    }
  });

  it.each<[string, object[]]>([
    ['its thinking came back', [user, call('a', { reasoning_details: signed('c2ln') }), result('a')]],
    ['its hidden thinking came back', [user, call('a', { reasoning_details: hidden }), result('a')]],
    [
      'it thought once before several calls',
      [user, call('a', { reasoning_details: signed('c2ln') }), result('a'), call('b'), result('b')],
    ],
    ['the calls are done', [user, call('a'), result('a'), { role: 'assistant', content: 'b' }, user]],
    ['nothing was called', [user, { role: 'assistant', content: 'b' }, user]],
    ['the results are of a conversation that was cut', [result('a'), user]],
  ])('thinks on where %s', (_name, messages) => {
    for (const name of ['claude-sonnet-4-5', 'claude-opus-4-6'])
      expect(askedOf(name, { messages, reasoning_effort: 'high' })).toMatchObject({
        thinking: { type: 'enabled', budget_tokens: 3_200 },
        leftOut: [],
      });
  });

  it('thinks on in a responses call only where signed reasoning came back', () => {
    const input = (items: object[]): object => ({
      input: [
        user,
        ...items,
        { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
        { type: 'function_call_output', call_id: 'a', output: 'y' },
      ],
      reasoning: { effort: 'high' },
    });
    const unsigned = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] };
    for (const items of [[], [unsigned]])
      expect(askedOf('claude-sonnet-4-5', input(items), 'responses')).toMatchObject({
        thinking: undefined,
        leftOut: ['reasoning.effort'],
      });
    const items = [{ ...unsigned, encrypted_content: 'signature:c2ln' }];
    expect(askedOf('claude-sonnet-4-5', input(items), 'responses')).toMatchObject({
      thinking: { type: 'enabled' },
      leftOut: [],
    });
  });

  it.each(['claude-opus-4-7', 'claude-opus-5', 'claude-sonnet-5'])(
    'is no care of models that decide by themselves: %s',
    (name) => {
      const messages = [user, call('a'), result('a')];
      expect(askedOf(name, { messages, reasoning_effort: 'high' })).toMatchObject({
        thinking: { type: 'adaptive' },
        effort: 'high',
        leftOut: [],
      });
    },
  );

  it('is no care of other vendors’ models', () => {
    const messages = [user, call('a'), result('a')];
    expect(askedOf('glm-5', { messages, reasoning_effort: 'high' }).thinking).toMatchObject({
      type: 'enabled',
    });
  });
});

describe('thinking that came back', () => {
  const messages = [user, call('a', { reasoning_details: signed('c2ln') }), result('a')];
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];

  it.each<[string, string, object]>([
    ['is not asked to think', 'claude-sonnet-4-5', {}],
    ['is not asked to think', 'claude-opus-4-8', {}],
    ['is told not to think', 'claude-opus-4-8', { reasoning_effort: 'none' }],
    ['is told not to think', 'claude-opus-5', { reasoning_effort: 'none' }],
    ['is forced to call', 'claude-sonnet-4-5', { tools, tool_choice: 'required', reasoning_effort: 'high' }],
  ])('stays away where a model refuses it, because it %s: %s', (_why, name, extra) => {
    const asked = askedOf(name, { messages, ...extra });
    expect(asked.messages[1].content.map(({ type }: { type: string }) => type)).toEqual(['tool_use']);
  });

  it.each<[string, object]>([
    ['claude-opus-5', {}],
    ['claude-fable-5', {}],
    ['claude-sonnet-4-5', { reasoning_effort: 'low' }],
    ['glm-5', {}],
  ])('goes to a model that may think on: %s', (name, extra) => {
    expect(thinksIn(askedOf(name, { messages, ...extra }).messages[1].content)).toBe(true);
  });
});

describe('thinking that is asked for in the words of the messages format', () => {
  it.each<[string, object, object]>([
    [
      'claude-sonnet-4-5',
      { type: 'enabled', budget_tokens: 2_000 },
      { thinking: { type: 'enabled', budget_tokens: 2_000 } },
    ],
    ['claude-sonnet-4-5', { type: 'enabled', budget_tokens: 99_000 }, { thinking: { budget_tokens: 3_999 } }],
    ['claude-sonnet-4-5', { budget_tokens: 2_000 }, { thinking: { budget_tokens: 2_000 } }],
    [
      'claude-opus-4-8',
      { type: 'enabled', budget_tokens: 3_500 },
      { thinking: { type: 'adaptive' }, effort: 'high' },
    ],
    [
      'claude-opus-4-8',
      { type: 'adaptive', display: 'omitted' },
      { thinking: { type: 'adaptive' }, effort: undefined },
    ],
    ['claude-sonnet-5', { type: 'disabled' }, { thinking: { type: 'disabled' } }],
    ['claude-sonnet-4-5', { type: 'disabled', budget_tokens: 2_000 }, { thinking: { type: 'disabled' } }],
    ['glm-5', { type: 'disabled' }, { thinking: { type: 'disabled' } }],
  ])('is heeded in a chat: %s, %j', (name, thinking, sent) => {
    expect(askedOf(name, { thinking })).toMatchObject({ ...sent, leftOut: [] });
  });

  it.each<[object, object, readonly string[]]>([
    [
      { thinking: { type: 'enabled', budget_tokens: 2_000 }, reasoning_effort: 'low' },
      { type: 'enabled', budget_tokens: 2_000 },
      [],
    ],
    [
      { thinking: { type: 'disabled' }, reasoning_effort: 'high' },
      { type: 'enabled', budget_tokens: 3_200 },
      ['thinking.type'],
    ],
    [
      { thinking: { type: 'enabled', budget_tokens: 2_000 }, reasoning_effort: 'none' },
      { type: 'disabled' },
      ['thinking.type', 'thinking.budget_tokens'],
    ],
    [
      { thinking: { type: 'enabled', budget_tokens: 2_000 }, reasoning: { max_tokens: 1_500 } },
      { budget_tokens: 1_500 },
      ['thinking.budget_tokens'],
    ],
    [
      { thinking: { type: 'enabled', budget_tokens: 2_000, later: 1 } },
      { budget_tokens: 2_000 },
      ['thinking.later'],
    ],
    [{ thinking: { type: 'often' } }, { type: 'enabled' }, ['thinking.type']],
  ])(
    'gives way to the chat’s own words, and is named where they say otherwise: %j',
    (extra, thinking, leftOut) => {
      expect(askedOf('claude-sonnet-4-5', extra)).toMatchObject({ thinking, leftOut });
    },
  );

  it.each<[string, object, string]>([
    ['claude-fable-5', { thinking: { type: 'disabled' } }, 'thinking.type'],
    ['claude-fable-5', { thinking: { type: 'disabled' }, reasoning: { exclude: true } }, 'thinking.type'],
    ['claude-fable-5', { reasoning_effort: 'none', reasoning: { exclude: true } }, 'reasoning_effort'],
    ['claude-fable-5', { reasoning: { enabled: false } }, 'reasoning.enabled'],
  ])('is named by the words that asked for it where it cannot be heeded: %s, %j', (name, extra, field) => {
    expect(askedOf(name, extra).leftOut).toEqual([field]);
  });

  it('is named where it is of another kind', () => {
    for (const thinking of [true, 'enabled', 5])
      expect(leftOutOf('chat', 'messages', { messages: [user], thinking })).toEqual(['thinking']);
  });
});

describe('a mark for the cache in the middle of a conversation', () => {
  const cache_control = { type: 'ephemeral', ttl: '1h' };

  it('stays with an instruction', () => {
    const marked = { type: 'text', text: 'a', cache_control };
    const plain = { type: 'text', text: 'b' };
    const before = [user, { role: 'assistant', content: 'z' }];
    for (const said of [
      { content: [marked] },
      { content: [marked, plain] },
      { content: [plain, marked] },
      { content: 'a', cache_control },
    ])
      for (const role of ['system', 'developer']) {
        const { messages } = askedOf('m', { messages: [...before, { role, ...said }, user] });
        expect(messages[2].content).toMatchObject([{ cache_control }, { text: 'x' }]);
        expect(messages[2].content[1]).not.toHaveProperty('cache_control');
      }
    const input = [
      user,
      { role: 'assistant', content: 'z' },
      { role: 'developer', content: [{ type: 'input_text', text: 'a', cache_control }] },
    ];
    expect(askedOf('m', { input }, 'responses').messages[2].content).toMatchObject([{ cache_control }]);
  });

  it('stays with an answer that has calls and no text', () => {
    const messages = [user, { ...call('a'), cache_control }, result('a')];
    expect(askedOf('m', { messages }).messages[1].content).toMatchObject([
      { type: 'tool_use', cache_control },
    ]);
    const spoken = [user, call('a', { content: 'b', cache_control }), result('a')];
    expect(askedOf('m', { messages: spoken }).messages[1].content).toMatchObject([
      { type: 'text' },
      { type: 'tool_use', cache_control },
    ]);
  });
});

describe('a conversation that no user begins', () => {
  const said = (messages: object[]) => sentTo('chat', 'messages', { messages });
  const text = (words: string): object => ({ type: 'text', text: words });
  const begin = { role: 'user', content: [text('Begin.')] };

  it('is what the user says where it is instructions alone', () => {
    const cache_control = { type: 'ephemeral' };
    const marked = { role: 'system', content: [{ ...text('a'), cache_control }] };
    const body = said([marked, { role: 'developer', content: 'b' }]);
    expect(body).not.toHaveProperty('system');
    expect(body.messages).toEqual([{ role: 'user', content: [{ ...text('a'), cache_control }, text('b')] }]);
    expect(sentTo('responses', 'messages', { instructions: 'a', input: [] }).messages).toEqual([
      { role: 'user', content: [text('a')] },
    ]);
  });

  it('keeps the instruction of how to answer apart', () => {
    const body = sentTo('chat', 'messages', {
      messages: [{ role: 'system', content: 'a' }],
      response_format: { type: 'json_object' },
    });
    expect(body).toMatchObject({
      system: expect.stringContaining('JSON'),
      messages: [{ content: [text('a')] }],
    });
  });

  it.each<[string, object[]]>([
    ['a greeting', [{ role: 'assistant', content: 'Hi!' }, user]],
    [
      'a greeting behind silence',
      [{ role: 'user', content: ' ' }, { role: 'assistant', content: 'Hi!' }, user],
    ],
    [
      'a greeting behind instructions',
      [{ role: 'system', content: 's' }, { role: 'assistant', content: 'Hi!' }, user],
    ],
  ])('gets a word before %s', (_name, messages) => {
    expect(said(messages).messages).toEqual([
      begin,
      { role: 'assistant', content: [text('Hi!')] },
      { role: 'user', content: [text('x')] },
    ]);
  });

  it('gets a word before calls', () => {
    expect(said([call('a'), result('a')]).messages).toMatchObject([
      begin,
      { role: 'assistant' },
      { role: 'user' },
    ]);
  });

  it('is refused where there is nothing in it', () => {
    for (const messages of [[{ role: 'system', content: ' ' }], [{ role: 'user', content: '' }]])
      expect(refusalOf('chat', 'messages', { messages })).toMatchObject({ code: 'invalid_request' });
  });
});

describe('a message of the user that says nothing', () => {
  const silent = { role: 'user', content: '' };
  const answer = { role: 'assistant', content: 'y' };

  it.each<[string, object[], object[]]>([
    ['words before it', [user, silent], [user]],
    ['words behind it', [user, answer, silent, user], [user, answer, user]],
    ['results before it', [user, call('a'), result('a'), silent], [user, call('a'), result('a')]],
    [
      'an instruction behind it',
      [user, answer, silent, { role: 'system', content: 's' }],
      [user, answer, { role: 'system', content: 's' }],
    ],
  ])('is left out beside %s', (_name, messages, same) => {
    expect(sentTo('chat', 'messages', { messages })).toEqual(sentTo('chat', 'messages', { messages: same }));
  });

  it.each<[string, object[]]>([
    ['two answers would become one', [user, answer, silent, answer, user]],
    ['the answer before it would go on', [user, answer, silent]],
  ])('is refused where %s', (_name, messages) => {
    expect(refusalOf('chat', 'messages', { messages })).toMatchObject({ param: 'content' });
  });
});

describe('how much of an image is to be read', () => {
  const chat = (detail: unknown) => ({
    messages: [
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: 'https://example.com/a.png', detail } }],
      },
    ],
  });
  const responses = (detail: unknown) => ({
    input: [
      { role: 'user', content: [{ type: 'input_image', image_url: 'https://example.com/a.png', detail }] },
    ],
  });

  it.each(['low', 'high'])('is named, because Claude cannot be told: %s', (detail) => {
    expect(leftOutOf('chat', 'messages', chat(detail))).toEqual(['messages[0].content[0].image_url.detail']);
    expect(leftOutOf('responses', 'messages', responses(detail))).toEqual(['input[0].content[0].detail']);
  });

  it.each(['auto', null, undefined])('is no wish where it is %s', (detail) => {
    for (const [from, body] of [
      ['chat', chat(detail)],
      ['responses', responses(detail)],
    ] as const)
      expect(leftOutOf(from, 'messages', body)).toEqual([]);
  });
});
