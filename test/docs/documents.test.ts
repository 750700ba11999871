import { basename } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findLies, makeTargetsOf, pathsOf, placesOf, type Repository } from './document-claims.ts';
import { readAll, readText, workingFiles } from './repository-files.ts';

const files = workingFiles();
const documents = readAll(files.filter((path) => path.endsWith('.md')));
const repository: Repository = {
  paths: pathsOf(files),
  makeTargets: makeTargetsOf(readText('Makefile')),
  npmScripts: new Set(Object.keys(JSON.parse(readText('package.json')).scripts ?? {})),
  places: new Map(documents.map(({ path, text }) => [path, placesOf(text)])),
};

/** It is kept word for word, and its words in backticks are values of the API such as `image/png`, not paths. */
const SPECIFICATION = 'docs/spec.md';

const ownDocuments = documents.filter(({ path }) => path !== SPECIFICATION);

test.each(ownDocuments.map((document) => [document.path, document] as const))(
  '%s names only what exists',
  (_, document) => {
    expect(findLies(document, repository)).toEqual([]);
  },
);

test('the README of core lists every file that is in none of its folders', () => {
  const loose = files.filter((path) => /^api\/core\/[^/]+\.(ts|cjs)$/.test(path));
  const readme = readText('api/core/README.md');
  expect(loose.filter((path) => !readme.includes(`\`${basename(path)}\``))).toEqual([]);
});

test('every image of `docs` is shown or linked in the README', () => {
  const images = files.filter((path) => /^docs\/[^/]+\.(png|svg)$/.test(path));
  expect(images).not.toEqual([]);
  const readme = readText('README.md');
  expect(images.filter((path) => !readme.includes(`](${path})`))).toEqual([]);
});

test('every cell of the comparison has its source, or says that there is none', () => {
  const text = readText('docs/comparison.md');
  const [, , ...rows] = text.split('\n').filter((line) => line.startsWith('|'));
  const cells = rows.flatMap((row) => row.split('|').slice(2, -1));
  expect(cells.length).toBeGreaterThan(40);
  const unsaid = cells.filter((cell) => !/\[\d+\]|^ (not established|not measured: .+|-) $/.test(cell));
  expect(unsaid).toEqual([]);
  const noted = [...text.matchAll(/^(\d+)\. /gm)].map(([, number]) => number);
  const used = new Set(cells.flatMap((cell) => [...cell.matchAll(/\[(\d+)\]/g)].map(([, number]) => number)));
  expect(noted).toEqual(noted.map((_, i) => String(i + 1)));
  expect(noted.filter((number) => !used.has(number))).toEqual([]);
  expect([...used].filter((number) => !noted.includes(number))).toEqual([]);
});

test("the README's comparison says nothing that the sourced one does not say", () => {
  const sourced = new Map(tableOf('docs/comparison.md').map(([row = '', ...cells]) => [row, cells]));
  const [head = [], ...rows] = tableOf('README.md');
  expect(head).toEqual(tableOf('docs/comparison.md')[0]);
  expect(rows.length).toBeGreaterThan(5);
  const unsourced = rows.flatMap(([row = '', ...cells]) =>
    cells.filter((cell, i) => {
      const known = wordsOf(sourced.get(row)?.[i] ?? '');
      return !wordsOf(cell).every((word) => known.includes(word));
    }),
  );
  expect(unsourced).toEqual([]);
});

/** The rows of the comparison, its head first. */
const tableOf = (path: string): string[][] => {
  const [, table = ''] = /^(\| \| Faregate [\s\S]*?)\n\n/m.exec(readText(path)) ?? [];
  return table
    .split('\n')
    .filter((line) => !line.startsWith('| ---'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
};

const wordsOf = (cell: string): string[] => cell.match(/[\w-]+/g) ?? [];

test('`make check` compares the interface with the last release', () => {
  const makefile = readText('Makefile');
  const [, check = ''] = /^check:.*\n((?:\t.*\n)+)/m.exec(makefile) ?? [];
  const [, texts = ''] = /^check-texts:.*\n((?:\t.*\n)+)/m.exec(makefile) ?? [];
  expect(check).toContain('check-texts');
  expect(texts).toContain('\tnode test/releases/check-documents.ts\n');
});

test('every target of the Makefile says in `make help` what it does', () => {
  const makefile = readText('Makefile');
  const helped = [...makefile.matchAll(/^([a-z-]+):.*## /gm)].map(([, target]) => target);
  expect(helped.toSorted()).toEqual([...repository.makeTargets].toSorted());
});

describe('the check finds', () => {
  const known: Repository = {
    paths: pathsOf(['README.md', 'api/main.ts', 'api/core/clock.ts', 'test/docs/a.test.ts']),
    makeTargets: new Set(['run', 'test', 'cli']),
    npmScripts: new Set(),
    places: new Map([['README.md', placesOf('# One\n## `Two`, and three\n```sh\n# no heading\n```\n')]]),
  };
  const lies = (text: string, path = 'README.md') => findLies({ path, text }, known);

  test.each([
    ['a target that is not made', 'Type `make tests`.'],
    ['one among several', '```sh\nmake run\nmake tset # later\n```'],
    ['one behind another command', '```sh\ncd x && make go\n```'],
    ['one with an environment', '`PORT=1 make go`'],
    ['a script that is not there', '`node api/server.ts`'],
    ['an npm script', '```sh\nnpm run build\n```'],
    ['a path', 'See `api/server.ts`.'],
    ['a folder', 'See `api/server/`.'],
    ['a file by its name alone', 'See `clocks.ts`.'],
    ['a path of core', 'See `#core/clocks.ts`.'],
    ['a pattern that nothing fits', 'See `test/*/b.test.ts`.'],
    ['a link', 'See [this](docs/this.md).'],
    ['a link into a document', 'See [this](README.md#four).'],
    ['a link within the document', 'See [this](#no-heading).'],
    ['a path of the documents', 'See `docs/this.md`.'],
    ['a command of the operator', '`faregate agents remove 5`'],
    ['a group of commands', '`faregate users`'],
    ['an option', '`make cli ARGS="agents list --all"`'],
    ['an argument too few', '```sh\nmake cli ARGS="credit grant 5"\n```'],
    ['an argument too many', '```sh\nmake cli ARGS="agents list 5"\n```'],
    ['an indented command', 'Run\n\n    make openapy\n'],
  ])('%s', (_, text) => {
    expect(lies(text)).toHaveLength(1);
  });

  test.each([
    ['a target', 'Type `make test`, and make sure that you do.'],
    ['variables', '```sh\nPORT=8081 make run   # make it elsewhere\n```'],
    [
      'paths',
      '`api/main.ts`, `api/core/`, `#core/clock.ts`, `clock.ts`, `test/*/*.test.ts`, [a](api/main.ts#L1)',
    ],
    ['addresses', '`/v1/balance`, `https://example.com/api/x.ts`, [b](https://example.com)'],
    [
      'commands',
      '`faregate agents create NAME`, `faregate calls find <id>`, `make cli ARGS="agents create \'My one\'"`',
    ],
    ['lists of commands', '`faregate keys create|list|revoke`, `faregate agents`, `faregate --help`'],
    ['code of another language', "```ts\nimport a from 'api/nothing.ts';\n// make nothing\n```"],
  ])('nothing wrong with %s', (_, text) => {
    expect(lies(text)).toEqual([]);
  });

  test('a file by its name alone that is outside the folder of the README', () => {
    expect(lies('`clock.ts`', 'api/core/README.md')).toEqual([]);
    expect(lies('`clock.ts`', 'api/README.md')).toEqual([]);
    expect(lies('`main.ts`', 'api/core/README.md')).toHaveLength(1);
  });

  test('links from where the document stands', () => {
    expect(lies('[up](../../README.md#two-and-three) [here](clock.ts)', 'api/core/README.md')).toEqual([]);
    expect(lies('[up](../README.md)', 'api/core/README.md')).toHaveLength(1);
  });
});
