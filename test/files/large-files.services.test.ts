import { execFile } from 'node:child_process';
import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { MEGABYTE } from '#core/limits.ts';
import { findCommand } from '../services/run-command.ts';
import { testDataDir } from '../support/data-dir.ts';
import { describeWith } from '../support/with-services.ts';
import { type S3Home, startS3Home } from './s3-home.ts';

const LARGE_MB = 300;
const run = promisify(execFile);
const Written = z.object({ bytes: z.number(), sha256: z.string(), size: z.number(), rssBytes: z.number() });

async function writeLarge(home: 'local' | 's3', place: string, megabytes = LARGE_MB): Promise<unknown> {
  const script = join(import.meta.dirname, 'write-large-file.ts');
  const { stdout } = await run(process.execPath, [script, home, place, String(megabytes)]);
  return JSON.parse(stdout);
}

describeWith(['s3'], 'a film of 300 MB', () => {
  let s3: S3Home;
  let folder: Awaited<ReturnType<typeof testDataDir>>;

  beforeAll(async () => {
    s3 = await startS3Home();
    folder = await testDataDir();
  });

  afterAll(async () => {
    await s3[Symbol.asyncDispose]();
    await folder[Symbol.asyncDispose]();
  });

  test.each(['s3', 'local'] as const)(
    'is kept in the home %s by less than 150 MB of memory',
    async (home) => {
      const place = home === 's3' ? s3.settings.endpoint : folder.path;
      const written = Written.parse(await writeLarge(home, place));
      expect(written).toMatchObject({ bytes: LARGE_MB * MEGABYTE, size: LARGE_MB * MEGABYTE });
      expect(written.rssBytes).toBeLessThan(150 * MEGABYTE);
    },
  );

  /** Only root may mount a small disk, and not in every container. */
  const mount = findCommand('mount');

  test.skipIf(mount === null || process.getuid?.() !== 0)(
    'fills no small disk: it is refused as full',
    async (t) => {
      const disk = join(folder.path, 'disk');
      await mkdir(disk);
      const mounted = await run(mount ?? '', ['-t', 'tmpfs', '-o', 'size=20m', 'tmpfs', disk]).catch(
        () => null,
      );
      if (mounted === null) return t.skip('this machine lets nobody mount a disk');
      try {
        expect(await writeLarge('local', disk)).toEqual({ failed: 'StorageFullError' });
        expect(await readdir(join(disk, 'files', 'incoming'))).toEqual([]);
        expect(await writeLarge('local', disk, 5)).toMatchObject({ bytes: 5 * MEGABYTE });
      } finally {
        await run('umount', [disk]);
      }
    },
  );
});
