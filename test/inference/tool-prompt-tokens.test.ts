import { describe, expect, it } from 'vitest';
import { SERVER_TOOL_PROMPT_TOKENS } from '#core/limits.ts';
import {
  CUSTOM_TOOL_TOKENS,
  JOINED_NAME_TOKENS,
  TOOL_USE_PROMPT_TOKENS,
  TOOLSET_PROMPT_TOKENS,
  toolPromptTokens,
} from '../../api/inference/price/prompt-bound.ts';
import { bodyWith, planOf } from './support.ts';

const of = (...types: (string | undefined)[]): number =>
  toolPromptTokens({ tools: types.map((type) => ({ type })) });

describe('what a provider tells the model of tools', () => {
  it('is nothing where there are none', () => {
    expect(toolPromptTokens({})).toBe(0);
    expect(toolPromptTokens({ tools: null })).toBe(0);
    expect(of()).toBe(0);
  });

  it('is how they are used, for those that the caller describes', () => {
    expect(of('function', 'function')).toBe(TOOL_USE_PROMPT_TOKENS);
    expect(
      toolPromptTokens({
        tools: [
          { name: 'f', input_schema: {} },
          { type: 'custom', input_schema: {} },
        ],
      }),
    ).toBe(TOOL_USE_PROMPT_TOKENS);
  });

  it('is also the words with which a tool that takes a text, or stands in a namespace, becomes a function', () => {
    expect(of('custom')).toBe(TOOL_USE_PROMPT_TOKENS + CUSTOM_TOOL_TOKENS);
    const tools = [{ type: 'namespace', name: 'n', tools: [{ name: 'a' }, { name: 'b' }] }];
    expect(toolPromptTokens({ tools })).toBe(TOOL_USE_PROMPT_TOKENS + 2 * JOINED_NAME_TOKENS);
  });

  it('is also what each is that the caller names alone', () => {
    expect(of('bash_20250124', 'text_editor_20250728', 'computer_20250124')).toBe(
      TOOL_USE_PROMPT_TOKENS + 3 * SERVER_TOOL_PROMPT_TOKENS,
    );
    expect(of('browser_toolset_20260801')).toBe(TOOL_USE_PROMPT_TOKENS + TOOLSET_PROMPT_TOKENS);
  });

  it('is in the bound of the prompt', () => {
    const tools = '[{"type":"function","function":{"name":"f"}}]';
    const more = planOf(bodyWith(`"tools":${tools}`)).promptTokensMax - planOf(bodyWith()).promptTokensMax;
    expect(more).toBeGreaterThan(TOOL_USE_PROMPT_TOKENS + tools.length);
  });
});
