import { describe, expect, it } from 'vitest';
import type { FormatName } from '#core/catalog/catalog.ts';
import { isApiError } from '../../api/contract/errors.ts';
import { reasonsByEffort } from '../../api/inference/formats/reasoning-words.ts';
import { withBetasOf } from '../../api/providers/messages-betas.ts';
import { translate, user } from './ask.ts';

/* What each Claude refuses is never sent to it, and a wish that it cannot meet is named. */

function askedOf(upstreamModel: string, extra: object, from: FormatName = 'chat') {
  const body = from === 'chat' ? { messages: [user], ...extra } : { input: 'x', ...extra };
  const asked = { upstreamModel, reasonsByEffort: reasonsByEffort(upstreamModel) };
  const result = translate(from, 'messages', body, asked);
  if (isApiError(result)) throw new Error(result.message);
  const { thinking, output_config, tool_choice, messages } = JSON.parse(result.object.bytes.toString());
  const { leftOut, sentBetaFields } = result;
  return { thinking, effort: output_config?.effort, tool_choice, messages, leftOut, sentBetaFields };
}

const SHOWN = { type: 'adaptive', display: 'summarized' };

describe('a wish for no reasoning', () => {
  const wishes: [FormatName, object, string][] = [
    ['chat', { reasoning_effort: 'none' }, 'reasoning_effort'],
    ['chat', { reasoning: { enabled: false } }, 'reasoning.enabled'],
    ['chat', { reasoning: { effort: 'none' } }, 'reasoning.effort'],
    ['responses', { reasoning: { effort: 'none' } }, 'reasoning.effort'],
  ];

  it.each([
    ['claude-sonnet-4-6', { type: 'disabled' }],
    ['claude-opus-5', { type: 'disabled' }],
    ['claude-haiku-5-5', { type: 'disabled' }],
    ['claude-sonnet-5-5', { type: 'between_tools' }],
    ['glm-5', { type: 'disabled' }],
  ])('is said in the word that %s takes', (name, thinking) => {
    for (const [from, wish] of wishes)
      expect(askedOf(name, wish, from)).toMatchObject({ thinking, effort: undefined, leftOut: [] });
  });

  it.each([
    ['claude-fable-5', undefined],
    ['anthropic.claude-mythos-5', undefined],
    ['claude-mythos-preview', SHOWN],
    ['claude-fable-5-2', SHOWN],
    ['anthropic/claude-opus-5.5', SHOWN],
    ['claude-opus-latest', SHOWN],
  ])('becomes the least effort and is named where the model always thinks: %s', (name, thinking) => {
    for (const [from, wish, field] of wishes)
      expect(askedOf(name, wish, from)).toMatchObject({ thinking, effort: 'low', leftOut: [field] });
  });
});

describe('reasoning is shown', () => {
  it.each(['claude-opus-4-7', 'claude-sonnet-5', 'claude-fable-5', 'claude-opus-5-5', 'claude-haiku-5.5'])(
    'where a caller asks for it, though the model hides it unless told: %s',
    (name) => {
      expect(askedOf(name, { reasoning_effort: 'high' })).toMatchObject({ thinking: SHOWN, effort: 'high' });
    },
  );

  it.each(['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5', 'claude-fable-5-1'])(
    'where the model says in it what it does between two calls: %s',
    (name) => {
      expect(askedOf(name, {}).thinking).toEqual(SHOWN);
    },
  );

  it.each(['claude-sonnet-4-6', 'claude-opus-4-8', 'claude-sonnet-5', 'glm-5'])(
    'nowhere else: %s',
    (name) => {
      expect(askedOf(name, {}).thinking).toBe(undefined);
    },
  );
});

describe('a tool that is forced', () => {
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
  const one = { type: 'function', function: { name: 'f' } };

  it.each(['claude-opus-4-8', 'claude-sonnet-5', 'claude-fable-5', 'claude-haiku-5-5'])(
    'is called after reasoning: %s',
    (name) => {
      for (const tool_choice of ['required', one]) {
        const asked = askedOf(name, { tools, tool_choice, reasoning_effort: 'high' });
        expect(asked).toMatchObject({ thinking: SHOWN, effort: 'high', leftOut: [] });
        expect(asked.tool_choice).toMatchObject({ type: tool_choice === one ? 'tool' : 'any' });
      }
    },
  );

  it.each(['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-fable-5-1', 'claude-mythos-5-2'])(
    'is asked for in words, and the choice is named, where none can be forced: %s',
    (name) => {
      const any = askedOf(name, { tools, tool_choice: 'required' });
      expect(any).toMatchObject({ tool_choice: undefined, leftOut: ['tool_choice'] });
      expect(any.messages).toEqual([
        {
          role: 'user',
          content: [
            { type: 'text', text: 'x' },
            { type: 'text', text: '<system>\nCall one of the tools now.\n</system>' },
          ],
        },
      ]);
      const chosen = askedOf(name, { tools, tool_choice: one, parallel_tool_calls: false });
      expect(chosen.tool_choice).toEqual({ type: 'auto', disable_parallel_tool_use: true });
      expect(chosen.messages[0].content[1].text).toContain('Call the tool `f` now.');
      for (const tool_choice of ['auto', 'none'])
        expect(askedOf(name, { tools, tool_choice })).toMatchObject({
          tool_choice: { type: tool_choice },
          leftOut: [],
          messages: [{ content: [{ text: 'x' }] }],
        });
    },
  );
});

describe('thinking that is bound to the history behind which it stood', () => {
  const details = [
    { type: 'reasoning.text', text: 'hm', signature: 'c2ln', format: 'anthropic-claude-v1', index: 0 },
  ];
  const messages = [user, { role: 'assistant', content: 'a', reasoning_details: details }, user];
  const thought = { type: 'thinking', thinking: 'hm', signature: 'c2ln' };
  const newest = ['claude-opus-5-5', 'claude-sonnet-5-5', 'claude-haiku-5-5', 'claude-fable-5-2'];

  it.each(newest)('fails no call of a client who has changed that history: %s', (name) => {
    const asked = askedOf(name, { messages });
    expect(asked.messages[1].content).toContainEqual(thought);
    const binding = { block_binding: { prefix_mismatch_behavior: 'drop_block' } };
    expect(asked.thinking).toEqual({ ...SHOWN, ...binding });
    expect(withBetasOf(asked.sentBetaFields, null)).toBe('thinking-binding-controls-2026-08-01');
    expect(withBetasOf(asked.sentBetaFields, 'effort-2025-11-24')).toBe(
      'effort-2025-11-24,thinking-binding-controls-2026-08-01',
    );
  });

  it.each(['claude-sonnet-5-5', 'claude-haiku-5-5'])(
    'stays away where the model thinks no more: %s',
    (name) => {
      const asked = askedOf(name, { messages, reasoning: { enabled: false } });
      expect(asked.messages[1].content).toEqual([{ type: 'text', text: 'a' }]);
      expect(asked.sentBetaFields).toEqual([]);
    },
  );

  it.each(['claude-opus-5', 'claude-sonnet-4-6', 'glm-5'])('is no care of older models: %s', (name) => {
    const asked = askedOf(name, { messages, reasoning_effort: 'low' });
    expect(asked.messages[1].content).toContainEqual(thought);
    expect([asked.thinking.block_binding, withBetasOf(asked.sentBetaFields, null)]).toEqual([
      undefined,
      null,
    ]);
  });
});

describe('a conversation that ends with an answer', () => {
  const messages = [user, { role: 'assistant', content: 'The sum is \n' }];

  it.each(['claude-sonnet-4-5', 'claude-3-7-sonnet-20250219'])('is gone on with: %s', (name) => {
    expect(askedOf(name, { messages }).messages.at(-1)).toEqual({
      role: 'assistant',
      content: [{ type: 'text', text: 'The sum is' }],
    });
  });

  it.each(['claude-sonnet-4-6', 'claude-opus-5-5', 'claude-haiku-5-5'])(
    'is asked to go on, where the model refuses to continue it: %s',
    (name) => {
      expect(askedOf(name, { messages }).messages.slice(1)).toEqual([
        { role: 'assistant', content: [{ type: 'text', text: 'The sum is \n' }] },
        { role: 'user', content: [{ type: 'text', text: 'Continue.' }] },
      ]);
    },
  );

  it('goes to other vendors’ models as it is', () => {
    expect(askedOf('glm-5', { messages }).messages.at(-1).content).toEqual([
      { type: 'text', text: 'The sum is \n' },
    ]);
  });
});
