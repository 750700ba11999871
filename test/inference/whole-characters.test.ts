import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wholeCharacters } from '../../api/inference/json/whole-characters.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { at, sent } from './at-dialect.ts';

/* A half of a character, as a client writes it that cuts a text inside an emoji, becomes the sign for a character that cannot be read. */

const whole = (text: string): string => wholeCharacters(Buffer.from(text)).toString();

describe('a JSON text with halves of characters', () => {
  it.each([
    ['a first half alone', '"a\\ud83d"', '"a\\ufffd"'],
    ['a second half alone', '"\\ude00b"', '"\\ufffdb"'],
    ['halves in the wrong order', '"\\ude00\\ud83d"', '"\\ufffd\\ufffd"'],
    ['two first halves', '"\\ud83d\\ud83d\\ude00"', '"\\ufffd\\ud83d\\ude00"'],
    ['letters in capitals', '"\\uD83D\\uDE00\\uD83D"', '"\\uD83D\\uDE00\\ufffd"'],
    ['a first half before another escape', '"\\ud83d\\n"', '"\\ufffd\\n"'],
    ['a half in a key', '{"\\udead":1}', '{"\\ufffd":1}'],
  ])('has whole characters alone: %s', (_what, text, expected) => {
    expect(whole(text)).toBe(expected);
  });

  it.each([
    ['a pair', '"\\ud83d\\ude00"'],
    ['a backslash before the letters', '"\\\\ud83d"'],
    ['another letter', '"\\ud7ff\\ue000"'],
    ['none', '"\\u00e9"'],
  ])('is left as it is: %s', (_what, text) => {
    expect(whole(text)).toBe(text);
  });

  it('says the same as its text in whole characters', () => {
    const unit = fc.constantFrom(
      '\ud83d',
      '\ude00',
      '\udbff',
      '\udc00',
      '\\',
      '"',
      'u',
      'd8',
      '\n',
      'é',
      'a',
    );
    fc.assert(
      fc.property(fc.array(unit), (units) => {
        const text = units.join('');
        expect(JSON.parse(whole(JSON.stringify(text)))).toBe(text.toWellFormed());
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('a request that is written anew for its provider', () => {
  // `JSON.stringify` writes the half as an escape, as clients do.
  const messages = [{ role: 'user', content: 'a\ud83d' }];

  it('has the sign for a half of a character, so that the provider takes it', () => {
    const translated = sent('chat', { messages }, at(dialects.other, ['messages']));
    expect(translated.messages).toEqual([{ role: 'user', content: [{ type: 'text', text: 'a\ufffd' }] }]);
  });

  it('has it where a message is written anew', () => {
    const withDeveloper = { messages: [{ role: 'developer', content: 'b' }, ...messages] };
    const edited = sent('chat', withDeveloper, at(dialects.vllm));
    expect(edited.messages).toMatchObject([
      { role: 'system', content: 'b' },
      { role: 'user', content: 'a\ufffd' },
    ]);
  });

  it('has the half as it was sent where nothing is written anew', () => {
    expect(sent('chat', { messages }, at(dialects.other)).messages).toMatchObject([{ content: 'a\ud83d' }]);
  });
});
