import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { createCassandraMarketStore } from '#core/market/cassandra-market-store.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import { MARKETS_FILE, openSqliteMarketStore } from '#core/market/sqlite-market-store.ts';
import type { StorageConfig } from '../config/storage-settings.ts';
import { toCassandraOptions } from '../config/store-options.ts';

/** What is kept of markets, beside the processes that fold them. `null`: no market ever was in this folder. */
export function openMarketStore(storage: StorageConfig): (MarketStore & { close(): Promise<void> }) | null {
  if (storage.mode === 'embedded') {
    const path = join(storage.dataDir, MARKETS_FILE);
    return existsSync(path) ? openSqliteMarketStore(path) : null;
  }
  const client = connectCassandra(toCassandraOptions(storage.cassandra));
  return { ...createCassandraMarketStore(client), close: () => client.shutdown() };
}
