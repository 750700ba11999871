import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

/** The time of the last event of a data folder's ledger, whether its gateway runs or not; `null` where there is none. */
export function readLedgerTime(dataDir: string): number | null {
  const file = join(dataDir, 'ledger.sqlite');
  if (!existsSync(file)) return null;
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    const newest = db.prepare('SELECT at_ms FROM journal ORDER BY last_seq DESC LIMIT 1').get();
    return newest === undefined ? null : Number(newest.at_ms);
  } finally {
    db.close();
  }
}
