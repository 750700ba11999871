import { closeSync, existsSync, openSync } from 'node:fs';
import { backup, DatabaseSync } from 'node:sqlite';

/** How long a statement waits for a lock that another program holds on the file. */
const BUSY_TIMEOUT_MS = 2_000;
/** 16 MiB of log, then a commit also copies it into the file. */
const WAL_AUTOCHECKPOINT_PAGES = 4_000;

/**
 * A file that only its owner can read, where a commit is on the disk before it returns: WAL with `synchronous=FULL`,
 * and on macOS `F_FULLFSYNC`, because `fsync` there leaves the data in the drive's cache.
 */
export function openSqlite(path: string): DatabaseSync {
  createPrivately(path);
  const db = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS });
  return closeOnFailure(db, () => {
    if (process.platform === 'darwin') db.exec('PRAGMA fullfsync=1; PRAGMA checkpoint_fullfsync=1');
    db.exec('PRAGMA synchronous=FULL');
    const mode = db.prepare('PRAGMA journal_mode=WAL').get()?.journal_mode;
    if (mode !== 'wal') throw new Error(`${path}: the file system cannot hold a write-ahead log`);
    db.exec(`PRAGMA wal_autocheckpoint=${WAL_AUTOCHECKPOINT_PAGES}`);
    return db;
  });
}

/** An error of `use` closes the file. */
export function closeOnFailure<T>(db: DatabaseSync, use: () => T): T {
  try {
    return use();
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * A file that is never written, only locked, until its handle is closed or the process ends. Throws a `busy` failure
 * at once when another handle has the lock.
 */
export function openLocked(path: string): DatabaseSync {
  createPrivately(path);
  const db = new DatabaseSync(path, { timeout: 0 });
  return closeOnFailure(db, () => {
    // Without a journal in memory, a process that dies would leave a second file behind.
    db.exec('PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE');
    return db;
  });
}

/** Whether another process has locked a file so. Takes no lock that would keep one from it for longer than the look. */
export function isLocked(path: string): boolean {
  if (!existsSync(path)) return false;
  const db = new DatabaseSync(path, { readOnly: true, timeout: 0 });
  try {
    db.prepare('SELECT count(*) FROM sqlite_schema').get();
    return false;
  } catch (error) {
    if (sqliteFailure(error) === 'busy') return true;
    throw error;
  } finally {
    db.close();
  }
}

/** A new file with all that was committed in another at one moment, while a process may go on writing there. */
export async function copySqlite(from: string, to: string): Promise<void> {
  const db = new DatabaseSync(from, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
  try {
    // One look for the whole copy: without it, each commit that falls into it makes it begin anew.
    db.exec('BEGIN; SELECT count(*) FROM sqlite_schema');
    createPrivately(to);
    await backup(db, to, { rate: COPIED_PAGES });
  } finally {
    db.close();
  }
}

/** Copied in one go; between two, the event loop turns. */
const COPIED_PAGES = 4_000;

/** SQLite would make it readable to others; the files beside it (-wal, -shm) take its mode over. */
function createPrivately(path: string): void {
  // Only when it is missing: closing a file gives up the locks that this process has on it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600));
}

/** Runs a change, all or nothing; what it throws comes out again after the rollback. */
export type Transact = <T>(change: () => T) => T;

/** The statements are prepared once: a commit of one call would else take a tenth longer. */
export function createTransact(db: DatabaseSync): Transact {
  const begin = db.prepare('BEGIN IMMEDIATE');
  const commit = db.prepare('COMMIT');
  return (change) => {
    begin.run();
    try {
      const result = change();
      commit.run();
      return result;
    } catch (error) {
      // SQLite has rolled back by itself after a full disk or an I/O error.
      if (db.isTransaction) db.exec('ROLLBACK');
      throw error;
    }
  };
}

const SQLITE_BUSY = 5;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_NOTADB = 26;

export type SqliteFailure = 'damaged' | 'disk_full' | 'busy' | 'other';

export function sqliteFailure(error: unknown): SqliteFailure {
  const code = error instanceof Error && 'errcode' in error ? Number(error.errcode) & 0xff : 0;
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB) return 'damaged';
  if (code === SQLITE_FULL) return 'disk_full';
  return code === SQLITE_BUSY ? 'busy' : 'other';
}
