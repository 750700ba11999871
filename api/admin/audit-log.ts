import {
  closeSync,
  fchmodSync,
  fdatasync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  statSync,
  write,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OWNER_ONLY, syncFolder } from '#core/accounts/private-file.ts';
import { AUDIT_LOG_BYTES } from '#core/limits.ts';
import { makePrivateFolder } from '#core/private-folder.ts';

export const AUDIT_FILE = 'audit.jsonl';

/** One line. A change has two: `started`, on the disk before anything is done, and what came of it. */
export interface AuditEntry {
  at: string;
  /** The request's id: the same in both lines, and in the answer's headers. */
  id: number;
  operator: string;
  address: string;
  /** The procedure, such as `agents.suspend`. */
  action: string;
  /** Ids, names and amounts, never a secret. */
  subject: Record<string, string | number | boolean | null>;
  /** An error code where the change was refused. */
  result: 'started' | 'ok' | (string & {});
}

export interface AuditLog {
  /** Resolves once the line is on the disk. Lines come in the order of the calls. */
  write(entry: AuditEntry): Promise<void>;
  /** After the last line. */
  close(): Promise<void>;
}

const writeTo = promisify(write);
const syncData = promisify(fdatasync);
const NEW_LINE = 10;
const OLDER_FILE = 'audit.1.jsonl';

/**
 * `audit.jsonl` of the data folder: only ever appended to, readable by its owner alone. At `bytesMax` it becomes
 * `audit.1.jsonl` in place of the one before.
 */
export function openAuditLog(dataDir: string, bytesMax: number = AUDIT_LOG_BYTES): AuditLog {
  makePrivateFolder(dataDir);
  let file = openFile(dataDir);
  let size = fstatSync(file).size;
  // A crash or a full disk may have left half a line: the next one must not continue it.
  let torn = endsInHalfALine(file, size);
  let last: Promise<void> = Promise.resolve();

  function startNewFile(): void {
    moveAside(dataDir);
    // Where this fails the line is refused, and the next one tries again.
    const next = openFile(dataDir);
    closeSync(file);
    file = next;
    size = 0;
    torn = false;
  }

  async function append(line: string): Promise<void> {
    if (size > 0 && size + Buffer.byteLength(line) > bytesMax) startNewFile();
    const bytes = Buffer.from(torn ? `\n${line}` : line);
    torn = true;
    let written = 0;
    while (written < bytes.length) {
      const { bytesWritten } = await writeTo(file, bytes, written);
      written += bytesWritten;
      size += bytesWritten;
    }
    await syncData(file);
    torn = false;
  }

  return {
    write(entry) {
      const line = `${JSON.stringify(entry)}\n`;
      const mine = last.then(() => append(line));
      last = mine.catch(() => undefined);
      return mine;
    },
    async close() {
      await last;
      closeSync(file);
    },
  };
}

function openFile(dataDir: string): number {
  const file = openSync(join(dataDir, AUDIT_FILE), 'a+', OWNER_ONLY);
  try {
    fchmodSync(file, OWNER_ONLY);
    syncFolder(dataDir);
    return file;
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

function moveAside(dataDir: string): void {
  const path = join(dataDir, AUDIT_FILE);
  // An earlier attempt may have moved it and failed then: what it left empty must not go over what it moved.
  const found = statSync(path, { throwIfNoEntry: false });
  if (found !== undefined && found.size > 0) renameSync(path, join(dataDir, OLDER_FILE));
}

function endsInHalfALine(file: number, size: number): boolean {
  const end = Buffer.alloc(1);
  return size > 0 && readSync(file, end, 0, 1, size - 1) === 1 && end[0] !== NEW_LINE;
}
