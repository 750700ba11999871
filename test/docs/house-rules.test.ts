import { posix } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { PROVIDER_KIND_NAMES } from '../../api/providers/provider-kinds.ts';
import { functionsOf } from './function-lines.ts';
import { readAll, type SourceFile, workingFiles } from './repository-files.ts';

const FUNCTION_LINES_MAX = 70;
const FILE_LINES_MAX = 400;
/** Files that a folder may have without a README. */
const FILES_WITHOUT_README_MAX = 5;
/** A page. The bars of a table, and other signs alone, are no words. */
const README_WORDS_MAX = 700;

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

describe('every folder explains itself', () => {
  const paths = workingFiles().filter((path) => /^(api|workers)\//.test(path));

  it(`every folder with more than ${FILES_WITHOUT_README_MAX} files has a README`, () => {
    expect(foldersWithoutReadme(paths)).toEqual([]);
  });

  it(`no README has more than ${README_WORDS_MAX} words`, () => {
    const readmes = readAll(paths.filter((path) => posix.basename(path) === 'README.md'));
    expect(readmes.length).toBeGreaterThan(50);
    expect(readmes.filter(({ text }) => wordsIn(text) > README_WORDS_MAX).map(({ path }) => path)).toEqual(
      [],
    );
  });

  it('counts the files of a folder, but neither its README nor the files of folders below it', () => {
    const files = (folder: string, count: number) =>
      Array.from({ length: count }, (_, at) => `${folder}/${at}.ts`);
    expect(
      foldersWithoutReadme([...files('api/a', 6), ...files('api/b', 5), ...files('api/b/c', 5)]),
    ).toEqual(['api/a']);
    expect(foldersWithoutReadme([...files('api/a', 6), 'api/a/README.md'])).toEqual([]);
    expect(wordsIn('# Two words\n\n| in | a |\n| --- | --- |\n')).toBe(4);
  });
});

/** Kinds of providers by their names, and imports from their folders. */
const KIND_NAMED = new RegExp(
  `openrouter|anthropic|'(?:${PROVIDER_KIND_NAMES.join('|')})'|\\bproviders/[a-z-]+/[\\w/-]+\\.ts'`,
  'i',
);

/** Files that may name a kind, and why. */
const kindsNamedIn: Readonly<Record<string, string>> = {
  'api/admin/examples.ts': 'Examples of the admin API name providers, as people do.',
  'api/config/provider-file.ts':
    'Descriptions name the kinds for people, and the schema lists the names of dialects.',
  'api/contract/chat-request.ts': "The example of a router's tool has its name.",
};

test('no code but configuration and its examples names a kind of provider', () => {
  const free = /^api\/(providers|simulator|console)\//;
  const named = product
    .filter(({ path }) => !free.test(path))
    .filter(({ text }) => KIND_NAMED.test(text))
    .map(({ path }) => path);
  expect(named.sort()).toEqual(Object.keys(kindsNamedIn));
});

test.each([
  "import { dialects } from '../providers/openai/dialects.ts';",
  "import { bill } from '../../providers/openrouter/bill.ts';",
  "if (kind.name === 'simulator') return;",
  "kind: 'openai',",
  'Anthropic answers otherwise.',
])('the rule sees a kind in: %s', (text) => {
  expect(text).toMatch(KIND_NAMED);
});

test('the rule sees none in an import of what all kinds share', () => {
  expect("import { providerKinds } from '../providers/provider-kinds.ts';").not.toMatch(KIND_NAMED);
});

/*
 * Comments in the project's old dialect: those that begin with a word that stands in for their subject, and words that
 * nobody else uses. A change that removes some lowers the number here.
 */
describe('comments become plain English', () => {
  const OLD_BEGINNINGS = 1_123;
  const OLD_WORDS = 87;

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

function foldersWithoutReadme(paths: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const path of paths) {
    const folder = posix.dirname(path);
    if (posix.basename(path) !== 'README.md') counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return [...counts]
    .filter(([folder, count]) => count > FILES_WITHOUT_README_MAX && !paths.includes(`${folder}/README.md`))
    .map(([folder]) => folder);
}

const wordsIn = (text: string): number =>
  text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

const countOf = (files: readonly SourceFile[], pattern: RegExp): number =>
  files.reduce((sum, { text }) => sum + [...text.matchAll(pattern)].length, 0);

const commentsOf = (text: string): string =>
  text
    .split('\n')
    .filter((line) => /^\s*(\/\/|\/\*|\*)/.test(line))
    .join('\n');
