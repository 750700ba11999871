import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('npm says nothing of a newer npm in the middle of a first start', () => {
  const rule = 'asked: ; @npm config get update-notifier';
  expect(execFileSync('make', ['-s', '--eval', rule, 'asked'], { encoding: 'utf8' })).toBe('false\n');
});

test('an install that fails says behind the words of npm what to look at, and nothing is started', () => {
  const folder = mkdtempSync(join(tmpdir(), 'faregate-install-'));
  for (const file of ['Makefile', 'package.json', 'package-lock.json'])
    copyFileSync(file, join(folder, file));
  writeFileSync(join(folder, 'npm'), '#!/bin/sh\necho "npm error code EACCES" >&2\nexit 243\n', {
    mode: 0o700,
  });
  const env = { PATH: `${folder}:${process.env.PATH}` };
  const { status, stdout, stderr } = spawnSync('make', ['run'], { cwd: folder, env, encoding: 'utf8' });
  const isInstalled = existsSync(join(folder, 'node_modules'));
  rmSync(folder, { recursive: true });
  expect({ status, stdout, isInstalled }).toEqual({ status: 2, stdout: '', isInstalled: false });
  expect(stderr.split('\n').slice(1, 3)).toEqual([
    'npm error code EACCES',
    expect.stringMatching(/^The install failed: npm says above why\. .* start again\.$/),
  ]);
});
