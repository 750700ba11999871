import { describe, expect, it } from 'vitest';
import { CUT_CALL_CHARS_MAX } from '#core/limits.ts';
import { runAtOnce } from '#core/steps.ts';
import { buildChatBody } from '../../api/inference/formats/chat-body.ts';
import { recordOf, records } from '../../api/inference/formats/values.ts';
import { type DialectName, dialects } from '../../api/providers/openai/dialects.ts';
import { providerKinds } from '../../api/providers/provider-kinds.ts';
import { endpoint, model, planOf, provider, testCatalog } from './support.ts';

/* What clients and gateways write into earlier answers of a chat reaches no server that refuses it. */

/** The names of the dialects of which more is known than that they speak chat. */
const KNOWN = (Object.keys(dialects) as DialectName[]).filter((name) => name !== 'other');

function askedAt(dialect: DialectName, body: object | string) {
  const catalog = testCatalog({
    models: [model({ inputModalities: ['text', 'image'], endpoints: [endpoint({ providerId: 'plain' })] })],
    providers: [
      provider({ id: 'plain', kind: providerKinds.openai, formats: ['chat'], dialect: dialects[dialect] }),
    ],
  });
  const text = typeof body === 'string' ? body : JSON.stringify({ model: 'acme/small', ...body });
  const plan = planOf(text, catalog);
  const [candidate] = plan.candidates;
  if (candidate === undefined) throw new Error('no candidate');
  return { text: runAtOnce(buildChatBody(plan, candidate, 7)).toString(), candidate };
}

const user = { role: 'user', content: 'x' };
const call = { id: 'callABCDE', type: 'function', function: { name: 'f', arguments: '{"n":1.0}' } };
const result = { role: 'tool', tool_call_id: 'callABCDE', content: '7' };

/** The earlier answer as a server of this dialect is sent it. */
function sentAnswer(dialect: DialectName, answer: object): Record<string, unknown> {
  const { text } = askedAt(dialect, { messages: [user, { role: 'assistant', ...answer }, result, user] });
  return records(JSON.parse(text).messages)[1] ?? {};
}

/** As an answer of a gateway stands in the next request of a client. */
const printedBack = {
  content: 'Hi',
  refusal: null,
  annotations: [],
  audio: null,
  parsed: null,
  reasoning_content: 'so',
  reasoning_details: [{ type: 'reasoning.text', text: 'so', index: 0 }],
  provider_specific_fields: { a: 1 },
  function_call: null,
  tool_calls: [
    {
      ...call,
      index: 0,
      cache_control: { type: 'ephemeral' },
      extra_content: { google: { thought_signature: 'TS' } },
      function: { ...call.function, parsed_arguments: { n: 1 } },
    },
  ],
};

const THINKS = { type: 'thinking', thinking: [{ type: 'text', text: 'so' }], closed: true };

describe.each(KNOWN)('an earlier answer at a server of %s', (name) => {
  const { reasoningMember, signsCalls, takesThinkingParts } = dialects[name];

  it('has the members that the server takes, and its reasoning where it reads it', () => {
    expect(sentAnswer(name, printedBack)).toEqual({
      role: 'assistant',
      content: takesThinkingParts ? [THINKS, { type: 'text', text: 'Hi' }] : 'Hi',
      ...(reasoningMember === null ? {} : { [reasoningMember]: 'so' }),
      tool_calls: [signsCalls ? { ...call, extra_content: { google: { thought_signature: 'TS' } } } : call],
    });
  });

  it.each<[string, object]>([
    ['reasoning', { reasoning: 'so' }],
    ['reasoning_content', { reasoning_content: 'so' }],
    [
      'reasoning_details',
      {
        reasoning_details: [
          { type: 'reasoning.text', text: 's' },
          { type: 'reasoning.summary', summary: 'o' },
        ],
      },
    ],
  ])('has reasoning that another vendor writes in %s', (_member, given) => {
    const { [reasoningMember ?? 'none']: sent, ...rest } = sentAnswer(name, {
      content: null,
      tool_calls: [call],
      ...given,
    });
    expect(sent).toBe(reasoningMember === null ? undefined : 'so');
    const content = takesThinkingParts ? [THINKS] : null;
    expect(rest).toEqual({ role: 'assistant', content, tool_calls: [call] });
  });

  it('has the reasoning among its parts where the server writes it there itself', () => {
    const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'so' }] };
    const { content, [reasoningMember ?? 'none']: sent } = sentAnswer(name, {
      content: [thinking, { type: 'text', text: 'Hi', annotations: [] }],
    });
    const text = { type: 'text', text: 'Hi' };
    expect(content).toEqual(name === 'mistral' ? [thinking, text] : [text]);
    expect(sent).toBe(reasoningMember === null ? undefined : 'so');
  });

  it('says its refusal, and no list of calls that is empty', () => {
    const answer = sentAnswer(name, { content: null, refusal: 'No.', tool_calls: [] });
    const takes = dialects[name].answerMembers?.has('refusal') === true;
    const said = takes ? { content: null, refusal: 'No.' } : { content: 'No.' };
    const reasoning = dialects[name].turns.mayLackReasoning ? {} : { reasoning_content: '(not shown)' };
    expect(answer).toEqual({ role: 'assistant', ...said, ...reasoning });
  });

  it('has the name of its model where the server takes one, and elsewhere loses it without a word', () => {
    const answer = { role: 'assistant', name: 'MiniMax AI', content: 'Hi' };
    const { text, candidate } = askedAt(name, { messages: [user, answer, { ...user, name: 'ann' }] });
    const takes = !(dialects[name].refusedFields as ReadonlySet<string>).has('messages[].name');
    expect(records(JSON.parse(text).messages)[1]?.name).toBe(takes ? 'MiniMax AI' : undefined);
    expect(candidate.leftOut).toEqual(takes ? [] : ['messages[2].name']);
  });

  it('is named nowhere, and passes no endpoint over', () => {
    const { candidate } = askedAt(name, { messages: [user, { role: 'assistant', ...printedBack }, result] });
    expect([candidate.leftOut, candidate.hints]).toEqual([[], []]);
  });

  it('keeps the digits of numbers beside what is left out', () => {
    const parts = [{ type: 'text', text: 'x' }];
    const messages = [
      { role: 'user', content: parts, seed: 0 },
      { role: 'assistant', ...printedBack },
      result,
    ];
    const text = JSON.stringify({ model: 'acme/small', messages }).replace(
      '"seed":0',
      '"seed":12345678901234567890',
    );
    const { text: sent } = askedAt(name, text);
    expect(sent).toContain('12345678901234567890');
  });
});

describe('marks for a cache', () => {
  const mark = { cache_control: { type: 'ephemeral' } };
  const body = {
    ...mark,
    messages: [
      { role: 'system', content: [{ type: 'text', text: 's', ...mark }], ...mark },
      { role: 'assistant', content: [{ type: 'text', text: 'a', ...mark }] },
      { role: 'user', content: [{ type: 'text', text: 'x', ...mark }] },
    ],
    tools: [
      { type: 'function', function: { name: 'f', parameters: { cache_control: 1 }, ...mark }, ...mark },
    ],
  };

  it.each(KNOWN)('reach no server of %s, which has none, and are named as hints', (name) => {
    const { text, candidate } = askedAt(name, body);
    expect(text.match(/cache_control/g)).toHaveLength(1);
    expect(candidate.leftOut).toEqual([]);
    expect([...candidate.hints].sort()).toEqual(
      [
        'cache_control',
        'messages[0].cache_control',
        'messages[0].content[0].cache_control',
        'messages[2].content[0].cache_control',
        'tools[0].cache_control',
        'tools[0].function.cache_control',
      ].sort(),
    );
  });

  it('pass to a server of which nothing is known', () => {
    const { text, candidate } = askedAt('other', body);
    expect(text.match(/"ephemeral"/g)).toHaveLength(7);
    expect(candidate.hints).toEqual([]);
  });
});

describe('the arguments of an earlier call', () => {
  const sentArguments = (dialect: DialectName, json: string): unknown => {
    const called = { ...call, function: { name: 'f', arguments: json } };
    const calls = records(sentAnswer(dialect, { content: null, tool_calls: [called] }).tool_calls);
    return recordOf(calls[0]?.function).arguments;
  };

  it.each(Object.keys(dialects) as DialectName[])(
    'can be parsed by %s where a limit has cut them',
    (name) => {
      expect(sentArguments(name, '{"a":"x","b":[1,')).toBe('{"a":"x","b":[1]}');
      expect(sentArguments(name, '{"a":"x')).toBe('{}');
      expect(sentArguments(name, '')).toBe('{}');
      expect(sentArguments(name, 'rain')).toBe('{"arguments":"rain"}');
    },
  );

  it('pass as they came where they are whole', () => {
    expect(sentArguments('vllm', '{"n": 12345678901234567890 }\n')).toBe('{"n": 12345678901234567890 }\n');
  });

  it('are empty from the fifth cut call on, and where they are very long', () => {
    const cut = (json: string, at: number) => ({
      ...call,
      id: `call${at}`,
      function: { name: 'f', arguments: json },
    });
    const calls = [`[${'1,'.repeat(CUT_CALL_CHARS_MAX)}`, '{"a":1,', '{"a":2,', '{"a":3,', '{"a":4,'].map(
      cut,
    );
    const sent = records(sentAnswer('vllm', { content: null, tool_calls: calls }).tool_calls);
    expect(sent.map((each) => recordOf(each.function).arguments)).toEqual([
      ...['{}', '{"a":1}', '{"a":2}', '{"a":3}', '{}'],
    ]);
  });

  it('are paid for by the hold where they become longer', () => {
    const added = (json: string): number => {
      const called = { ...call, function: { name: 'f', arguments: json } };
      const messages = [user, { role: 'assistant', content: null, tool_calls: [called] }, result, user];
      return askedAt('vllm', { messages }).candidate.addedTokens ?? 0;
    };
    expect(added('rain')).toBeGreaterThanOrEqual('{"arguments":"rain"}'.length - 'rain'.length);
    expect(added('{"n":1}')).toBe(0);
  });
});

describe('an earlier call in the way that chats had before tools', () => {
  const messages = [
    user,
    { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
    { role: 'function', name: 'f', content: 'R' },
    user,
  ];

  it('reaches Mistral, which knows calls of tools alone, as one of these, with its result', () => {
    const [, answer, given] = records(JSON.parse(askedAt('mistral', { messages }).text).messages);
    const [sent] = records(answer?.tool_calls);
    expect(sent).toMatchObject({ type: 'function', function: { name: 'f', arguments: '{"a":1}' } });
    expect(given).toMatchObject({ role: 'tool', tool_call_id: sent?.id, content: 'R' });
    expect(answer).not.toHaveProperty('function_call');
  });

  it('reaches OpenAI as it came', () => {
    expect(JSON.parse(askedAt('openai', { messages }).text).messages).toEqual(messages);
  });
});

it('a server of which nothing is known is sent an earlier answer byte for byte', () => {
  const { text } = askedAt('other', { messages: [user, { role: 'assistant', ...printedBack }, result] });
  expect(text).toContain(JSON.stringify({ role: 'assistant', ...printedBack }));
});
