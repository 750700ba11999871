import { closeSync, fchmodSync, fdatasync, fstatSync, openSync, readSync, write } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { OWNER_ONLY, syncFolder } from '#core/accounts/private-file.ts';
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

/** `audit.jsonl` of the data folder: only ever appended to, readable by its owner alone. */
export function openAuditLog(dataDir: string): AuditLog {
  makePrivateFolder(dataDir);
  const file = openSync(join(dataDir, AUDIT_FILE), 'a+', OWNER_ONLY);
  fchmodSync(file, OWNER_ONLY);
  syncFolder(dataDir);
  // A crash or a full disk may have left half a line: the next one must not continue it.
  let torn = endsInHalfALine(file);
  let last: Promise<void> = Promise.resolve();

  async function append(line: string): Promise<void> {
    const bytes = Buffer.from(torn ? `\n${line}` : line);
    torn = true;
    let written = 0;
    while (written < bytes.length) written += (await writeTo(file, bytes, written)).bytesWritten;
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

function endsInHalfALine(file: number): boolean {
  const { size } = fstatSync(file);
  const end = Buffer.alloc(1);
  return size > 0 && readSync(file, end, 0, 1, size - 1) === 1 && end[0] !== NEW_LINE;
}
