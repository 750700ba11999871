import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makePrivateFolder } from '#core/private-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'faregate-folder-'));
afterAll(() => rmSync(root, { recursive: true }));
const modeOf = (path: string) => statSync(path).mode & 0o777;

test('what is missing is made for its owner alone, what is there stays as it is', () => {
  chmodSync(root, 0o755);
  makePrivateFolder(join(root, 'a/b'));
  makePrivateFolder(join(root, 'a/b/c'));
  makePrivateFolder(root);
  expect(modeOf(root)).toBe(0o755);
  for (const path of ['a', 'a/b', 'a/b/c']) expect(modeOf(join(root, path))).toBe(0o700);
});

test('a path through a file is an error of the system', () => {
  writeFileSync(join(root, 'file'), '');
  expect(() => makePrivateFolder(join(root, 'file/a'))).toThrow(/ENOTDIR/);
});

test.runIf(process.platform === 'linux')('so is one where nothing can be made', () => {
  expect(() => makePrivateFolder('/proc/nope/deeper')).toThrow(/ENOENT.*\/proc\/nope/);
});
