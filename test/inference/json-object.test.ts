import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runAtOnce } from '#core/steps.ts';
import { countKeys, countKeysInSteps } from '../../api/inference/json/count-keys.ts';
import {
  type JsonObject,
  MemberChanges,
  memberText,
  readJsonObject,
  rebuildJsonObject,
  scanJsonObject,
} from '../../api/inference/json/json-object.ts';
import { cpuMsOf } from '../support/cpu-time.ts';
import { blank, jsonText, key, members, objectText, spelled, type TextMember } from './arbitrary-json.ts';

const scan = (text: string | Buffer): JsonObject => {
  const object = scanJsonObject(Buffer.from(text));
  if (typeof object === 'string') throw new Error(`${object}: ${text}`);
  return object;
};

const anObject = fc.tuple(members, blank, blank).map(([list, before, after]) => ({
  list,
  text: `${before}${objectText(list)}${after}`,
}));

describe('a JSON object, read where it lies', () => {
  it('finds every member that JSON.parse finds, with the bytes of its value as they were sent', () => {
    fc.assert(
      fc.property(anObject, ({ list, text }) => {
        const object = scan(text);
        expect(object.members.map((member) => member.key)).toEqual(list.map((member) => member.key));
        for (const { key: name, valueText } of list) expect(memberText(object, name)).toBe(valueText);
        expect(Object.keys(JSON.parse(text)).sort()).toEqual(object.members.map((each) => each.key).sort());
      }),
      { numRuns: 500 },
    );
  });

  it('reads a key however it is spelled, and says when a plain name was written with escapes', () => {
    const names = fc.oneof(key, fc.constantFrom('"', '\\', 'a\\', '\\u00', '^\\d+$', 'a\nb', 'é', '🚇', 'ſ'));
    const spelledNames = names.chain((name) => fc.tuple(fc.constant(name), spelled(name)));
    fc.assert(
      fc.property(spelledNames, fc.boolean(), ([name, text], nested) => {
        const object = scan(nested ? `{"a":[{${text}:1}]}` : `{${text}:1}`);
        if (!nested) expect(object.members.map((member) => member.key)).toEqual([name]);
        // A server that folds case reads the long s as a plain one.
        const folded = name.replaceAll('ſ', 's');
        const isDisguised = /^[\w.-]+$/.test(folded) && text !== JSON.stringify(name);
        expect(object.disguisedKey).toBe(isDisguised ? name : null);
      }),
      { numRuns: 500 },
    );
  });

  it('counts as many keys as the parsed value holds, so that a repeated key shows', () => {
    fc.assert(
      fc.property(anObject, ({ list, text }) => {
        expect(countKeys(JSON.parse(text))).toBe(scan(text).keyCount);
        expect(runAtOnce(countKeysInSteps(JSON.parse(text)))).toBe(scan(text).keyCount);
        const [first] = list;
        if (first === undefined) return;
        const again = `${text.trimEnd().slice(0, -1)},${first.keyText}:1}`;
        expect(scan(again).keyCount).toBeGreaterThan(countKeys(JSON.parse(again)));
      }),
      { numRuns: 300 },
    );
  });

  it('sees the exponent of a number, at any depth and in no text', () => {
    fc.assert(
      fc.property(anObject, ({ text }) => {
        const withoutTexts = text.replace(/"(?:[^"\\]|\\.)*"/gs, '""');
        expect(scan(text).hasExponent).toBe(/\d[eE]/.test(withoutTexts));
      }),
      { numRuns: 500 },
    );
    for (const number of ['1e2', '-1E2', '0.5e+3', '2E-3']) {
      expect(scan(`{"a":[{"b":${number}}]}`).hasExponent).toBe(true);
      expect(scan(`{"a":"${number}","${number}":[true,false,"x1",null,1]}`).hasExponent).toBe(false);
    }
  });

  it.each([
    ['a key escaped once', '{"model":1,"mod\\u0065l":2}'],
    ['a nested key', '{"a":[{"b":{"c":1,"c":1}}]}'],
    ['__proto__', '{"__proto__":1,"__proto__":2}'],
    ['an empty key', '{"":1,"":2}'],
    ['a key that looks like an index', '{"0":1,"0":2}'],
  ])('sees that %s stands twice', (_what, text) => {
    expect(scan(text).keyCount).toBeGreaterThan(countKeys(JSON.parse(text)));
  });

  it.each([
    '',
    ' ',
    '[]',
    '"{}"',
    'null',
    '1',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":"',
    '{"a":"\\"}',
    '{"a":[}',
  ])('says that %j is no object, or no whole one', (text) => {
    expect(scanJsonObject(Buffer.from(text))).toBe('not_an_object');
  });

  it('ends on any bytes at all, and never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const object = scanJsonObject(Buffer.from(bytes));
        if (typeof object !== 'string') rebuildJsonObject(object, new MemberChanges([['model', '1']]));
      }),
      { numRuns: 2_000 },
    );
    const syntax = fc.constantFrom('{', '}', '[', ']', ':', ',', '"', '\\', 'a', ' ', '1');
    fc.assert(
      fc.property(fc.array(syntax, { maxLength: 40 }), (parts) => {
        const object = scanJsonObject(Buffer.from(`{${parts.join('')}`));
        if (typeof object === 'string') return;
        for (const member of object.members) memberText(object, member.key);
        rebuildJsonObject(object, new MemberChanges([['a', null]]));
      }),
      { numRuns: 2_000 },
    );
  });

  it('takes a text that was cut anywhere for no object', () => {
    fc.assert(
      fc.property(anObject, fc.nat(), ({ text }, at) => {
        const whole = text.trimEnd();
        const cut = Buffer.from(whole).subarray(0, at % Buffer.byteLength(whole));
        expect(scanJsonObject(cut)).toBe('not_an_object');
      }),
      { numRuns: 500 },
    );
  });

  it('ends at a colon that has no key of its own: a long key before many would be read for each of them', () => {
    const text = `{"${'k'.repeat(1_000_000)}"${':'.repeat(99_999)}1}`;
    expect(readJsonObject(Buffer.from(text), { keysMax: 100_000, valuesMax: 100_000 })).toBe('not_json');
    expect(scanJsonObject(Buffer.from('{"a"::1}'))).toBe('not_an_object');
    expect(scanJsonObject(Buffer.from('{:1}'))).toBe('not_an_object');
  });

  it('stops at the depth and the numbers of keys and values that are allowed, at once', () => {
    const deep = `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`;
    expect(scanJsonObject(Buffer.from(deep))).toBe('too_deep');
    expect(scanJsonObject(Buffer.from('{"a":'.repeat(10_000)))).toBe('too_deep');
    const many = `{${Array.from({ length: 100_000 }, (_, i) => `"k${i}":1`).join(',')}}`;
    const bounds = { keysMax: 59, valuesMax: 1_000 };
    expect(readJsonObject(Buffer.from(many), bounds)).toBe('too_many_keys');
    expect(readJsonObject(Buffer.from(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`), bounds)).toBe(
      'too_many_keys',
    );
    for (const value of ['1', '[]', '{}', '""']) {
      const values = `{"a":[${Array.from({ length: 1_001 }, () => value).join(',')}]}`;
      expect(readJsonObject(Buffer.from(values), bounds)).toBe('too_many_values');
    }
    expect(scan(`${'{"a":'.repeat(60)}1${'}'.repeat(60)}`).keyCount).toBe(60);
  });

  it('reads an answer with log probabilities, which has more keys than any request may have', () => {
    const entries = Array.from({ length: 30_000 }, (_, i) => `{"token":"t","logprob":-${i}.5,"bytes":[1]}`);
    const object = scan(`{"choices":[{"logprobs":{"content":[${entries.join(',')}]}}],"usage":{}}`);
    expect(memberText(object, 'usage')).toBe('{}');
  });

  it.each([
    ['not_an_object', '[1]'],
    ['not_an_object', '"text"'],
    ['not_an_object', ' null '],
    ['not_json', '[1'],
    ['not_json', 'text'],
    ['not_json', ''],
    ['not_json', `{"a":[${'1,'.repeat(50_000)}`],
  ] as const)('says %s of what is no object', (failure, text) => {
    expect(readJsonObject(Buffer.from(text))).toBe(failure);
  });

  it.each([
    ['not_an_object', '['.repeat(16 << 20)],
    ['not_an_object', `${'['.repeat(8 << 20)}${']'.repeat(8 << 20)}`],
    ['not_json', `{"a":"${'['.repeat(16 << 20)}`],
    ['too_deep', `{"a":${'['.repeat(16 << 20)}`],
  ] as const)('says %s of 16 MB of brackets in well under a second', (failure, text) => {
    const bytes = Buffer.from(text);
    expect(cpuMsOf(() => expect(readJsonObject(bytes)).toBe(failure))).toBeLessThan(1_000);
  });

  it.each([
    ['one string', () => `{"a":"${'x'.repeat(4 << 20)}"}`],
    ['one string of escaped quotes', () => `{"a":"${'\\"'.repeat(2 << 20)}"}`],
    ['one string of backslashes', () => `{"a":"${'\\\\'.repeat(2 << 20)}"}`],
    ['blanks', () => `{"a":${' '.repeat(4 << 20)}1}`],
    ['short strings', () => `{"a":[${'"x",'.repeat(1 << 20)}1]}`],
    ['an open string', () => `{"a":"${'\\"'.repeat(2 << 20)}`],
  ])('reads 4 MB of %s in well under a second', (_what, make) => {
    const bytes = Buffer.from(make());
    expect(cpuMsOf(() => void scanJsonObject(bytes))).toBeLessThan(1_000);
  });
});

describe('a JSON object, rebuilt', () => {
  const changes = fc.dictionary(key, fc.option(jsonText, { nil: null }), {
    maxKeys: 4,
    noNullPrototype: true,
  });

  it('means what was asked: members replaced, dropped and added, all others as they were', () => {
    fc.assert(
      fc.property(anObject, changes, ({ list, text }, asked) => {
        const changed = new Map(Object.entries(asked));
        const rebuilt = rebuildJsonObject(scan(text), new MemberChanges([...changed])).toString();
        const expected = list.filter(({ key: name }) => changed.get(name) !== null);
        const values = new Map(expected.map((each) => [each.key, changed.get(each.key) ?? each.valueText]));
        for (const [name, value] of changed) if (value !== null) values.set(name, value);
        const again = scan(rebuilt);
        expect(new Map(again.members.map(({ key: name }) => [name, memberText(again, name)]))).toEqual(
          values,
        );
        expect(countKeys(JSON.parse(rebuilt))).toBe(again.keyCount);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps every byte of a member that nobody touched: key, spelling, blanks, digits', () => {
    const untouched = ({ keyText, valueText, blanks: [, b, c] }: TextMember) =>
      `${keyText}${b}:${c}${valueText}`;
    fc.assert(
      fc.property(anObject, ({ list, text }) => {
        const rebuilt = rebuildJsonObject(scan(text), new MemberChanges([['not there', null]])).toString();
        for (const member of list) expect(rebuilt).toContain(untouched(member));
        expect(JSON.parse(rebuilt)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
    const exact = '{"a": 12345678901234567890,"b":1.0 ,  "\\u0063" : "\\ud83d\\ude87"}';
    expect(rebuildJsonObject(scan(exact), new MemberChanges()).toString()).toBe(exact);
    expect(rebuildJsonObject(scan(exact), new MemberChanges([['b', '2']])).toString()).toBe(
      '{"a": 12345678901234567890,"b":2,"\\u0063" : "\\ud83d\\ude87"}',
    );
  });

  it.each<[string, string, [string, string | null][], string]>([
    ['an empty object', '{}', [], '{}'],
    ['an empty object with blanks', ' { } ', [['a', '1']], '{"a":1}'],
    ['the only member dropped', '{"a":1}', [['a', null]], '{}'],
    ['the first dropped', '{"a":1,"b":2}', [['a', null]], '{"b":2}'],
    ['the last dropped', '{"a":1,"b":2}', [['b', null]], '{"a":1}'],
    ['one that is not there dropped', '{"a":1}', [['b', null]], '{"a":1}'],
    ['an escaped key replaced', '{"\\u0061":1}', [['a', '2']], '{"a":2}'],
    ['__proto__ replaced', '{"__proto__":1}', [['__proto__', '2']], '{"__proto__":2}'],
    ['a repeated key replaced: one is left', '{"a":1,"b":2,"a":3}', [['a', '4']], '{"a":4,"b":2}'],
    ['a repeated key dropped', '{"a":1,"b":2,"a":3}', [['a', null]], '{"b":2}'],
    ['a repeated key that nobody touched', '{"a":1,"a":3}', [['b', '4']], '{"a":1,"a":3,"b":4}'],
    [
      'a key repeated a hundred times by a long value',
      `{${'"a":0,'.repeat(100)}"b":1}`,
      [['a', `"${'ü'.repeat(1_000)}"`]],
      `{"a":"${'ü'.repeat(1_000)}","b":1}`,
    ],
  ])('%s', (_what, text, asked, expected) => {
    expect(rebuildJsonObject(scan(text), new MemberChanges(asked)).toString()).toBe(expected);
  });

  it.each([1, 63, 64, 65, 200])('the last word counts for each of %i changes, said twice', (count) => {
    const names = Array.from({ length: count }, (_, index) => `k${index}`);
    const changes = new MemberChanges(names.map((name) => [name, '1']));
    for (const name of names) changes.set(name, '2');
    changes.add(new MemberChanges([['k0', null]]));
    changes.add(new MemberChanges([['new', '3']]));
    const rebuilt = rebuildJsonObject(scan(`{${names.map((name) => `"${name}":0`).join()}}`), changes);
    const expected = Object.fromEntries(names.slice(1).map((name) => [name, 2]));
    expect(JSON.parse(rebuilt.toString())).toEqual({ ...expected, new: 3 });
    expect(scan(rebuilt.toString()).keyCount).toBe(count);
  });
});
