import { describe, expect, it } from 'vitest';
import type { GoodAnswer } from '../../api/inference/formats/call-format.ts';
import { callFormats } from '../../api/inference/formats/call-formats.ts';
import { madeCallId } from '../../api/inference/formats/call-numbers.ts';
import { scanJsonObject } from '../../api/inference/json/json-object.ts';
import { cpuMsOf } from '../support/cpu-time.ts';

/* Clients read the message of the first choice, and the arguments of its calls, without asking whether they are there. */

function read(json: string): GoodAnswer {
  const answer = scanJsonObject(Buffer.from(json));
  if (typeof answer === 'string') throw new Error(answer);
  const reading = callFormats.chat.readAnswer(answer, JSON.parse(json));
  if (reading.kind !== 'answer') throw new Error(reading.kind);
  return reading;
}

const answerOf = (choices: unknown): string =>
  JSON.stringify({ id: 'x', object: 'chat.completion', choices });
const choicesOf = (choices: unknown) => {
  const { answer, value } = read(answerOf(choices));
  // The two must say the same: one is shown, and the other is counted.
  expect(JSON.parse(answer.bytes.toString())).toEqual(value);
  return value.choices;
};

const call = (more: object = {}) => ({
  id: 'c',
  type: 'function',
  function: { name: 'f', arguments: '{"a":1}' },
  ...more,
});
const message = (more: object = {}) => ({ role: 'assistant', content: 'Rain', refusal: null, ...more });

it('calls that their server gave one id are told apart', () => {
  const choices = [{ index: 0, message: message({ tool_calls: [call(), call(), call()] }) }];
  const ids = ['c', madeCallId('x', 1), madeCallId('x', 2)];
  expect(choicesOf(choices)).toMatchObject([{ message: { tool_calls: ids.map((id) => call({ id })) } }]);
});

describe('an answer that every client can read', () => {
  it.each([
    ['text', [{ index: 0, message: { role: 'assistant', content: 'Rain' }, finish_reason: 'stop' }]],
    ['calls', [{ index: 0, message: { content: null, tool_calls: [call()] } }]],
    [
      'a call of a custom tool',
      [
        {
          index: 0,
          message: { tool_calls: [{ id: 'c', type: 'custom', custom: { name: 'f', input: '' } }] },
        },
      ],
    ],
    [
      'several choices',
      [
        { index: 0, message: {} },
        { index: 1, message: {} },
      ],
    ],
    ['choices that are none', 'none'],
    ['calls with two ids', [{ index: 0, message: message({ tool_calls: [call(), call({ id: 'd' })] }) }]],
  ])('passes as it came: %s', (_of, choices) => {
    const whole = Array.isArray(choices)
      ? choices.map((each) => ({ finish_reason: 'stop', ...each }))
      : choices;
    const json = answerOf(whole).replace('{', '{ ');
    expect(read(json).answer.bytes.toString()).toBe(json);
  });
});

it('an answer without a choice has an empty one', () => {
  expect(choicesOf([])).toEqual([
    { index: 0, message: { role: 'assistant', content: null, refusal: null }, finish_reason: 'stop' },
  ]);
});

describe('a choice', () => {
  it.each([
    ['has no message', {}],
    ['has a message of null', { message: null }],
    ['has an empty message', { message: {} }],
  ])('that %s has an empty one', (_how, choice) => {
    expect(choicesOf([{ ...choice, finish_reason: 'content_filter' }])).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: null, refusal: null },
        finish_reason: 'content_filter',
      },
    ]);
  });

  it('that has the whole message as the one piece of a stream has it as a message', () => {
    expect(choicesOf([{ index: 0, delta: { content: 'Rain' }, finish_reason: 'stop' }])).toEqual([
      { index: 0, message: message(), finish_reason: 'stop' },
    ]);
  });

  it('without a number has its place as one', () => {
    const texts = ['Rain', 'Snow', 'Hail'];
    const choices = texts.map((content) => ({
      message: { role: 'assistant', content },
      finish_reason: 'stop',
    }));
    expect(choicesOf(choices)).toEqual(
      texts.map((content, index) => ({ index, message: message({ content }), finish_reason: 'stop' })),
    );
  });

  it.each([
    ['eos', 'stop'],
    ['', 'stop'],
    ['sensitive', 'content_filter'],
    ['model_length', 'length'],
  ])('that ends with the word %j ends with %s', (word, end) => {
    expect(choicesOf([{ index: 0, message: message(), finish_reason: word }])).toEqual([
      { index: 0, message: message(), finish_reason: end },
    ]);
  });

  it('keeps the digits of its numbers', () => {
    const json = '{"choices":[{"message":{"content":"Rain","score":1.50,"big":12345678901234567890}}]}';
    expect(read(json).answer.bytes.toString()).toContain('"score":1.50,"big":12345678901234567890');
  });
});

describe('an answer that is spread over several choices', () => {
  const text = { finish_reason: 'tool_calls', message: { role: 'assistant', content: 'Rain' } };
  const calls = (id: string) => ({
    finish_reason: 'tool_calls',
    message: { role: 'assistant', tool_calls: [call({ id })] },
  });
  const whole = (...ids: string[]) => [
    {
      index: 0,
      message: message({ tool_calls: ids.map((id) => call({ id })) }),
      finish_reason: 'tool_calls',
    },
  ];

  it.each([
    ['the text, then the calls', [text, calls('a')], whole('a')],
    ['the calls, then the text', [calls('a'), text], whole('a')],
    ['the text, then each call', [text, calls('a'), calls('b')], whole('a', 'b')],
    [
      'all under one number',
      [
        { index: 0, ...text },
        { index: 0, ...calls('a') },
      ],
      whole('a'),
    ],
    [
      'a text that ends by itself, then the calls',
      [{ ...text, finish_reason: 'stop' }, calls('a')],
      whole('a'),
    ],
    ['an empty text before the text', [{ message: { content: '' } }, text, calls('a')], whole('a')],
    ['a list of no calls', [{ message: { content: 'Rain', tool_calls: [] } }, calls('a')], whole('a')],
  ])('is one choice: %s', (_how, choices, expected) => {
    expect(choicesOf(choices)).toEqual(expected);
  });

  it('keeps its reasoning and what else its choices say', () => {
    const thought = { message: { role: 'assistant', reasoning: 'Hm.' }, matched: 'a' };
    expect(choicesOf([thought, { ...text, logprobs: { content: [] } }])).toEqual([
      {
        index: 0,
        matched: 'a',
        logprobs: { content: [] },
        message: message({ reasoning: 'Hm.' }),
        finish_reason: 'tool_calls',
      },
    ]);
  });

  it('is read once, however many there are', () => {
    const choices = Array.from({ length: 60_000 }, () => ({ index: 0, message: { content: 'x' } }));
    const ms = cpuMsOf(() => choicesOf(choices));
    expect(ms).toBeLessThan(4_000);
  });

  it('is not mixed up with other answers', () => {
    const choices = [0, 1].map((index) => ({ index, ...text }));
    expect(choicesOf([...choices, { index: 1, ...calls('a') }])).toEqual([
      { index: 0, message: message(), finish_reason: 'tool_calls' },
      { ...whole('a')[0], index: 1 },
    ]);
  });
});

describe('a call of a tool', () => {
  const readable = (given: object) => {
    const [choice] = choicesOf([{ index: 0, message: { tool_calls: [given] } }]) as {
      message: { tool_calls: object[] };
    }[];
    return choice?.message.tool_calls;
  };

  it.each([
    ['without arguments', { name: 'f' }],
    ['with empty arguments', { name: 'f', arguments: '' }],
    ['with arguments of null', { name: 'f', arguments: null }],
    ['with an empty object in the place of arguments', { name: 'f', arguments: {} }],
  ])('%s has arguments that can be parsed', (_how, given) => {
    expect(readable(call({ function: given }))).toEqual([call({ function: { name: 'f', arguments: '{}' } })]);
  });

  it('with an object in the place of arguments has its text', () => {
    const given = { name: 'f', arguments: { a: 1, b: [null] } };
    expect(readable(call({ function: given }))).toEqual([
      call({ function: { name: 'f', arguments: '{"a":1,"b":[null]}' } }),
    ]);
  });

  it.each([['missing'], ['empty'], ['null']])('with an id that is %s gets one', (how) => {
    const { id: _, ...rest } = call();
    const given = how === 'missing' ? rest : { ...rest, id: how === 'empty' ? '' : null };
    expect(readable(given)).toEqual([call({ id: madeCallId('x', 0) })]);
  });

  it('without a type has one', () => {
    const { type: _, ...rest } = call();
    expect(readable(rest)).toEqual([call()]);
    const custom = { id: 'c', custom: { name: 'f', input: 'x' } };
    expect(readable(custom)).toEqual([{ ...custom, type: 'custom' }]);
  });

  it('in the place of a list of calls is in one', () => {
    const choices = [{ index: 0, message: { content: null, tool_calls: call() } }];
    expect(choicesOf(choices)).toMatchObject([{ message: { tool_calls: [call()] } }]);
  });

  it('keeps what else it says, such as a signature', () => {
    const signed = { extra_content: { google: { thought_signature: 'EjQ=' } } };
    expect(readable(call({ ...signed, function: { name: 'f' } }))).toMatchObject([signed]);
  });

  it('in the old way has arguments, too', () => {
    const choices = [{ index: 0, message: { content: null, function_call: { name: 'f' } } }];
    expect(choicesOf(choices)).toMatchObject([
      { message: { function_call: { name: 'f', arguments: '{}' } } },
    ]);
  });
});
