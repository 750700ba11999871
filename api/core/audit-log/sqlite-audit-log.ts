import { SqliteThread } from '../drivers/sqlite-thread.ts';
import type { AuditLog } from './audit-log.ts';
import type { SqliteAuditFile } from './sqlite-audit-file.ts';

/** The file at `path`, in a thread of its own. */
export function openSqliteAuditLog(path: string): AuditLog {
  const thread = new SqliteThread<SqliteAuditFile>({
    ...{ module: new URL('./sqlite-audit-worker.ts', import.meta.url), name: 'the audit log', path },
  });
  return {
    write: (line) => thread.ask('write', line),
    list: (page) => thread.ask('list', page),
    close: () => thread.close(),
  };
}
