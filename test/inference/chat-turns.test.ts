import { describe, expect, it } from 'vitest';
import { fitTurns } from '../../api/inference/formats/fit-turns.ts';
import { records } from '../../api/inference/formats/values.ts';
import { type DialectName, dialectAt, dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { admitted, at, leftOut, refusal, sent } from './at-dialect.ts';
import { endpoint, model, provider, testCatalog } from './support.ts';

/* A conversation has the roles and the order that its server takes, whichever client wrote it. */

const user = { role: 'user', content: 'a' };
const answer = { role: 'assistant', content: 'b' };
const rule = { role: 'developer', content: 'c' };
const last = { role: 'user', content: 'd' };
const call = { id: 'callABCDE', type: 'function', function: { name: 'f', arguments: '{}' } };
const called = { role: 'assistant', content: null, tool_calls: [call] };
const result = { role: 'tool', tool_call_id: 'callABCDE', content: '7' };
const wrapped = '<system>\nc\n</system>';

const NAMES = Object.keys(dialects) as DialectName[];
const turnsOf = (name: DialectName) => dialects[name].turns;
const strict = NAMES.filter((name) => turnsOf(name).systemFirst === true);

const messagesAt = (name: DialectName, messages: object[]) =>
  records(sent('chat', { messages }, at(dialects[name])).messages);

/** The same conversation of a caller of responses. */
const inputAt = (name: DialectName, input: object[]) =>
  records(sent('responses', { input }, at(dialects[name], ['chat'])).messages);

/** By how much the hold is for a longer prompt. */
function addedTokens(name: DialectName, extra: object): number | undefined {
  const result = admitted('chat', extra, at(dialects[name]));
  if (!result.ok) throw new Error(result.error.message);
  return result.plan.candidates[0]?.addedTokens;
}

describe('instructions of a developer', () => {
  it.each(NAMES)('have a role that %s knows', (name) => {
    const role = turnsOf(name).hasDeveloper ? 'developer' : 'system';
    expect(messagesAt(name, [rule, user])).toEqual([{ role, content: 'c' }, user]);
    expect(leftOut('chat', { messages: [rule, user] }, at(dialects[name]))).toEqual([]);
  });

  it('are those of OpenAI, and of servers of which nothing is known, as they came', () => {
    expect(NAMES.filter((name) => turnsOf(name).hasDeveloper)).toEqual(['other', 'openai']);
  });
});

describe.each(strict)('instructions in mid-conversation at a server of %s', (name) => {
  it('stand in words of the user, from a chat as from a caller of responses', () => {
    for (const messages of [
      messagesAt(name, [user, answer, rule, last]),
      inputAt(name, [user, answer, rule, last]),
    ])
      expect(messages).toMatchObject([user, answer, { role: 'user', content: `${wrapped}\n\nd` }]);
  });

  it('never make two messages of the user of one', () => {
    const roles = messagesAt(name, [rule, rule, user, rule, rule, last, answer, rule, rule]).map(
      ({ role }) => role,
    );
    expect(roles).toEqual(['system', 'user', 'assistant', 'user']);
  });

  it('leave what was said before as it was sent before, so that a cache stays good', () => {
    const turns = [user, answer, rule, last, answer, last, rule, rule, last, answer, last];
    const texts = turns.map((_, index) =>
      messagesAt(name, turns.slice(0, index + 1))
        .map(({ role, content }) => `${role}:${content}`)
        .join('|'),
    );
    for (const [index, text] of texts.slice(1).entries())
      expect(text.startsWith(texts[index] ?? '')).toBe(true);
  });

  it('say nothing where they are empty', () => {
    expect(messagesAt(name, [user, answer, { role: 'system', content: '' }, last])).toEqual([
      user,
      answer,
      last,
    ]);
  });
});

describe('instructions before the conversation', () => {
  it('become one message where the server takes one alone', () => {
    const parts = { role: 'system', content: [{ type: 'text', text: 'p' }] };
    expect(messagesAt('vllm', [{ role: 'system', content: 's' }, rule, user])).toEqual([
      { role: 'system', content: 's\n\nc' },
      user,
    ]);
    expect(messagesAt('vllm', [parts, rule, user])[0]).toEqual({
      role: 'system',
      content: [
        { type: 'text', text: 'p' },
        { type: 'text', text: 'c' },
      ],
    });
    expect(messagesAt('deepseek', [parts, rule, user])).toHaveLength(3);
  });

  it('keep their place beside a user of a name, whose words stay apart', () => {
    const ann = { role: 'user', name: 'ann', content: 'x' };
    expect(messagesAt('vllm', [ann, rule, ann])).toEqual([ann, { role: 'user', content: wrapped }, ann]);
  });

  it('lose no part of another type', () => {
    const file = { type: 'file', file: { file_url: 'https://example.com/a.pdf' } };
    const messages = [user, { role: 'system', content: [{ type: 'text', text: 'c' }, file] }];
    expect(fitTurns(messages, dialects.vllm)).toEqual([
      {
        role: 'user',
        content: [{ type: 'text', text: 'a' }, { type: 'text', text: wrapped }, file],
      },
    ]);
  });

  it('join the images of the user', () => {
    const parts = [{ type: 'text', text: 'x' }];
    expect(messagesAt('vllm', [{ role: 'user', content: parts }, rule])).toEqual([
      { role: 'user', content: [...parts, { type: 'text', text: wrapped }] },
    ]);
  });
});

it('a server that takes instructions anywhere is sent them in their place', () => {
  const system = { role: 'system', content: 'c' };
  for (const name of ['openai', 'deepseek', 'google'] as const)
    expect(inputAt(name, [user, answer, rule, last])[2]).toEqual(system);
  for (const name of ['other', 'openai'] as const)
    expect(messagesAt(name, [user, answer, rule, last])[2]).toEqual(rule);
});

it('a translation for a server of which nothing is known is careful with instructions', () => {
  expect(inputAt('other', [user, answer, rule, last])[2]).toEqual({
    role: 'user',
    content: `${wrapped}\n\nd`,
  });
});

describe('the user behind the result of a tool', () => {
  const bridge = { role: 'assistant', content: 'OK.' };

  it('speaks behind an answer at Mistral, from a chat as from a caller of messages', () => {
    expect(messagesAt('mistral', [user, called, result, last])).toEqual([user, called, result, bridge, last]);
    const blocks = [
      { type: 'tool_result', tool_use_id: 'callABCDE', content: '7' },
      { type: 'text', text: 'd' },
    ];
    const body = sent(
      'messages',
      {
        messages: [
          user,
          { role: 'assistant', content: [{ type: 'tool_use', id: 'callABCDE', name: 'f', input: {} }] },
          { role: 'user', content: blocks },
        ],
      },
      at(dialects.mistral),
    );
    expect(records(body.messages).slice(2)).toMatchObject([result, bridge, last]);
  });

  it('and so do later instructions', () => {
    expect(messagesAt('mistral', [user, called, result, rule])).toEqual([
      user,
      called,
      result,
      bridge,
      { role: 'user', content: wrapped },
    ]);
  });

  it.each(['Devstral-Small-2-24B', 'mistralai/mistral-small-4', 'open-mixtral-8x22b', 'magistral-medium'])(
    'speaks behind an answer at every server of a model of Mistral: %s',
    (upstreamModel) => {
      const messages = [user, called, result, last];
      for (const name of ['other', 'vllm', 'together'] as const)
        for (const [format, extra] of [
          ['chat', { messages }],
          [
            'responses',
            {
              input: [
                user,
                { type: 'function_call', call_id: 'callABCDE', name: 'f', arguments: '{}' },
                { type: 'function_call_output', call_id: 'callABCDE', output: '7' },
                last,
              ],
            },
          ],
        ] as const) {
          const body = sent(format, extra, at(dialects[name], ['chat'], upstreamModel));
          expect(records(body.messages).slice(2)).toEqual([result, bridge, last]);
        }
    },
  );

  it('speaks there directly at every other server', () => {
    for (const name of NAMES.filter((each) => turnsOf(each).userAfterResult))
      expect(messagesAt(name, [user, called, result, last]).map(({ role }) => role)).toEqual([
        'user',
        'assistant',
        'tool',
        'user',
      ]);
  });
});

describe('an answer of another model at DeepSeek', () => {
  it('has words in the place of the reasoning that it lacks', () => {
    const [, earlier, , other] = messagesAt('deepseek', [
      user,
      called,
      result,
      { ...answer, reasoning: 'so' },
      last,
    ]);
    expect(earlier).toEqual({ ...called, reasoning_content: '(not shown)' });
    expect(other).toEqual({ ...answer, reasoning_content: 'so' });
    expect(inputAt('deepseek', [user, answer, last])[1]).toMatchObject({ reasoning_content: '(not shown)' });
  });

  it('lacks it in peace everywhere else', () => {
    for (const name of NAMES.filter((each) => turnsOf(each).mayLackReasoning))
      expect(JSON.stringify(messagesAt(name, [user, answer, last]))).not.toContain('not shown');
  });
});

describe('an earlier call of another model at Moonshot', () => {
  it('has words in the place of the reasoning that it lacks, unless the model does not reason', () => {
    const turns = { messages: [user, called, result, last] };
    const sentFor = (model: string) =>
      records(sent('chat', turns, at(dialects.moonshot, ['chat'], model)).messages)[1];
    expect(sentFor('kimi-k2.5')).toEqual({ ...called, reasoning_content: '(not shown)' });
    expect(sentFor('moonshot-v1-32k')).toEqual(called);
    expect(dialectAt('https://api.moonshot.ai/v1')).toBe('moonshot');
  });

  it('calls a tool by force where the model does not reason meanwhile', () => {
    const tool = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } };
    const forced = { messages: [user], tools: [tool], tool_choice: 'required' };
    const bodyFor = (model: string) => sent('chat', forced, at(dialects.moonshot, ['chat'], model));
    expect(bodyFor('kimi-k2.5').thinking).toEqual({ type: 'disabled' });
    expect(bodyFor('moonshot-v1-32k').thinking).toBe(undefined);
  });
});

describe('an answer that goes on', () => {
  const going = [user, answer];

  it.each([
    ['mistral', [user, { ...answer, prefix: true }]],
    ['moonshot', [user, { ...answer, partial: true, reasoning_content: '(not shown)' }]],
    [
      'deepseek',
      [user, { ...answer, reasoning_content: '(not shown)' }, { role: 'user', content: 'Continue.' }],
    ],
    ['vllm', going],
    ['other', going],
  ] as const)('is marked at %s as its server wants it, whichever client wrote it', (name, expected) => {
    expect(messagesAt(name, going)).toEqual(expected);
    expect(leftOut('chat', { messages: going }, at(dialects[name]))).toEqual([]);
    const blocks = { messages: [user, { role: 'assistant', content: [{ type: 'text', text: 'b' }] }] };
    const catalog = at(dialects[name], ['chat']);
    if (name === 'mistral' || name === 'moonshot')
      expect(sent('messages', blocks, catalog).messages).toEqual(expected);
    else expect(refusal('messages', blocks, catalog)).toBe('invalid_request messages[1].role');
  });

  it('is marked at the address of DeepSeek that goes on with it', () => {
    const catalog = testCatalog({
      models: [model({ endpoints: [endpoint({ providerId: 'plain' })] })],
      providers: [
        provider({
          ...{ id: 'plain', kind: providerKinds.openai, dialect: dialects.deepseek, formats: ['chat'] },
          baseUrl: 'https://api.deepseek.com/beta',
        }),
      ],
    });
    const { messages } = sent('chat', { messages: going }, catalog);
    expect(records(messages).at(-1)).toMatchObject({ ...answer, prefix: true });
  });

  it('is not marked where it calls a tool, or is marked already', () => {
    expect(messagesAt('mistral', [user, called])).toEqual([user, called]);
    const marked = { ...answer, prefix: true };
    expect(messagesAt('mistral', [user, marked])).toEqual([user, marked]);
    expect(messagesAt('mistral', [user, answer, last])).toEqual([user, answer, last]);
  });

  it.each(NAMES)('is held for with what a server of %s is told more', (name) => {
    const more = JSON.stringify(messagesAt(name, going)).length - JSON.stringify(going).length;
    expect(addedTokens(name, { messages: going })).toBeGreaterThanOrEqual(Math.max(0, more));
  });
});

describe('the hold', () => {
  const sizeOf = (list: readonly unknown[]): number => Buffer.byteLength(JSON.stringify(list));
  const turns = [
    rule,
    rule,
    user,
    rule,
    answer,
    rule,
    last,
    called,
    result,
    rule,
    last,
    called,
    result,
    last,
    answer,
  ];

  it.each(NAMES)('is for all that a server of %s is told more', (name) => {
    const messages = [...turns, ...turns, last];
    const more = sizeOf(messagesAt(name, messages)) - sizeOf(messages);
    expect(addedTokens(name, { messages })).toBeGreaterThanOrEqual(Math.max(0, more));
  });

  it('is as before for a conversation that is sent as it is', () => {
    for (const name of NAMES) expect(addedTokens(name, { messages: [user] })).toBe(0);
    expect(addedTokens('mistral', { messages: [user, called, result, answer, last] })).toBe(0);
  });
});

it('a long conversation is written in a time that grows with its length alone', () => {
  const parts = { role: 'system', content: [{ type: 'text', text: 'c' }] };
  const behind = { role: 'user', content: [{ type: 'text', text: 'd' }] };
  // To copy what was joined before for each message would take minutes.
  const many = Array.from({ length: 200_000 }, (_, index) => (index % 2 === 0 ? parts : behind));
  const fitted = records(fitTurns([user, ...many], dialects.vllm));
  expect(fitted).toHaveLength(1);
  expect(fitted[0]?.content).toHaveLength(200_001);
});
