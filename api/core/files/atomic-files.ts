import { rmSync } from 'node:fs';
import { type FileHandle, link, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasCode, OWNER_ONLY } from '../accounts/private-file.ts';
import { randomBase62 } from '../ids.ts';
import { makePrivateFolder, OWNER_ONLY_FOLDER } from '../private-folder.ts';

/** Unfinished files stand beside the others, so that a whole one gets its name in one step. */
const INCOMING = 'incoming';

/** Writes files into a folder whole and on the disk, or not at all. Only one process may write there. */
export class AtomicFiles {
  readonly #folder: string;
  readonly #incoming: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#incoming = join(folder, INCOMING);
    // A process that was killed leaves unfinished files.
    rmSync(this.#incoming, { recursive: true, force: true });
    makePrivateFolder(this.#incoming);
  }

  /**
   * @param fill Writes the file, and answers whether it is a whole one.
   * @returns `taken`: there was a file before, and it stays. `cut`: the new one is not whole.
   */
  create(path: string, fill: (file: FileHandle) => Promise<boolean>): Promise<'stored' | 'taken' | 'cut'> {
    return this.#write(path, fill, linkTo);
  }

  /** Replaces a file that was there before. Throws what `fill` throws. */
  async replace(path: string, fill: (file: FileHandle) => Promise<void>): Promise<void> {
    await this.#write(path, (file) => fill(file).then(() => true), renameTo);
  }

  async #write<T>(
    path: string,
    fill: (file: FileHandle) => Promise<boolean>,
    place: (temporary: string, target: string) => Promise<T>,
  ): Promise<T | 'cut'> {
    const temporary = join(this.#incoming, randomBase62(16));
    const file = await open(temporary, 'wx', OWNER_ONLY);
    try {
      try {
        if (!(await fill(file))) return 'cut';
        await file.sync();
      } finally {
        await file.close();
      }
      await makeFolders(this.#folder, path.split('/').slice(0, -1));
      return await place(temporary, join(this.#folder, path));
    } finally {
      // A file that was renamed is not there any more.
      await rm(temporary, { force: true });
    }
  }
}

/** A link, unlike a rename, never replaces what is there. */
async function linkTo(temporary: string, target: string): Promise<'stored' | 'taken'> {
  try {
    await link(temporary, target);
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return 'taken';
    throw error;
  }
  await syncFolder(dirname(target));
  return 'stored';
}

async function renameTo(temporary: string, target: string): Promise<void> {
  await rename(temporary, target);
  await syncFolder(dirname(target));
}

async function makeFolders(root: string, names: readonly string[]): Promise<void> {
  let parent = root;
  for (const name of names) {
    const folder = join(parent, name);
    try {
      await mkdir(folder, OWNER_ONLY_FOLDER);
      await syncFolder(parent);
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error;
    }
    parent = folder;
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
