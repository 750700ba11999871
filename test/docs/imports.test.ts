import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkFile, codeRules, findCycle, importsOf, layers, partOf, resolveImport } from './import-rules.ts';
import { readAll, root, type SourceFile, withoutComments, workingFiles } from './repository-files.ts';

const files = readAll(workingFiles().filter((path) => /^(api|workers)\/.*\.ts$/.test(path)));

test('imports point one way, and what is special stays where it belongs', () => {
  expect(files.length).toBeGreaterThan(100);
  expect(files.flatMap(checkFile)).toEqual([]);
});

test('no folder needs one that needs it', () => {
  expect(findCycle(files)).toBeNull();
});

test('every import of our own code names a file that exists', () => {
  const missing = files.flatMap(({ path, text }) =>
    importsOf(text).flatMap(({ from }) => {
      const target = resolveImport(path, from);
      return target === null || existsSync(join(root, target)) ? [] : [`${path}: ${from}`];
    }),
  );
  expect(missing).toEqual([]);
});

test('every folder of the product has its place among the layers, and no layer stands above itself', () => {
  const parts = new Set(files.map(({ path }) => partOf(path)));
  for (const part of parts) expect(Object.keys(layers)).toContain(part);
  const place = new Map(Object.keys(layers).map((part, index) => [part, index]));
  for (const [part, below] of Object.entries(layers)) {
    for (const other of below) expect(place.get(other) ?? -1).toBeLessThan(place.get(part) ?? 0);
  }
});

test('every exception is still needed', () => {
  for (const { what, exceptions } of codeRules) {
    for (const path of Object.keys(exceptions)) {
      const file = files.find((each) => each.path === path);
      expect([path, what.test(withoutComments(file?.text ?? ''))]).toEqual([path, true]);
    }
  }
});

describe('the rules find', () => {
  const broken: [string, string, string][] = [
    ['core above itself', 'api/core/ledger/x.ts', "import { a } from '../../contract/errors.ts';"],
    ['types that point up', 'api/contract/x.ts', "import type { A } from '../inference/gateway.ts';"],
    ['an import over several lines', 'api/http/x.ts', "import {\n  a,\n  b,\n} from '../routers/router.ts';"],
    ['an export from above', 'api/inference/x.ts', "export { a } from '../http/edge.ts';"],
    ['an import for its effect', 'api/contract/x.ts', "import '../main.ts';"],
    ['an import at run time', 'api/inference/x.ts', "const a = await import('../admin/router.ts');"],
    ['a thread above', 'api/core/x.ts', "new Worker(new URL('../main.ts', import.meta.url))"],
    ['workers in the API', 'workers/video/x.ts', "import { a } from '../../api/contract/errors.ts';"],
    [
      'the API in workers',
      'api/inference/x.ts',
      "import { a } from '../../workers/settlement/settlement.ts';",
    ],
    ['a path into core', 'api/inference/x.ts', "import { a } from '../core/clock.ts';"],
    ['a path into core of workers', 'workers/video/x.ts', "import { a } from '../../api/core/clock.ts';"],
    ['tests in the product', 'api/http/x.ts', "import { a } from '../../test/support/fake-clock.ts';"],
    ['the simulator in the product', 'api/inference/x.ts', "import { a } from '../simulator/models.ts';"],
    ['express below the edge', 'api/inference/x.ts', "import express from 'express';"],
    [
      'a driver in the domain',
      'api/core/ledger/embedded/journal.ts',
      "import { DatabaseSync } from 'node:sqlite';",
    ],
    ['a driver in the API', 'api/http/x.ts', "import { Redis } from 'ioredis';"],
    ['a driver in a worker', 'workers/projector/x.ts', "import { Client } from 'cassandra-driver';"],
    ['the environment', 'api/deps.ts', 'const a = process.env.PORT;'],
    ['the time', 'api/inference/x.ts', 'const a = Date.now();'],
    ['a date of now', 'workers/video/x.ts', 'const a = new Date();'],
    ['a timer', 'api/main.ts', 'setTimeout(() => a(), 5);'],
    ['a timer by another name', 'api/main.ts', "import { setTimeout as wait } from 'node:timers/promises';"],
  ];

  test.each(broken)('%s', (_, path, text) => {
    expect(checkFile({ path, text })).toHaveLength(1);
  });

  const sound: [string, string, string][] = [
    ['core from anywhere', 'workers/video/x.ts', "import { a } from '#core/clock.ts';"],
    ['a lower layer', 'api/http/x.ts', "import { a } from '../contract/errors.ts';"],
    [
      'a driver in its file',
      'api/core/ledger/embedded/sqlite-journal.ts',
      "import { a } from 'node:sqlite';",
    ],
    ['a driver among drivers', 'api/core/drivers/redis.ts', "import { Redis } from 'ioredis';"],
    ['types of a driver', 'api/core/calls/cassandra-x.ts', "import type { Client } from 'cassandra-driver';"],
    ['the environment in the configuration', 'api/config/config.ts', 'const a = process.env;'],
    ['a date of something', 'api/http/x.ts', 'const a = new Date(atMs);'],
    [
      'a comment about the time',
      'api/http/x.ts',
      '// Not Date.now(): it steps back.\nconst a = 1; // new Date()',
    ],
    ['a test', 'test/http/x.test.ts', "import { a } from '../../api/core/clock.ts';\nsetTimeout(a, 1);"],
  ];

  test.each(sound)('nothing wrong with %s', (_, path, text) => {
    expect(checkFile({ path, text })).toEqual([]);
  });

  const chain = (typeOnly: boolean): SourceFile[] => [
    { path: 'api/core/ledger/a.ts', text: "import { b } from '../calls/b.ts';" },
    { path: 'api/core/calls/b.ts', text: "import { c } from '../market/c.ts';" },
    {
      path: 'api/core/market/c.ts',
      text: `import ${typeOnly ? 'type ' : ''}{ a } from '#core/ledger/a.ts';`,
    },
  ];

  test('a circle of folders, but not one that only types close', () => {
    expect(findCycle(chain(false))).toEqual(['core/ledger', 'core/calls', 'core/market', 'core/ledger']);
    expect(findCycle(chain(true))).toBeNull();
  });

  test('a circle of folders within one call', () => {
    const files = [
      { path: 'api/inference/formats/a.ts', text: "import { b } from '../routing/b.ts';" },
      { path: 'api/inference/routing/b.ts', text: "import { a } from '../formats/a.ts';" },
    ];
    expect(findCycle(files)).toEqual(['inference/formats', 'inference/routing', 'inference/formats']);
  });
});
