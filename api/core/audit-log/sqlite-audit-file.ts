import type { DatabaseSync, SQLOutputValue } from 'node:sqlite';
import { type OwnSqlite, openOwnSqlite } from '../drivers/open-own-sqlite.ts';
import { createTransact } from '../drivers/sqlite.ts';
import { firstIdAt } from '../ids.ts';
import { AUDIT_KEPT_MS, PRUNE_ROWS } from '../limits.ts';
import type { AuditedChange, AuditLine, AuditPage } from './audit-log.ts';
import { linesOf, parseSubject, partOf, printSubject, toChanges } from './to-changes.ts';

/** Beside the ledger, not in it: a restore, which puts another ledger into its place, is one of the changes. */
export const AUDIT_FILE = 'audit.sqlite';

/** The file itself. Everything here blocks. */
export interface SqliteAuditFile {
  /** Returns once the line is on the disk. */
  write(line: AuditLine): void;
  list(page: AuditPage): AuditedChange[];
  close(): void;
}

export const openSqliteAuditFile = (path: string): SqliteAuditFile => openOwnSqlite(path, OWN_FILE, fileOf);

const OWN_FILE: OwnSqlite = {
  /** "FARA" */
  applicationId: 0x46415241,
  version: 1,
  tables: `
    CREATE TABLE audit_lines (
      id INTEGER NOT NULL,
      part INTEGER NOT NULL,
      at_ms INTEGER NOT NULL,
      operator TEXT NOT NULL,
      address TEXT NOT NULL,
      action TEXT NOT NULL,
      subject TEXT NOT NULL,
      result TEXT NOT NULL,
      PRIMARY KEY (id, part)
    ) STRICT, WITHOUT ROWID`,
  refusal: 'is no audit log, or one of a newer release',
};

function fileOf(db: DatabaseSync): SqliteAuditFile {
  const transact = createTransact(db);
  const insert = db.prepare('INSERT INTO audit_lines VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
  const prune = db.prepare(`
    DELETE FROM audit_lines WHERE (id, part) IN
      (SELECT id, part FROM audit_lines WHERE id < ? ORDER BY id LIMIT ${PRUNE_ROWS})`);
  const ORDER = 'ORDER BY id DESC, part DESC LIMIT ?';
  const all = db.prepare(`SELECT * FROM audit_lines WHERE id >= ? AND id < ? ${ORDER}`);
  const ofAction = db.prepare(`SELECT * FROM audit_lines WHERE id >= ? AND id < ? AND action = ? ${ORDER}`);
  return {
    write(line) {
      const { id, atMs, operator, address, action, subject, result } = line;
      transact(() => {
        prune.run(firstIdAt(atMs - AUDIT_KEPT_MS));
        insert.run(id, partOf(line), atMs, operator, address, action, printSubject(subject), result);
      });
    },
    list({ limit, beforeId = Number.MAX_SAFE_INTEGER, sinceMs = 0, action }) {
      const from = firstIdAt(sinceMs);
      const lines = linesOf({ limit });
      const rows =
        action === undefined ? all.all(from, beforeId, lines) : ofAction.all(from, beforeId, action, lines);
      return toChanges(rows.map(toLine), limit);
    },
    close: () => db.close(),
  };
}

// A STRICT table holds no other types than these.
const toLine = (row: Record<string, SQLOutputValue>): AuditLine => ({
  id: Number(row.id),
  atMs: Number(row.at_ms),
  operator: String(row.operator),
  address: String(row.address),
  action: String(row.action),
  subject: parseSubject(String(row.subject)),
  result: String(row.result),
});
