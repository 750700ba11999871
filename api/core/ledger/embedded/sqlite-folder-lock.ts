import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { isLocked, openLocked, sqliteFailure } from '../../drivers/sqlite.ts';
import { makePrivateFolder } from '../../private-folder.ts';
import { FolderInUseError } from './journal-errors.ts';

export interface FolderLock {
  release(): void;
}

/**
 * Makes the folder this process's alone, or throws `FolderInUseError`. The lock is the kernel's and dies with the
 * process, however it dies. It has a file of its own: a lock of this kind is lost as soon as anything in the same
 * process closes the file, and the ledger's own file is read by backups.
 */
export function lockFolder(folder: string): FolderLock {
  makePrivateFolder(folder);
  const pidFile = join(folder, PID_FILE);
  const db = takeLock(folder, pidFile);
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  return {
    release() {
      rmSync(pidFile, { force: true });
      db.close();
    },
  };
}

/** The process that has the folder now; `null`: none has. Looks without taking it. */
export function folderHolder(folder: string): { pid: number | null } | null {
  return isLocked(join(folder, LOCK_FILE)) ? { pid: readPid(join(folder, PID_FILE)) } : null;
}

const LOCK_FILE = 'ledger.lock';
const PID_FILE = 'ledger.pid';

function takeLock(folder: string, pidFile: string): DatabaseSync {
  try {
    return openLocked(join(folder, LOCK_FILE));
  } catch (error) {
    throw sqliteFailure(error) === 'busy' ? new FolderInUseError(folder, readPid(pidFile)) : error;
  }
}

/** Only for the message: the process may be just about to write it. */
function readPid(pidFile: string): number | null {
  try {
    const pid = Number(readFileSync(pidFile, 'utf8'));
    return Number.isSafeInteger(pid) && pid > 0 ? pid : null;
  } catch {
    return null;
  }
}
