import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { reasonsByEffort } from '../../api/inference/formats/reasoning-words.ts';
import { translate, user } from './ask.ts';

/* Fields that some versions of Claude refuse are left out of a translation, and the caller hears of it. */

function askedOf(upstreamModel: string, extra: object, from: FormatName = 'chat') {
  const body = from === 'chat' ? { messages: [user], ...extra } : { input: 'x', ...extra };
  const result = translate(from, 'messages', body, {
    upstreamModel,
    reasonsByEffort: reasonsByEffort(upstreamModel),
  });
  if (isApiError(result)) throw new Error(result.message);
  const sent: Record<string, unknown> = JSON.parse(result.object.bytes.toString());
  const { temperature, top_p, top_k } = sent;
  return { sent, sampling: { temperature, top_p, top_k }, leftOut: result.leftOut };
}

const none = { temperature: undefined, top_p: undefined, top_k: undefined };

describe('a sampling field that the model refuses is left out and named', () => {
  const wish = { temperature: 0.5, top_p: 0.9, top_k: 5 };

  it.each([
    'claude-opus-4-7',
    'anthropic.claude-opus-4-8',
    'claude-sonnet-5',
    'claude-fable-5-1',
    'claude-opus-latest',
  ])('each of the three: %s', (name) => {
    expect(askedOf(name, wish)).toMatchObject({ sampling: none, leftOut: ['temperature', 'top_k', 'top_p'] });
    expect(askedOf(name, { temperature: 1.5 }).leftOut).toEqual(['temperature']);
    expect(askedOf(name, { temperature: 0.5 }, 'responses').leftOut).toEqual(['temperature']);
  });

  it.each([
    'claude-opus-4-1-20250805',
    'claude-sonnet-4.5',
    'us.anthropic.claude-haiku-4-5-20251001-v1:0',
    'claude-sonnet-4-6',
  ])('top_p beside a temperature: %s', (name) => {
    expect(askedOf(name, wish)).toMatchObject({
      sampling: { temperature: 0.5, top_p: undefined, top_k: 5 },
      leftOut: ['top_p'],
    });
    expect(askedOf(name, { top_p: 0.9 })).toMatchObject({ sampling: { ...none, top_p: 0.9 }, leftOut: [] });
  });

  it.each([
    'claude-3-7-sonnet-20250219',
    'claude-opus-4-20250514',
    'claude-sonnet-4@20250514',
    'deepseek-v4',
    'glm-5',
  ])('none, where the model takes all: %s', (name) => {
    expect(askedOf(name, wish)).toMatchObject({ sampling: wish, leftOut: [] });
  });
});

it('a default asks for nothing, so it is left out without a word, and never at the cost of a wish', () => {
  expect(askedOf('claude-opus-4-8', { temperature: 1, top_p: 1, top_k: 0 })).toMatchObject({
    sampling: none,
    leftOut: [],
  });
  const sonnet = 'claude-sonnet-4-6';
  expect(askedOf(sonnet, { temperature: 1, top_p: 0.9 })).toMatchObject({
    sampling: { ...none, top_p: 0.9 },
    leftOut: [],
  });
  expect(askedOf(sonnet, { temperature: 0, top_p: 1 })).toMatchObject({
    sampling: { ...none, temperature: 0 },
    leftOut: [],
  });
});

describe('a model that thinks', () => {
  const high = { reasoning_effort: 'high' };

  it.each(['claude-3-7-sonnet-20250219', 'claude-opus-4-1', 'claude-sonnet-4-6'])(
    'is sent only the sampling that it takes then: %s',
    (name) => {
      expect(askedOf(name, { ...high, temperature: 0.5, top_p: 0.9, top_k: 5 })).toMatchObject({
        sent: { thinking: { type: 'enabled' } },
        sampling: none,
        leftOut: ['temperature', 'top_k', 'top_p'],
      });
      expect(askedOf(name, { ...high, temperature: 0.5, top_p: 0.95 })).toMatchObject({
        sampling: { ...none, top_p: 0.95 },
        leftOut: ['temperature'],
      });
      expect(askedOf(name, { ...high, temperature: 1 })).toMatchObject({
        sampling: { temperature: 1 },
        leftOut: [],
      });
    },
  );

  it('but for reasoning that is off, and models of other vendors', () => {
    const warm = { temperature: 0.5, top_k: 5 };
    expect(askedOf('claude-sonnet-4-6', { reasoning: { enabled: false }, ...warm })).toMatchObject({
      sampling: warm,
      leftOut: [],
    });
    expect(askedOf('glm-5', { ...high, ...warm })).toMatchObject({ sampling: warm, leftOut: [] });
  });
});

describe('a tool that is forced', () => {
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
  const one = { type: 'function', function: { name: 'f' } };

  it.each(['claude-sonnet-4-6', 'claude-opus-4-7'])(
    'is called without reasoning, whose field is named: %s',
    (name) => {
      for (const tool_choice of ['required', one]) {
        const asked = askedOf(name, { tools, tool_choice, reasoning_effort: 'high' });
        expect(asked.leftOut).toEqual(['reasoning_effort']);
        expect([asked.sent.thinking, asked.sent.output_config]).toEqual([undefined, undefined]);
        expect(asked.sent.tool_choice).toMatchObject({ type: tool_choice === one ? 'tool' : 'any' });
      }
      expect(
        askedOf(name, { tools, tool_choice: 'required', reasoning: { max_tokens: 2_000 } }).leftOut,
      ).toEqual(['reasoning.max_tokens']);
      expect(askedOf(name, { tools, tool_choice: 'auto', reasoning_effort: 'high' }).leftOut).toEqual([]);
    },
  );

  it('keeps the reasoning of other vendors’ models', () => {
    const asked = askedOf('glm-5', { tools, tool_choice: 'required', reasoning_effort: 'high' });
    expect(asked).toMatchObject({ sent: { thinking: { type: 'enabled' } }, leftOut: [] });
  });
});

it.each<[unknown, unknown, string[]]>([
  ['\n', undefined, ['stop']],
  [['\n\n', ' \t', ''], undefined, ['stop']],
  [['\n', 'END', ' x'], ['END', ' x'], ['stop']],
  [['END'], ['END'], []],
])('a stop sequence of nothing but white space is left out and named: %j', (stop, sequences, names) => {
  const { sent, leftOut } = askedOf('claude-sonnet-4-6', { stop });
  expect([sent.stop_sequences, leftOut]).toEqual([sequences, names]);
});
