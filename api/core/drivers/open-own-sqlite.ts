import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { makePrivateFolder, syncFolder } from '../private-folder.ts';
import { closeOnFailure, createTransact, openSqlite } from './sqlite.ts';

export interface OwnSqlite {
  /** In the file's header: four letters that no other program's files have. */
  applicationId: number;
  version: number;
  tables: string;
  /** Why a file of another kind or version is refused, behind its path. */
  refusal: string;
}

/**
 * A file of ours, made when it is missing, with its folder and its tables. Several processes may have it open. What `use`
 * throws closes it again.
 */
export function openOwnSqlite<T>(path: string, own: OwnSqlite, use: (db: DatabaseSync) => T): T {
  const folder = dirname(path);
  makePrivateFolder(folder);
  const db = openSqlite(path);
  return closeOnFailure(db, () => {
    prepare(db, path, own);
    syncFolder(folder);
    return use(db);
  });
}

function prepare(
  db: DatabaseSync,
  path: string,
  { applicationId, version, tables, refusal }: OwnSqlite,
): void {
  const pragma = (name: string) => Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
  // Inside the transaction: another process may make it at this very moment.
  createTransact(db)(() => {
    const isEmpty = db.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.count === 0;
    if (isEmpty) {
      db.exec(`${tables}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version};`);
    } else if (pragma('application_id') !== applicationId || pragma('user_version') !== version) {
      throw new Error(`${path} ${refusal}`);
    }
  });
}
