import { describe, expect, it, test } from 'vitest';
import { functionsOf } from './function-lines.ts';
import { readAll, type SourceFile, workingFiles } from './repository-files.ts';

const FUNCTION_LINES_MAX = 70;
const FILE_LINES_MAX = 400;

const product = readAll(workingFiles().filter((path) => /^(api|workers)\/.*\.(ts|js|lua)$/.test(path)));
const written = readAll(
  workingFiles().filter((path) =>
    /^(api|workers|test|charts|openapi|image)\/.*\.(ts|mts|js|lua)$/.test(path),
  ),
);

/** Longer than they should be. The lists may only shrink: nothing is added, and what is mended is taken out. */
const longFunctions: readonly string[] = [];

const longFiles: readonly string[] = [];

describe('the code stays readable', () => {
  it(`no function has more than ${FUNCTION_LINES_MAX} lines, but for a list that only shrinks`, () => {
    const long = product
      .filter(({ path }) => path.endsWith('.ts'))
      .flatMap(functionsOf)
      .filter(({ lines }) => lines > FUNCTION_LINES_MAX)
      .map(({ path, name }) => `${path}: ${name}`);
    expect(long.sort()).toEqual([...longFunctions].sort());
  });

  it(`no file has more than ${FILE_LINES_MAX} lines, but for a list that only shrinks`, () => {
    const long = product.filter(({ text }) => text.trimEnd().split('\n').length > FILE_LINES_MAX);
    expect(long.map(({ path }) => path).sort()).toEqual([...longFiles].sort());
  });

  it('counts the lines of a function without its docstring', () => {
    const text = `/** ${'\n * a'.repeat(80)} */\nexport function a() {\n  return 1;\n}\nconst b = () => {\n};\n`;
    expect(functionsOf({ path: 'a.ts', text })).toEqual([
      { path: 'a.ts', name: 'a', lines: 3 },
      { path: 'a.ts', name: 'b', lines: 2 },
    ]);
  });
});

test('no code but configuration and its examples names a kind of provider', () => {
  const free = /^api\/(providers|simulator|console)\//;
  const named = product
    .filter(({ path }) => !free.test(path))
    .filter(({ text }) => /openrouter|anthropic|'openai'/i.test(text))
    .map(({ path }) => path);
  expect(named.sort()).toEqual([
    'api/admin/examples.ts',
    'api/config/provider-file.ts',
    'api/contract/chat-request.ts',
  ]);
});

/*
 * Comments in the project's old dialect: those that begin with a word that stands in for their subject, and words that
 * nobody else uses. A change that removes some lowers the number here.
 */
describe('comments become plain English', () => {
  const OLD_BEGINNINGS = 1_162;
  const OLD_WORDS = 91;

  it('no comment more begins with "Of", "What", "Who", "Whoever" or "Nobody"', () => {
    expect(countOf(written, /^\s*(?:\/\*\*|\/\/|\*)\s*(?:Of|What|Who|Whoever|Nobody)\b/gm)).toBe(
      OLD_BEGINNINGS,
    );
  });

  it('no comment more says "anew" or "has to be"', () => {
    const comments = written.map(({ path, text }) => ({ path, text: commentsOf(text) }));
    expect(countOf(comments, /\b(?:anew|has to be)\b/g)).toBe(OLD_WORDS);
  });
});

const countOf = (files: readonly SourceFile[], pattern: RegExp): number =>
  files.reduce((sum, { text }) => sum + [...text.matchAll(pattern)].length, 0);

const commentsOf = (text: string): string =>
  text
    .split('\n')
    .filter((line) => /^\s*(\/\/|\/\*|\*)/.test(line))
    .join('\n');
