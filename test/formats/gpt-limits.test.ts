import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { gptLimits } from '../../api/inference/translation/gpt-limits.ts';
import { translate, user } from './ask.ts';

/* What OpenAI's reasoning models refuse in a chat is never sent to them, and a wish that they cannot meet is named. */

function askedOf(upstreamModel: string, extra: object, from: FormatName = 'messages') {
  const body = from === 'messages' ? { messages: [user], max_tokens: 9, ...extra } : { input: 'x', ...extra };
  const result = translate(from, 'chat', body, { upstreamModel });
  if (isApiError(result)) throw new Error(result.message);
  const { reasoning_effort, temperature, top_p, stop } = JSON.parse(result.object.bytes.toString());
  return { sent: { reasoning_effort, temperature, top_p, stop }, leftOut: result.leftOut };
}

const nothing = { reasoning_effort: undefined, temperature: undefined, top_p: undefined, stop: undefined };
const tools = [{ name: 'f', input_schema: { type: 'object' } }];

describe('with tools', () => {
  it.each(['gpt-5.5', 'openai/gpt-5.6-terra', 'gpt-5.6-2026-07-09', 'gpt-6', 'gpt-10.2-mini'])(
    'a model that reasons unless told otherwise, and calls functions only at rest, is told to rest: %s',
    (name) => {
      expect(askedOf(name, { tools })).toEqual({
        sent: { ...nothing, reasoning_effort: 'none' },
        leftOut: [],
      });
      const wish = { tools, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } };
      expect(askedOf(name, wish)).toEqual({
        sent: { ...nothing, reasoning_effort: 'none' },
        leftOut: ['thinking.type', 'output_config.effort'],
      });
    },
  );

  it.each(['gpt-5.2', 'gpt-5.4-mini'])('a model that rests by default is told nothing: %s', (name) => {
    expect(askedOf(name, { tools }).sent.reasoning_effort).toBe(undefined);
    const wish = { tools: [{ type: 'function', name: 'f', parameters: {} }], reasoning: { effort: 'high' } };
    expect(askedOf(name, wish, 'responses')).toEqual({ sent: nothing, leftOut: ['reasoning.effort'] });
    expect(askedOf(name, { ...wish, reasoning: { effort: 'none' } }, 'responses')).toEqual({
      sent: { ...nothing, reasoning_effort: 'none' },
      leftOut: [],
    });
  });

  it.each(['gpt-5', 'gpt-5-mini', 'gpt-5.1', 'o3', 'o4-mini', 'gpt-4.1', 'gpt-oss-120b', 'qwen3'])(
    'others reason and call: %s',
    (name) => {
      const asked = askedOf(name, { tools, output_config: { effort: 'high' } });
      expect(asked).toEqual({ sent: { ...nothing, reasoning_effort: 'high' }, leftOut: [] });
    },
  );
});

it.each([
  ['o3', 'xhigh', 'high'],
  ['gpt-5', 'max', 'high'],
  ['gpt-5', 'minimal', 'minimal'],
  ['gpt-5.1', 'minimal', 'low'],
  ['gpt-5.2', 'max', 'xhigh'],
  ['gpt-5.6', 'max', 'max'],
])('%s is sent the word of its own scale for an effort of %s', (name, effort, word) => {
  expect(askedOf(name, { reasoning: { effort } }, 'responses').sent.reasoning_effort).toBe(word);
});

describe('sampling', () => {
  const wish = { temperature: 0.5, top_p: 0.9, stop_sequences: ['END'] };
  const names = ['stop_sequences', 'temperature', 'top_p'];

  it.each(['o1', 'o4-mini', 'gpt-5', 'gpt-5-nano', 'openai/gpt-5'])(
    'is left out and named where the model takes none: %s',
    (name) => {
      expect(askedOf(name, wish)).toEqual({ sent: nothing, leftOut: names });
      expect(askedOf(name, { temperature: 1, top_p: 1 })).toEqual({ sent: nothing, leftOut: [] });
    },
  );

  it('goes to a model that rests', () => {
    expect(askedOf('gpt-5.2', wish)).toEqual({
      sent: { ...nothing, temperature: 0.5, top_p: 0.9 },
      leftOut: ['stop_sequences'],
    });
    expect(askedOf('gpt-5.6', { ...wish, tools })).toEqual({
      sent: { reasoning_effort: 'none', temperature: 0.5, top_p: 0.9, stop: ['END'] },
      leftOut: [],
    });
    expect(askedOf('gpt-5.6', wish)).toEqual({
      sent: { ...nothing, stop: ['END'] },
      leftOut: ['temperature', 'top_p'],
    });
    expect(askedOf('gpt-5.2', { ...wish, output_config: { effort: 'low' } })).toEqual({
      sent: { ...nothing, reasoning_effort: 'low' },
      leftOut: names,
    });
  });

  it.each([
    'gpt-5-chat-latest',
    'gpt-5.3-chat-latest',
    'gpt-4o',
    'gpt-35-turbo',
    'gpt-oss-20b',
    'qwen-o1',
    'claude-5',
  ])('goes to any other model as it is: %s', (name) => {
    expect(gptLimits(name)).toBe(null);
    expect(askedOf(name, wish)).toEqual({
      sent: { ...nothing, temperature: 0.5, top_p: 0.9, stop: ['END'] },
      leftOut: [],
    });
  });
});
