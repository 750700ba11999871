import { serveSqliteThread } from '../drivers/serve-sqlite-thread.ts';
import { openSqliteAuditFile } from './sqlite-audit-file.ts';

serveSqliteThread(openSqliteAuditFile);
