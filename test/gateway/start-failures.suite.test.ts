import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { testDataDir } from '../support/data-dir.ts';
import { startTestGateway } from '../support/gateway.ts';

const folder = mkdtempSync(join(tmpdir(), 'faregate-start-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'a-file'), '');

const folders = [join(folder, 'a-file'), join(folder, 'a-file/deeper')];
// The kernel answers that the parent is missing, though it is there.
if (process.platform === 'linux') folders.push('/proc/nope');

const start = (dataDir: string) =>
  spawnSync(process.execPath, ['api/main.ts'], {
    env: { ...process.env, FAREGATE_CONFIG: '', FAREGATE_DATA: dataDir, PORT: '0', INTERNAL_PORT: '0' },
    encoding: 'utf8',
    timeout: 20_000,
  });

test.each([
  [
    'ledger.sqlite',
    'removed',
    /is missing or empty, though the pepper\.json beside it says that the folder has been in use/,
  ],
  [
    'ledger.sqlite',
    'emptied',
    /is missing or empty, though the pepper\.json beside it says that the folder has been in use/,
  ],
  ['pepper.json', 'removed', /is missing\. Restore it from a backup: no existing API key works without it/],
])(
  'a start beside a %s that was %s refuses, and makes no new one in its place',
  async (file, how, reason) => {
    await using used = await testDataDir();
    await (await startTestGateway({ dataDir: used.path })).stop();
    const path = join(used.path, file);
    if (how === 'removed') rmSync(path);
    else writeFileSync(path, '');
    const { status, stderr } = start(used.path);
    expect(status).toBe(1);
    expect(stderr).toMatch(reason);
    expect(stderr.trim().split('\n')).toHaveLength(1);
    expect(existsSync(path) && statSync(path).size > 0).toBe(false);
  },
);

test.each(folders)('a start whose data cannot be kept ends with a sentence: %s', (dataDir) => {
  const { status, stderr } = start(dataDir);
  expect(status).toBe(1);
  expect(stderr).toContain(dataDir);
  expect(stderr).toContain('Look at the data folder (FAREGATE_DATA)');
  expect(stderr.trim().split('\n')).toHaveLength(1);
});
