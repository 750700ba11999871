import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { createCassandraMarketStore } from '#core/market/cassandra-market-store.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import { checkMarket, type Rebuilt, rebuildMarket } from '#core/market/rebuild-market.ts';
import { MARKETS_FILE, openSqliteMarketStore } from '#core/market/sqlite-market-store.ts';
import type { StorageConfig } from '../../config/storage-settings.ts';
import { toCassandraOptions } from '../../config/store-options.ts';
import { auditedWork } from './audited-work.ts';
import { addExamples, type CliContext, type OpenContext } from './cli-context.ts';
import { CliError, exitCodes } from './cli-error.ts';
import { explaining } from './explaining.ts';
import type { Paint } from './terminal.ts';

/** `faregate market rebuild`: on the stores themselves, while the gateway or the workers run or not. */
export function addMarketRebuild(group: Command, open: OpenContext): void {
  const rebuild = group
    .command('rebuild <id>')
    .description(
      "make a market's candles anew of its trades; with --check, exit code 1 when any is not right",
    )
    .option('--check', 'only compare, and change nothing')
    .action(async (id: string, { check }: { check?: true }) => {
      const context = open();
      const { show, paint, fail } = context;
      const rebuilt = await explaining(() =>
        context.telling('Reading its trades', () => rebuildIn(context, id, check === true)),
      );
      if (rebuilt === null) throw new CliError(exitCodes.refused, `Nothing is stored of a market ${id}.`);
      if (check && rebuilt.differing > 0) fail();
      show({ market: id, ...rebuilt, written: check !== true }, () => [
        summary(rebuilt, check === true, paint),
      ]);
    });
  addExamples(rebuild, {
    'market rebuild credit-2026-11-30 --check': 'whether its candles are what its trades make',
    'market rebuild credit-2026-11-30': 'whoever folds the market goes on meanwhile',
  });
}

async function rebuildIn(
  { loadStorage, user }: CliContext,
  id: string,
  check: boolean,
): Promise<Rebuilt | null> {
  const storage = await loadStorage();
  const store = openMarketStore(storage);
  if (store === null) return null;
  try {
    if (check) return await checkMarket(store, id);
    if ((await store.readCursor(id)) === null) return null;
    return await auditedWork(
      { storage, action: 'market.rebuild', subject: { market: id }, user },
      async (begin) => {
        await begin();
        return rebuildMarket(store, id);
      },
    );
  } finally {
    await store.close();
  }
}

function summary({ trades, candles, differing }: Rebuilt, check: boolean, paint: Paint): string {
  const made = `${trades} trades make ${candles} candles.`;
  if (differing === 0) return paint('green', `${made} All were as they should be.`);
  return check
    ? paint('red', `${made} ${differing} are not as they should be.`)
    : paint('yellow', `${made} ${differing} were not as they should be, and are now.`);
}

/** Opens the stored markets beside the processes that fold them. `null`: this folder never had a market. */
function openMarketStore(storage: StorageConfig): (MarketStore & { close(): Promise<void> }) | null {
  if (storage.mode === 'embedded') {
    const path = join(storage.dataDir, MARKETS_FILE);
    return existsSync(path) ? openSqliteMarketStore(path) : null;
  }
  const client = connectCassandra(toCassandraOptions(storage.cassandra));
  return { ...createCassandraMarketStore(client), close: () => client.shutdown() };
}
