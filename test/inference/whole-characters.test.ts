import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAtOnce } from '#core/steps.ts';
import { wholeCharacters } from '../../api/inference/json/whole-characters.ts';
import { dialects } from '../../api/providers/openai/dialects.ts';
import { at, sent } from './at-dialect.ts';

/* Halves of characters beyond any number that a conversation has become the sign for a character that cannot be read. */

const whole = (text: string): string => runAtOnce(wholeCharacters(Buffer.from(text), 0)).toString();

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

  it('says the same wherever a piece of a megabyte ends', () => {
    const unit = '\\ud83d\\ude00\\ud83d\\\\';
    for (let shift = 0; shift < unit.length; shift++) {
      const text = `"${'a'.repeat(shift)}${unit.repeat(120_000)}"`;
      // A difference would be shown by a megabyte of text.
      expect(
        whole(text) ===
          JSON.stringify(JSON.parse(text).toWellFormed())
            .replaceAll('\ufffd', '\\ufffd')
            .replaceAll('\u{1f600}', unit.slice(0, 12)),
      ).toBe(true);
    }
  });
});

describe('a request that is changed for its provider', () => {
  // `JSON.stringify` writes the half as an escape, as clients do.
  const saying = (content: string) => [{ role: 'user', content }];
  const many = '\ud83d'.repeat(20_000);
  const translated = (content: string): unknown =>
    sent('chat', { messages: saying(content) }, at(dialects.other, ['messages'])).messages;

  it('has the sign for each half where there are more than any conversation has', () => {
    expect(translated(many)).toMatchObject([{ content: [{ text: '\ufffd'.repeat(20_000) }] }]);
    const messages = [{ role: 'developer', content: 'b' }, ...saying(many)];
    const edited = sent('chat', { messages }, at(dialects.vllm)).messages;
    expect(edited).toMatchObject([{ role: 'system' }, { content: '\ufffd'.repeat(20_000) }]);
  });

  it('has fewer halves as they were sent, and all of them where nothing is changed', () => {
    expect(translated('a\ud83d')).toMatchObject([{ content: [{ text: 'a\ud83d' }] }]);
    expect(sent('chat', { messages: saying(many) }, at(dialects.other)).messages).toEqual(saying(many));
  });
});
