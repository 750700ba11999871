import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { MEGABYTE } from '#core/limits.ts';

test('a thread of a file stays small in memory where the process’ own thread may grow', async () => {
  const program = fileURLToPath(new URL('thread-program.ts', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--max-semi-space-size=32', program]);
  const { own, started } = JSON.parse(stdout);
  expect(started).toBeLessThanOrEqual(3 * MEGABYTE);
  expect(own).toBeGreaterThan(3 * MEGABYTE);
});
