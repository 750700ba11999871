import { describe, expect, it } from 'vitest';
import { MESSAGES_MAX, TOOL_ENTRIES_MAX, TOOL_KEYS_MAX } from '#core/limits.ts';
import { refuseManyToolKeys } from '../../api/inference/policy/tool-bounds.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { at, refusal } from './at-dialect.ts';
import { admit, bodyWith, refusalOf } from './support.ts';

/* Tools are checked and rewritten as a whole, so a request says at once when they are more than fit into one turn. */

const properties = (count: number): object =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, 1]));
const chatTool = (schema: object): object => ({
  type: 'function',
  function: { name: 'f', parameters: schema },
});
const tools = (schema: object): string => bodyWith(`"tools":${JSON.stringify([chatTool(schema)])}`);
/** The keys around the schema: two of the tool, and two of its function. */
const KEYS_BESIDE = 4;

describe('the tools of a request', () => {
  it('may have so many keys and entries as the limits say, and no more', () => {
    expect(admit(tools(properties(TOOL_KEYS_MAX - KEYS_BESIDE))).ok).toBe(true);
    const refused = refusalOf(tools(properties(TOOL_KEYS_MAX - KEYS_BESIDE + 1)));
    expect(refused).toMatchObject({ code: 'invalid_request', param: 'tools' });
    expect(refused.message).toContain('fewer tools');
    expect(admit(tools({ enum: Array(TOOL_ENTRIES_MAX - 1).fill(0) })).ok).toBe(true);
    expect(refusalOf(tools({ enum: Array(TOOL_ENTRIES_MAX).fill(0) })).param).toBe('tools');
  });

  it.each([
    ['tool_choice', { tool_choice: { type: 'allowed_tools', tools: Array(TOOL_ENTRIES_MAX + 1).fill('a') } }],
    ['response_format', { response_format: { json_schema: { schema: properties(TOOL_KEYS_MAX) } } }],
    ['text', { text: { format: { schema: properties(TOOL_KEYS_MAX) } } }],
    ['output_config', { output_config: { format: { schema: properties(TOOL_KEYS_MAX) } } }],
    ['include', { include: Array(TOOL_ENTRIES_MAX + 1).fill('usage') }],
    ['input[1].tools', { input: [{ role: 'user' }, { tools: [properties(TOOL_KEYS_MAX + 1)] }] }],
  ])('are counted wherever they stand: %s', (param, body) => {
    expect(refuseManyToolKeys(body)?.param).toBe(param);
  });

  it('are counted together', () => {
    const half = properties(TOOL_KEYS_MAX / 2);
    expect(refuseManyToolKeys({ tools: [half] })).toBeNull();
    expect(refuseManyToolKeys({ tools: [half], functions: [half, { name: 'f' }] })?.param).toBe('functions');
  });

  it('leave a conversation, metadata and unknown members their own bound', () => {
    const many = properties(2 * TOOL_KEYS_MAX);
    expect(refuseManyToolKeys({ metadata: many, x: many, messages: [many], input: [many] })).toBeNull();
  });
});

describe('a conversation', () => {
  it('may have so many messages as the limits say, and no more', () => {
    const messages = (count: number): string =>
      `{"model":"acme/small","messages":[${Array(count).fill('{"role":"user","content":"a"}').join(',')}]}`;
    expect(admit(messages(MESSAGES_MAX)).ok).toBe(true);
    const refused = refusalOf(messages(MESSAGES_MAX + 1));
    expect(refused).toMatchObject({ code: 'invalid_request', param: 'messages' });
    expect(refused.message).toContain(String(MESSAGES_MAX));
  });

  it('with more texts in unknown members than are looked at is not sent to a server of the operator', () => {
    const withTexts = (count: number) => ({
      messages: [{ role: 'user', content: 'a', x: Array(count).fill('a b.c') }],
    });
    expect(admit(JSON.stringify({ model: 'acme/small', ...withTexts(60_000) })).ok).toBe(true);
    expect(refusal('chat', withTexts(60_000), at(dialects.vllm))).toContain('messages[0].x');
    expect(refusal('chat', withTexts(40_000), at(dialects.vllm))).toBe('admitted');
  });
});
