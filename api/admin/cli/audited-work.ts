import { hostname } from 'node:os';
import { join } from 'node:path';
import type { AuditLine, AuditLog, AuditSubject } from '#core/audit-log/audit-log.ts';
import { createCassandraAuditLog } from '#core/audit-log/cassandra-audit-log.ts';
import { AUDIT_FILE, openSqliteAuditFile } from '#core/audit-log/sqlite-audit-file.ts';
import { systemClock } from '#core/clock.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { createIdSource } from '#core/ids.ts';
import type { StorageConfig } from '../../config/storage-settings.ts';
import { toCassandraOptions } from '../../config/store-options.ts';
import { CliError, exitCodes } from './cli-error.ts';

export interface StoreWork {
  storage: StorageConfig;
  action: 'restore' | 'ledger.recover' | 'clock.repair' | 'market.rebuild';
  subject: AuditSubject;
  user: string | null;
}

/**
 * For a command that changes the stores themselves: the two lines that the admin API writes for a change. `work` calls
 * `begin` before it does anything; what throws before that was nobody's change.
 */
export async function auditedWork<T>(
  { storage, action, subject, user }: StoreWork,
  work: (begin: () => Promise<void>) => Promise<T>,
): Promise<T> {
  const act = { id: createIdSource(systemClock).next(), operator: user ?? 'operator', address: hostname() };
  const line = (result: AuditLine['result']): AuditLine => ({
    ...act,
    ...{ atMs: systemClock.now(), action, subject, result },
  });
  let log: LineLog | null = null;
  async function begin(): Promise<void> {
    try {
      log = openLines(storage);
      await log.write(line('started'));
    } catch (error) {
      const [why] = error instanceof Error ? error.message.split('\n') : [];
      const message = `The audit log cannot be written, so nothing was done: ${why ?? 'unknown'}`;
      throw new CliError(exitCodes.refused, message);
    }
  }
  async function end(result: 'ok' | 'failed'): Promise<void> {
    // What was done is done: its first line tells of it.
    await log?.write(line(result)).catch(() => undefined);
    await log?.close();
  }
  try {
    const done = await work(begin);
    await end('ok');
    return done;
  } catch (error) {
    await end('failed');
    throw error;
  }
}

type LineLog = Pick<AuditLog, 'write' | 'close'>;

function openLines(storage: StorageConfig): LineLog {
  if (storage.mode === 'cluster') {
    const client = connectCassandra(toCassandraOptions(storage.cassandra));
    return { ...createCassandraAuditLog(client, systemClock), close: () => client.shutdown() };
  }
  const file = openSqliteAuditFile(join(storage.dataDir, AUDIT_FILE));
  return { write: async (one) => file.write(one), close: async () => file.close() };
}
