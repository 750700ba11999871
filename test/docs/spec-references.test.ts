import { expect, test } from 'vitest';
import { readAll, readText, workingFiles } from './repository-files.ts';

/** A title of the specification, as a comment writes it: without what stands in brackets behind it. */
const plain = (title: string): string =>
  title
    .replaceAll(/\s*\(.*\)/g, '')
    .replaceAll('`', '')
    .toLowerCase();

const titles = [...readText('docs/spec.md').matchAll(/^#+ (.+)$/gm)].map(([, title = '']) => plain(title));

/** `Spec: Limits, MCP body.` and `Spec: Authentication 5.` begin with the title of a section. */
const REFERENCE = /(?:\/\*\*|\/\/|^ \*|\. )\s*Spec[:,] ([^\n]*)/gm;

const references = readAll(
  workingFiles().filter((path) => /^(api|workers)\/.*\.(ts|lua)$/.test(path)),
).flatMap(({ path, text }) =>
  [...text.matchAll(REFERENCE)].map(([, words = '']) => ({ path, words: words.replaceAll('`', '') })),
);

test('every comment that refers to the specification names a section of docs/spec.md', () => {
  expect(references.length).toBeGreaterThan(30);
  const lost = references.filter(
    ({ words }) => !titles.some((title) => words.toLowerCase().startsWith(title)),
  );
  expect(lost).toEqual([]);
});

test('no comment refers to a document that is not in the repository', () => {
  const sources = readAll(
    workingFiles().filter((path) => /^(api|workers|charts|test)\/.*\.(ts|lua|mts)$/.test(path)),
  );
  const dangling = sources.filter(
    ({ path, text }) =>
      path !== 'test/docs/spec-references.test.ts' && /\b[Dd]esign (section|§)|reference measured/.test(text),
  );
  expect(dangling.map(({ path }) => path)).toEqual([]);
});
