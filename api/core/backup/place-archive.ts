import { mkdtempSync, renameSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syncFolder } from '../private-folder.ts';
import { BackupError } from './backup-error.ts';
import { type ArchiveContents, readArchive } from './read-archive.ts';

/**
 * Lets an archive be written in a folder beside its file, reads it back, and only then puts it into its place: it appears
 * whole or not at all.
 */
export async function placeArchive(
  file: string,
  write: (archive: string, workFolder: string) => Promise<void>,
): Promise<ArchiveContents> {
  const workFolder = makeBeside(file);
  try {
    const archive = join(workFolder, 'archive');
    await write(archive, workFolder);
    const contents = await readArchive(archive);
    renameSync(archive, file);
    syncFolder(dirname(file));
    return contents;
  } finally {
    rmSync(workFolder, { recursive: true, force: true });
  }
}

/** Answers a folder beside it. Only a file is replaced: as root, a device would be gone for everybody. */
function makeBeside(file: string): string {
  try {
    const there = statSync(file, { throwIfNoEntry: false });
    if (there === undefined || there.isFile()) return mkdtempSync(`${file}.`);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    const why = reasons[code] ?? `no file can be made there (${code})`;
    throw new BackupError(`${file} cannot be written: ${why}. Name a file in another folder.`, {
      cause: error,
    });
  }
  throw new BackupError(`${file} is there and is no file. Name another.`);
}

const reasons: Readonly<Record<string, string>> = {
  EACCES: 'this user may not write into its folder',
  ENOENT: 'there is no such folder',
  ENOSPC: 'its disk is full',
  ENOTDIR: 'a file stands in the place of its folder',
  EROFS: 'its disk is mounted read-only',
};
