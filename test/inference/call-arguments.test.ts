import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CallArguments, newComparedText } from '../../api/inference/price/call-arguments.ts';

/* Whatever way a server has of sending the arguments of a call, they are shown once. */

const word = fc.stringMatching(/^[a-z]{1,3}$/);
const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.oneof(fc.string(), fc.integer(), fc.boolean(), fc.constant(null)),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(word, tie('any'), { maxKeys: 3 }),
  ),
})).any;
const json = fc
  .dictionary(word, value, { minKeys: 1, maxKeys: 3 })
  .chain((input) => fc.constantFrom(JSON.stringify(input), JSON.stringify(input, null, 2)));
const cuts = fc.array(fc.nat(), { maxLength: 12 });

/** The text in pieces, cut at these places. */
function piecesOf(text: string, places: readonly number[]): string[] {
  const ends = [...new Set(places.map((at) => at % text.length)), text.length].sort((a, b) => a - b);
  return ends.map((end, at) => text.slice(at === 0 ? 0 : ends[at - 1], end)).filter((piece) => piece !== '');
}

function shown(pieces: readonly string[], beginsCall = false): string {
  const call = new CallArguments(newComparedText());
  const now = pieces.map((piece, at) => call.add(piece, beginsCall && at === 0));
  return now.join('') + call.end();
}

/** All of the text so far, in each piece. */
const soFar = (pieces: readonly string[]): string[] =>
  pieces.map((_, at) => pieces.slice(0, at + 1).join(''));

it('arguments in pieces are shown as they came, wherever they are cut', () => {
  fc.assert(
    fc.property(json, cuts, (text, places) => {
      expect(shown(piecesOf(text, places), true)).toBe(text);
    }),
    { numRuns: 3_000 },
  );
});

it('arguments are shown once where each piece has all of them so far', () => {
  fc.assert(
    fc.property(json, cuts, fc.boolean(), (text, places, isDoubled) => {
      const [first = '', ...rest] = soFar(piecesOf(text, places));
      const later = isDoubled ? rest.flatMap((piece) => [piece, piece]) : rest;
      expect(shown([first, ...later])).toBe(text);
    }),
    { numRuns: 3_000 },
  );
});

it('arguments are shown once where they come again behind their pieces, whole or in pieces', () => {
  fc.assert(
    fc.property(json, cuts, cuts, (text, places, again) => {
      expect(shown([...piecesOf(text, places), ...piecesOf(text, again)])).toBe(text);
    }),
    { numRuns: 3_000 },
  );
});

it.each([
  ['with other white space', '{ "town": "Tromsø" }'],
  ['with other escapes', '{"town":"Troms\\u00f8"}'],
  ['as a JSON text', JSON.stringify('{"town": "Tromsø"}')],
  ['before a line end', '{"town":"Tromsø"}\n'],
])('arguments that are printed again %s are shown once', (_how, again) => {
  expect(shown(['{"town":', '"Tromsø"}', again])).toBe('{"town":"Tromsø"}');
});

it('an empty object that comes with the name of a call is shown if no arguments follow', () => {
  expect(shown(['{}'], true)).toBe('{}');
  expect(shown(['{}', '{}', '\n'], true)).toBe('{}');
  expect(shown(['{}', '{"x":', '1}'], true)).toBe('{"x":1}');
  expect(shown(['{}', '{', '"x":1}'], true)).toBe('{"x":1}');
});

it.each(['null', 'None', '[]', '""', ' null\n'])('%j is no argument', (none) => {
  expect(shown([none], true)).toBe('');
  expect(shown([none, '{"x":1}'])).toBe('{"x":1}');
  expect(shown(['{"x":', none, '}'])).toBe(`{"x":${none}}`);
});

it.each([
  ['an object inside that begins like the whole', ['{"and":[', '{"and":[', '1]}]}']],
  ['an object inside that is longer than what came before it', ['{"a":', '{"a":{"b":1}}', '}']],
  ['an object inside at the end', ['{"a":[', '{"a":[]}]}']],
  ['objects inside objects', ['{"a":', '{"a":{', '"a":1}}}']],
  ['words that are no JSON', ['say', 'say', ' it']],
  ['other arguments behind the whole ones', ['{"x":1}', '{"x":2}']],
  ['some of the arguments again, and then others', ['{"x":1}', '{"x":', '2}']],
  ['numbers that a float cannot tell apart', ['{"n":12345678901234567890}', '{"n": 12345678901234567891}']],
])('what only looks like a repetition is shown: %s', (_what, pieces) => {
  expect(shown(pieces)).toBe(pieces.join(''));
});

it('a long text in small pieces takes no longer for being compared', () => {
  const pieces = Array.from({ length: 200_000 }, (_, at) => `"${at}",`);
  const text = `{"list":[${pieces.join('')}0]}`;
  expect(shown(['{"list":[', ...pieces, '0]}', text])).toBe(text);
});

it('texts beyond what an answer may keep are shown as they come', () => {
  const compared = { charsLeft: 10 };
  const call = new CallArguments(compared);
  const pieces = ['{"x":"', 'aaaaaaaaaa', '"}', '{"x":"aaaaaaaaaa"}'];
  expect(pieces.map((piece) => call.add(piece, false)).join('') + call.end()).toBe(pieces.join(''));
});
