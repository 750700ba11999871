import { partialParse } from '@anthropic-ai/sdk/_vendor/partial-json-parser/parser';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inputOf, readInput } from '../../api/inference/formats/tool-input.ts';
import { wholePartOf } from '../../api/inference/json/cut-json.ts';
import { NumberMarks } from '../../api/inference/json/number-marks.ts';
import { cpuMsOf } from '../support/cpu-time.ts';
import { shownCollected, shownStream, shownWhole } from './shown-answers.ts';

/* The input of a call that was cut is what the official SDK reads from the stream of it. */

function shown(json: string): unknown {
  const marks = new NumberMarks();
  return JSON.parse(marks.print(inputOf(json, marks)).toString());
}

/** `null`: the SDK cannot read it either. */
function official(json: string): unknown {
  try {
    return partialParse(json);
  } catch {
    return null;
  }
}

const spaced = fc.constantFrom(undefined, 1, '\t');
const anyObject = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 4 }), { minKeys: 1 });

it('the input of a call that was cut anywhere is what the official SDK makes of its stream', () => {
  fc.assert(
    fc.property(anyObject, spaced, fc.double({ min: 0, max: 1, noNaN: true }), (object, space, part) => {
      const json = JSON.stringify(object, null, space);
      const cut = json.slice(0, Math.max(1, Math.floor(json.length * part)));
      expect(shown(cut)).toEqual(official(cut));
    }),
    { numRuns: 2_000 },
  );
});

it('no text has another input than the official SDK reads, unless it is passed on as it is', () => {
  const letters = fc.string({ unit: fc.constantFrom(...'{}[]:,"\\ae1-. tn') });
  fc.assert(
    fc.property(letters, (text) => {
      const json = `{${text}`;
      const input = shown(json);
      if (JSON.stringify(input) !== JSON.stringify({ arguments: json }))
        expect(input).toEqual(official(json));
    }),
    { numRuns: 5_000 },
  );
});

it.each([
  ['{', {}],
  ['{"town', {}],
  ['{"town"', {}],
  ['{"town":', {}],
  ['{"town":"Os', {}],
  ['{"town":"Os\\', {}],
  ['{"town":"Oslo"', { town: 'Oslo' }],
  ['{"town":"Oslo",', { town: 'Oslo' }],
  ['{"town":"Oslo","days":1', { town: 'Oslo' }],
  ['{"town":"Oslo","wet":tr', { town: 'Oslo' }],
  ['{"wet":true', { wet: true }],
  ['{"at":[59.91,10.7', { at: [59.91] }],
  ['{"at":[59.91,1.5e-', { at: [59.91] }],
  ['{"at":[59.91,-', { at: [59.91] }],
  ['{"at":[59.91,1.e', { at: [59.91] }],
  ['{"at":[59.91,1e4.00', { at: [59.91] }],
  ['{"town":"Oslo","phone":0047', { town: 'Oslo' }],
  ['{"at":[{"n":1},{"e":', { at: [{ n: 1 }, {}] }],
  ['{"id":12345678901234567890,"x', { id: 12_345_678_901_234_567_890n }],
])('of %s it is the part that is whole', (json, whole) => {
  const marks = new NumberMarks();
  const printed = marks.print(inputOf(json, marks)).toString();
  const expected = JSON.stringify(whole, (_name, value) =>
    typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value,
  );
  expect(printed).toBe(expected);
});

it.each([
  '[1,2',
  '"Os',
  '12',
  'no JSON',
  '{"a":1}}',
  '{"a":1]',
  '{"a" 1',
  '{a:1',
  "{'a':1",
  '{"a":1 hello',
  '{"a":nul,',
  '{"a":1-',
  '{"a":1t',
  '{"a":[1-',
])('a text that is no beginning of an object is passed on as it is: %s', (json) => {
  expect(shown(json)).toEqual({ arguments: json });
});

describe('a cut text of megabytes', () => {
  it.each([
    ['of brackets', '{"a":'.repeat(400_000)],
    ['of lists', `{"a":${'['.repeat(2_000_000)}`],
    ['of quotes', `{"a":"${'\\"'.repeat(1_000_000)}`],
    ['of letters', `{"a":${'t'.repeat(2_000_000)}`],
    ['of items', `{"a":[${'1,'.repeat(500_000)}`],
  ])('%s is read at once', (_of, json) => {
    const cpuMs = cpuMsOf(() => {
      wholePartOf(json);
      shown(json);
    });
    expect(cpuMs).toBeLessThan(5_000);
  });
});

it('what is left of a cut call keeps to the bounds of what a caller may send', () => {
  const json = `{"a":[${'1,'.repeat(100)}`;
  expect(readInput(json, { keysMax: 10, valuesMax: 50 }, new NumberMarks())).toBe('too_many');
  expect(readInput(json, { keysMax: 10, valuesMax: 500 }, new NumberMarks())).toMatchObject({ keyCount: 1 });
});

it('a cut call is shown with one input, however it is asked for', () => {
  const called = {
    id: 'c',
    type: 'function',
    function: { name: 'f', arguments: '{"town":"Oslo","day":"Mo' },
  };
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    id: 'x',
    choices: [{ index: 0, delta, finish_reason }],
  });
  const answer = {
    events: [chunk({ tool_calls: [{ index: 0, ...called }] }), chunk({}, 'length')],
    whole: { id: 'x', choices: [{ index: 0, message: { tool_calls: [called] }, finish_reason: 'length' }] },
  };
  for (const show of [shownWhole, shownCollected, shownStream])
    expect(show('chat', 'messages', answer)).toMatchObject({
      content: [{ type: 'tool_use', input: { town: 'Oslo' } }],
      stop_reason: 'max_tokens',
    });
});
