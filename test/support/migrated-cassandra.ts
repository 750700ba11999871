import { createHash } from 'node:crypto';
import { cpSync, existsSync, globSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import { migrateCassandra } from '#core/drivers/cassandra-migrations.ts';
import type { Service } from '../services/service.ts';
import { inServicesCache } from '../services/services-cache.ts';
import { startCassandra } from '../services/start-cassandra.ts';
import { cassandraAt } from './cassandra-at.ts';

/** A node that has the product's tables, as a copy of one that they were made in: making them takes two seconds of a core. */
export async function startMigratedCassandra(dir: string): Promise<Service> {
  cpSync(await migratedData(), dir, { recursive: true });
  return startCassandra({ dir });
}

async function migratedData(): Promise<string> {
  const migrated = inServicesCache(`cassandra-tables-${hashOfSources()}`);
  if (existsSync(migrated)) return migrated;
  const dir = mkdtempSync(inServicesCache('cassandra-tables-first-'));
  try {
    const node = await startCassandra({ dir });
    try {
      await migrateCassandra({ ...cassandraAt(node), replicas: { datacenter1: 1 }, clock: systemClock });
    } finally {
      // Not killed: it writes what its commit log holds, which no copy has to read again.
      await node.stop();
    }
    // Another process may have been first.
    if (!existsSync(migrated)) renameSync(dir, migrated);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
  return migrated;
}

/** Other steps, another release of Cassandra or other settings of it make another copy. */
function hashOfSources(): string {
  const root = join(import.meta.dirname, '../..');
  const files = globSync(['api/core/drivers/cql/*.cql', 'test/services/cassandra/*'], { cwd: root }).sort();
  const hash = createHash('sha256');
  for (const file of files) hash.update(`${file}\n`).update(readFileSync(join(root, file)));
  return hash.digest('hex').slice(0, 16);
}
