import { closeSync, existsSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { JournalError } from './journal-errors.ts';

const CHUNK_BYTES = 1024 * 1024;

/**
 * Makes all that this process can see in the file be on the disk, before anything is decided on it.
 *
 * After an `fsync` that failed, the system may show pages that it never wrote and will never try to write again: a
 * batch that looks committed would be gone at the next power cut. So the log is written once more, byte for byte,
 * synced, and then copied into the file.
 */
export function settleWal(db: DatabaseSync, path: string): void {
  // The lock keeps any other writer from adding to the log while it is copied over itself.
  db.exec('BEGIN IMMEDIATE');
  try {
    rewrite(`${path}-wal`);
  } finally {
    db.exec('ROLLBACK');
  }
  const result = db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
  if (result?.busy !== 0)
    throw new JournalError(`${path}: another program is reading it, so it cannot be opened`);
}

function rewrite(path: string): void {
  if (!existsSync(path)) return;
  const file = openSync(path, 'r+');
  try {
    const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
    let at = 0;
    for (;;) {
      const bytes = readSync(file, buffer, 0, CHUNK_BYTES, at);
      if (bytes === 0) break;
      for (let done = 0; done < bytes; ) done += writeSync(file, buffer, done, bytes - done, at + done);
      at += bytes;
    }
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
