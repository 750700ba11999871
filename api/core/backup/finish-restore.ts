import { existsSync, mkdirSync, readdirSync, renameSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { PEPPER_FILE } from '../accounts/pepper-file.ts';
import { lockFolder } from '../ledger/embedded/sqlite-folder-lock.ts';
import { syncFolder } from '../private-folder.ts';

export const LEDGER_FILE = 'ledger.sqlite';

/** What is moved together: a log of another ledger beside the new one would destroy it. */
const SETS = [[LEDGER_FILE, `${LEDGER_FILE}-wal`, `${LEDGER_FILE}-shm`], [PEPPER_FILE]] as const;

const PREPARED = 'restored-';
const ASIDE = 'before-restore-';

/** Where a restore of this name prepares what is to be moved into place, and what stands there goes. */
export const preparedFolder = (dataDir: string, name: string): string => join(dataDir, PREPARED + name);
export const asideFolder = (dataDir: string, name: string): string => join(dataDir, ASIDE + name);

/** The name of a restore that is prepared and not in place, or `null`. */
export function pendingRestore(dataDir: string): string | null {
  if (!existsSync(dataDir)) return null;
  const found = readdirSync(dataDir).find((each) => each.startsWith(PREPARED));
  return found === undefined ? null : found.slice(PREPARED.length);
}

/**
 * Completes a restore that a crash has cut off, if there is one. To be called before a data folder is used; throws
 * `FolderInUseError` when another process uses it.
 */
export function finishRestore(dataDir: string): void {
  if (pendingRestore(dataDir) === null) return;
  const lock = lockFolder(dataDir);
  try {
    // Another process may have been faster.
    const name = pendingRestore(dataDir);
    if (name !== null) putInPlace(dataDir, name);
  } finally {
    lock.release();
  }
}

/**
 * Moves what is there aside and what was prepared into its place, one file after the other. The prepared folder is
 * there, whole, from one moment on and until the end; each step can be repeated: a crash between two leaves the rest
 * to the next start. The caller owns the folder.
 */
export function putInPlace(dataDir: string, name: string): void {
  const prepared = preparedFolder(dataDir, name);
  for (const files of SETS) {
    const [first] = files;
    if (!existsSync(join(prepared, first))) continue;
    for (const file of files) moveAside(dataDir, name, file);
    renameSync(join(prepared, first), join(dataDir, first));
    syncFolder(dataDir);
  }
  rmdirSync(prepared);
  syncFolder(dataDir);
}

function moveAside(dataDir: string, name: string, file: string): void {
  if (!existsSync(join(dataDir, file))) return;
  const aside = asideFolder(dataDir, name);
  mkdirSync(aside, { recursive: true, mode: 0o700 });
  renameSync(join(dataDir, file), join(aside, file));
  syncFolder(aside);
}
