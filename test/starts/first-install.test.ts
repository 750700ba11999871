import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

test('npm says nothing of a newer npm in the middle of a first start', () => {
  const rule = 'asked: ; @npm config get update-notifier';
  expect(execFileSync('make', ['-s', '--eval', rule, 'asked'], { encoding: 'utf8' })).toBe('false\n');
});
