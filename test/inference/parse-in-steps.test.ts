import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAtOnce } from '#core/steps.ts';
import { PARSED_AT_ONCE, parseInSteps } from '../../api/inference/json/parse-in-steps.ts';
import { jsonText } from './arbitrary-json.ts';

const inSteps = (text: string, atOnce: number): unknown =>
  runAtOnce(parseInSteps(Buffer.from(text), undefined, atOnce));

function atOnce(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const few = fc.integer({ min: 1, max: 5 });
/** Keys that stand twice are refused by their number before the value counts for anything. */
const hasRepeatedKeys = (text: string): boolean =>
  JSON.stringify(inSteps(text, 1)) !== JSON.stringify(atOnce(text)) && /(".*?").*\1/s.test(text);

describe('JSON that is parsed in steps', () => {
  it('has the value that it has when it is parsed at once, wherever it is cut', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), few, (text, count) => {
        expect(inSteps(text, count)).toEqual(atOnce(text));
      }),
      { numRuns: 2_000 },
    );
    fc.assert(
      fc.property(jsonText, few, (text, count) => {
        expect(JSON.stringify(inSteps(text, count))).toBe(JSON.stringify(atOnce(text)));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is no JSON where it is none when it is parsed at once', () => {
    const broken = fc
      .tuple(
        fc.json({ maxDepth: 4 }),
        fc.nat(),
        fc.constantFrom('', ',', ',,', ']', '}', '[', '{', ':', '"', '1', ' ,', '\\'),
      )
      .map(([text, place, change]) => {
        const at = place % (text.length + 1);
        return change === '' ? text.slice(0, at) : text.slice(0, at) + change + text.slice(at);
      });
    fc.assert(
      fc.property(broken, few, (text, count) => {
        fc.pre(!hasRepeatedKeys(text));
        expect(inSteps(text, count)).toEqual(atOnce(text));
      }),
      { numRuns: 5_000 },
    );
    for (const text of [
      '1,2',
      '[1],[2]',
      '[1,]',
      '[1, ]',
      '{"a":1,}',
      '[1,,2]',
      '[,1]',
      '{"a":1,2}',
      '[1}',
      '{"a",:1}',
      '[1,2',
      '',
    ]) {
      expect(inSteps(text, 1), text).toBeUndefined();
      expect(atOnce(text), text).toBeUndefined();
    }
  });

  it('keeps keys that mean something to the language apart from what they mean', () => {
    const text =
      '{"a":1,"__proto__":{"x":[1,2,{"y":3,"z":4}],"w":5},"constructor":{"prototype":{"b":1,"c":2},"d":3},"7":1}';
    const value = inSteps(text, 1);
    expect(JSON.stringify(value)).toBe(JSON.stringify(atOnce(text)));
    expect(Object.keys({})).toEqual([]);
    expect(Reflect.get({}, 'w')).toBeUndefined();
  });

  it('takes a step for each so many keys and values', () => {
    const steps = [...parseInSteps(Buffer.from(`[${Array(100_000).fill('"a"').join(',')}]`))];
    expect(steps).toHaveLength(100_000 / PARSED_AT_ONCE);
  });
});
