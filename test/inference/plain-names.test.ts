import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withPlainNames } from '../../api/inference/json/plain-names.ts';

const escaped = (name: string, places: readonly boolean[]): string =>
  [...name]
    .map((letter, at) =>
      places[at % places.length] ? `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}` : letter,
    )
    .join('');

describe('a name that is spelled with escapes', () => {
  it('is written plainly at any depth, and every value keeps its digits', () => {
    const names = fc.constantFrom('usage', 'error', 'prompt_tokens', 'Model', 'x-1');
    const places = fc.array(fc.boolean(), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(names, places, fc.integer({ min: 0, max: 3 }), (name, marks, depth) => {
        const inner = `{"${escaped(name, marks)}":12345678901234567890,"s":"\\u0075sage"}`;
        const text = '{"a":'.repeat(depth) + inner + '}'.repeat(depth);
        const plain = withPlainNames(Buffer.from(text)).toString();
        expect(plain).toContain(`"${name}":12345678901234567890`);
        expect(JSON.parse(plain)).toEqual(JSON.parse(text));
      }),
    );
  });

  it.each([
    '{"a":"\\u0075sage"}',
    '{"a":"\\u003cb\\u003e"}',
    '{"caf\\u00e9":1}',
    '{"usage":1}',
    '',
    '{"\\u0075',
  ])('and nothing else is written anew: %s', (text) => {
    const data = Buffer.from(text);
    expect(withPlainNames(data)).toBe(data);
  });
});
