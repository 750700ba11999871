import { chmodSync, linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { randomBase62 } from '../ids.ts';
import { makePrivateFolder, syncFolder } from '../private-folder.ts';

/** Secrets on disk: nobody but the owner of the process reads them. */
export const OWNER_ONLY = 0o600;

/** `null` when there is none. */
export function readPrivateFile(path: string): string | null {
  try {
    const text = readFileSync(path, 'utf8');
    // A copy made by a careless backup tool may be readable by others.
    chmodSync(path, OWNER_ONLY);
    return text;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null;
    throw error;
  }
}

/** Two processes that start at once agree: a link, unlike a rename, never replaces what is there. */
export function readOrCreatePrivateFile(path: string, make: () => string): string {
  const there = readPrivateFile(path);
  if (there !== null) return there;
  const text = make();
  return place(path, text, linkSync) ? text : readFileSync(path, 'utf8');
}

/** Whole or not at all: a reader, and a crash at any moment, sees the old text or the new one. */
export function writePrivateFile(path: string, text: string): void {
  place(path, text, renameSync);
}

/** False when `put` found that something is there already. */
function place(path: string, text: string, put: (from: string, to: string) => void): boolean {
  const folder = dirname(path);
  makePrivateFolder(folder);
  const temporary = `${path}.${randomBase62(8)}`;
  writeFileSync(temporary, text, { flag: 'wx', mode: OWNER_ONLY, flush: true });
  try {
    put(temporary, path);
    syncFolder(folder);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
}

export const hasCode = (error: unknown, code: string): boolean =>
  error instanceof Error && 'code' in error && error.code === code;
