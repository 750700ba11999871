import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JSON_DEPTH_MAX, TOOL_ENTRIES_MAX } from '#core/limits.ts';
import { layoutTokens } from '../../api/inference/price/prompt-bound.ts';
import { bodyWith, planOf } from './support.ts';

/** How Llama 3 and its like split a text before they make tokens of it: each piece is at least one. */
const PIECES =
  /(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/gu;
/** The longest run of blanks that is one token in every tokenizer we know of. */
const BLANKS_PER_TOKEN = 31;

const printed = (value: unknown): string[] => JSON.stringify(value, null, 4).match(PIECES) ?? [];
const blankTokens = (value: unknown): number =>
  printed(value)
    .filter((piece) => piece.trim() === '')
    .reduce((sum, piece) => sum + Math.ceil(piece.length / BLANKS_PER_TOKEN), 0);

const nested = (depth: number): unknown => (depth === 0 ? Array(50).fill(0) : [nested(depth - 1)]);

describe('tools and schemas that a template prints line by line', () => {
  it('are held for with every blank and line end that it adds', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ maxDepth: 12 }), { minLength: 1 }), (tools) => {
        // Blanks of the caller's own are bytes of the body.
        const own = JSON.parse(JSON.stringify(tools).replace(/\s/g, '_'));
        for (const each of own) expect(blankTokens(each)).toBeLessThanOrEqual(layoutTokens({ tools: own }));
      }),
      { numRuns: 500 },
    );
    for (let depth = 0; depth < JSON_DEPTH_MAX - 3; depth++) {
      const tool = nested(depth);
      expect(blankTokens(tool)).toBeLessThanOrEqual(layoutTokens({ tools: [tool] }));
    }
  });

  it('cannot be made of many short values that cost more than was held', () => {
    const parameters = { type: 'object', properties: { a: { enum: Array(TOOL_ENTRIES_MAX - 1).fill(0) } } };
    const tool = { type: 'function', function: { name: 'f', parameters } };
    const { promptTokensMax } = planOf(bodyWith(`"tools":${JSON.stringify([tool])}`));
    expect(promptTokensMax).toBeGreaterThan(printed(tool).length);
  });

  it.each<[string, Record<string, unknown>]>([
    ['functions', { functions: [{ name: 'f', parameters: { enum: [1, 2, 3] } }] }],
    ['response_format', { response_format: { type: 'json_schema', json_schema: { schema: {} } } }],
    ['text', { text: { format: { type: 'json_schema', schema: { enum: [1, 2, 3] } } } }],
    ['output_config', { output_config: { format: { type: 'json_schema', schema: { enum: [1] } } } }],
  ])('are held for in %s', (_member, body) => {
    for (const value of Object.values(body))
      expect(layoutTokens(body)).toBeGreaterThanOrEqual(blankTokens(value));
    expect(layoutTokens(body)).toBeGreaterThan(0);
  });

  it('cost nothing where there are none', () => {
    expect(layoutTokens({ messages: [{ role: 'user', content: 'hi' }], metadata: { a: [1, 2] } })).toBe(0);
  });
});
