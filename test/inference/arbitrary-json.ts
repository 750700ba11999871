import fc from 'fast-check';

/** JSON text as servers and people write it: odd blanks, escapes, numbers that no float can hold. */

export const blank = fc.stringMatching(/^[ \t\r\n]{0,3}$/);

const escapedLetter = (letter: string): string =>
  [...Array(letter.length).keys()]
    .map((at) => `\\u${letter.charCodeAt(at).toString(16).padStart(4, '0')}`)
    .join('');

/** One string in any of its spellings: plain, short escapes, `\u` escapes. */
export const spelled = (text: string): fc.Arbitrary<string> =>
  fc.infiniteStream(fc.integer({ min: 0, max: 5 })).map((spellings) => {
    const letters = [...text].map((letter) => {
      const spelling = spellings.next().value;
      return spelling === 0 ? escapedLetter(letter) : JSON.stringify(letter).slice(1, -1);
    });
    return `"${letters.join('')}"`;
  });

const number = fc.oneof(
  fc.constantFrom(
    '0',
    '-0',
    '1.0',
    '1e2',
    '1E+2',
    '-1.50',
    '12345678901234567890',
    '1e-9',
    '0.1000',
    '1e400',
  ),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
  fc.stringMatching(/^-?[1-9][0-9]{0,20}(\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?$/),
);

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 8 }),
  fc.constantFrom(
    '',
    '"',
    '\\',
    '\\"',
    '{',
    '}',
    ',',
    ':',
    '[DONE]',
    '"usage":{',
    'é',
    '東京',
    '🚇',
    '\u2028',
  ),
);

const scalar = fc.oneof(fc.constantFrom('null', 'true', 'false'), number, text.chain(spelled));

/**
 * Keys that need no escape: V8's JSON.parse misreads the others now and then (nodejs/node issue 63785), so it is no
 * judge of them.
 */
export const key: fc.Arbitrary<string> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('model', 'n', 'tools', 'usage', '__proto__', 'constructor', '', '0'),
  },
  { weight: 1, arbitrary: text.filter((name) => !/["\\\p{Cc}\p{Cs}]/u.test(name)) },
);

export interface TextMember {
  key: string;
  keyText: string;
  valueText: string;
  blanks: readonly [string, string, string, string];
}

/** Any JSON value as text. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string; list: string; object: string }>(
  (tie) => ({
    value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalar, tie('list'), tie('object')),
    list: fc
      .tuple(fc.array(tie('value'), { maxLength: 4 }), blank)
      .map(([items, unsupported]) => `[${unsupported}${items.join(`${unsupported},`)}${unsupported}]`),
    object: membersOf(tie('value')).map(objectText),
  }),
).value;

export const members = membersOf(jsonText);

/** Of one object, no key twice. */
function membersOf(value: fc.Arbitrary<string>): fc.Arbitrary<TextMember[]> {
  return fc.uniqueArray(
    key.chain((name) =>
      fc.record({
        key: fc.constant(name),
        keyText: fc.constant(JSON.stringify(name)),
        valueText: value,
        blanks: fc.tuple(blank, blank, blank, blank),
      }),
    ),
    { selector: (member) => member.key, maxLength: 5 },
  );
}

export function objectText(list: readonly TextMember[]): string {
  const parts = list.map(
    ({ keyText, valueText, blanks: [a, b, c, d] }) => `${a}${keyText}${b}:${c}${valueText}${d}`,
  );
  return `{${parts.join(',')}}`;
}
