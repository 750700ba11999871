import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { allowedRegexes } from './allowed-regexes.ts';
import { checkRegexes } from './check-regexes.ts';
import { findRegexes } from './find-regexes.ts';
import { judge, judgeAll } from './judge-regexes.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'regexes-'));
  mkdirSync(join(root, 'api'));
});
afterEach(() => rmSync(root, { recursive: true }));

const check = (source: string, allowed: Parameters<typeof checkRegexes>[1] = []) => {
  writeFileSync(join(root, 'api/planted.ts'), source);
  return checkRegexes(root, allowed, join(root, 'cache.json'));
};

describe('the check of patterns', () => {
  it.each([
    ['quadratic', String.raw`host.replace(/\.+$/, '');`, '2nd degree polynomial time'],
    ['exponential', '/^(a+)+$/.test(text);', 'exponential time'],
    ['cubic', 'z.string().regex(/^a*a*a*b$/);', 'polynomial time'],
    ['quadratic in a text', String.raw`new RegExp('\\s+$', 'g');`, '2nd degree polynomial time'],
    [
      'quadratic by constants',
      "const BLANKS = '[ \\\\t]+';\nnew RegExp(`${BLANKS}$`);",
      '2nd degree polynomial time',
    ],
    ['quadratic in a search', String.raw`text.search('\\.+$');`, '2nd degree polynomial time'],
  ])('finds one that is %s', async (_what, source, words) => {
    const problems = await check(source);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(/^api\/planted\.ts:\d+: /);
    expect(problems[0]).toContain(words);
  });

  it.each([
    'const make = (name: string) => new RegExp(`<${name}>`);',
    'import { PATTERN } from "./other.ts"; RegExp(PATTERN);',
    'let source = "a"; source += "+"; new RegExp(source);',
    'new globalThis.RegExp(["a", "+$"].join(""));',
  ])('reports what it cannot read: %s', async (source) => {
    expect(await check(source)).toEqual([expect.stringContaining('cannot be read here')]);
  });

  it('passes those that take linear time', async () => {
    expect(await check(String.raw`/^[\w.-]+$/.test(text); text.match(/a|b/g); table.match('a b');`)).toEqual(
      [],
    );
  });

  it('passes what is allowed, and reports what is allowed and there no more', async () => {
    const allowed = [{ file: 'api/planted.ts', pattern: String.raw`\.+$`, because: 'a test' }];
    expect(await check(String.raw`/\.+$/.test(text);`, allowed)).toEqual([]);
    expect(await check('', allowed)).toEqual([expect.stringContaining('remove it from what is allowed')]);
  });

  it('remembers what it has judged', async () => {
    const cacheFile = join(root, 'cache.json');
    await judgeAll([{ source: '^a$', flags: '' }], cacheFile);
    const known = readFileSync(cacheFile, 'utf8');
    writeFileSync(cacheFile, known.replace('true', 'false'));
    expect(await judgeAll([{ source: '^a$', flags: '' }], cacheFile)).toEqual([{ linear: false }]);
    expect(await judgeAll([{ source: '^b$', flags: '' }], cacheFile)).toEqual([{ linear: true }]);
  });

  it('knows the case that was once in the way of everybody', () => {
    expect(judge({ source: String.raw`\.+$`, flags: '' }).linear).toBe(false);
  });
});

describe('a pattern in a source file', () => {
  it('is found in every form', () => {
    const source =
      "/a/g; x.replace(/b\\/c/, ''); new RegExp('d', 'i'); RegExp(`e`); new RegExp(/f/); s.matchAll('g');";
    const { found, unread } = findRegexes('f.ts', source);
    expect(found.map(({ source: pattern, flags }) => `${pattern}|${flags}`).sort()).toEqual(
      ['a|g', 'b\\/c|', 'd|i', 'e|', 'f|', 'g|'].sort(),
    );
    expect(unread).toEqual([]);
  });
});

describe('a pattern in disguise', () => {
  it.each([
    "const text = 'a+$'; s.match(text);",
    "const text = 'a+$'; s['match'](text);",
    "const text = 'a+$'; s?.search(text);",
  ])('is found where a search makes it of a constant: %s', (source) => {
    expect(findRegexes('f.ts', source).found).toEqual([expect.objectContaining({ source: 'a+$' })]);
  });

  it.each([
    "const Pattern = RegExp; Pattern('a+$');",
    "Reflect.construct(RegExp, ['a+$']);",
    'const { RegExp: Pattern } = globalThis;',
    "RegExp.call(null, 'a+$');",
    "new URLPattern({ pathname: '/:a*' });",
  ])('is reported where its maker has another name: %s', (source) => {
    expect(findRegexes('f.ts', source).unread).toHaveLength(1);
  });

  it('is no type, no question and no method of the class', () => {
    const source = 'const f = (a: RegExp) => a instanceof RegExp && RegExp.escape(a.source);';
    expect(findRegexes('f.ts', source)).toEqual({ found: [], unread: [] });
  });
});

describe('what is allowed', () => {
  it.each(allowedRegexes)('has a reason: $file $pattern', ({ because }) => {
    expect(because.split(' ').length).toBeGreaterThan(5);
  });
});
