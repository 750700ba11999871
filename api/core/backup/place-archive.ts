import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { syncFolder } from '../private-folder.ts';
import { type ArchiveContents, readArchive } from './read-archive.ts';

/**
 * Lets an archive be written in a folder beside its file, reads it back, and only then puts it into its place: it appears
 * whole or not at all.
 */
export async function placeArchive(
  file: string,
  write: (archive: string, workFolder: string) => Promise<void>,
): Promise<ArchiveContents> {
  const workFolder = mkdtempSync(`${file}.`);
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
