import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const folder = mkdtempSync(join(tmpdir(), 'faregate-start-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'a-file'), '');

const folders = [join(folder, 'a-file'), join(folder, 'a-file/deeper')];
// The kernel answers that the parent is missing, though it is there.
if (process.platform === 'linux') folders.push('/proc/nope');

test.each(folders)('a start whose data cannot be kept ends with a sentence: %s', (dataDir) => {
  const { status, stderr } = spawnSync(process.execPath, ['api/main.ts'], {
    env: { ...process.env, FAREGATE_CONFIG: '', FAREGATE_DATA: dataDir, PORT: '0', INTERNAL_PORT: '0' },
    encoding: 'utf8',
    timeout: 20_000,
  });
  expect(status).toBe(1);
  expect(stderr).toContain(dataDir);
  expect(stderr).toContain('Look at the data folder (FAREGATE_DATA)');
  expect(stderr.trim().split('\n')).toHaveLength(1);
});
