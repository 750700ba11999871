import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';

test.each([
  [{ CALLS: '5' }, 'CALLS has to be a whole number from 20 to 5000.\n'],
  [
    { CALLS: 'many', SEED: '1.5' },
    'CALLS has to be a whole number from 20 to 5000.\nSEED has to be a whole number.\n',
  ],
])('a proof that is asked for %o says what it takes, and starts nothing', (asked, told) => {
  const env = { PATH: process.env.PATH, ...asked };
  const { status, stdout, stderr } = spawnSync(process.execPath, ['test/proof/main.ts'], {
    env,
    encoding: 'utf8',
  });
  expect({ status, stdout, stderr }).toEqual({ status: 2, stdout: '', stderr: told });
});
