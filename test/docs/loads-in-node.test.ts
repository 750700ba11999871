import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { root } from './repository-files.ts';

/** All that a process of ours is made of. */
const ENTRIES = [
  'api/start/start-gateway.ts',
  'api/admin/cli/run-cli.ts',
  'api/start/workers/start-workers.ts',
];

test('every part of the product loads in Node itself, which is stricter about old packages than these tests are', async () => {
  const imports = ENTRIES.map((path) => `await import('./${path}');`).join('');
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', imports], {
    cwd: root,
  });
  expect(stderr).toBe('');
});
