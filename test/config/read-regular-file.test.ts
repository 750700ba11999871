import { execFileSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CONFIG_BYTES_MAX } from '#core/limits.ts';
import { loadConfig } from '../../api/config/config.ts';
import { testDataDir } from '../support/data-dir.ts';

const load = (file: string) => loadConfig({ FAREGATE_CONFIG: file });

test('a configuration that is a pipe, a device or a folder is refused at once, and not waited for', async () => {
  await using folder = await testDataDir();
  const pipe = join(folder.path, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const file of [pipe, '/dev/zero']) {
    await expect(load(file)).rejects.toThrow(
      `${file} cannot be read (it is no regular file); FAREGATE_CONFIG names it`,
    );
  }
  await expect(load(folder.path)).rejects.toThrow('cannot be read (EISDIR: it is a folder)');
});

test('of a configuration that is too large no more is read than shows that', async () => {
  await using folder = await testDataDir();
  const file = join(folder.path, 'faregate.yaml');
  await writeFile(file, '#'.repeat(CONFIG_BYTES_MAX + 1));
  await expect(load(file)).rejects.toThrow(`is larger than ${CONFIG_BYTES_MAX} bytes`);
  await writeFile(file, '#'.repeat(CONFIG_BYTES_MAX));
  expect((await load(file)).file).toBe(file);
});
