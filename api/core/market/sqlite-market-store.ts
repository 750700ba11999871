import { SqliteThread } from '../drivers/sqlite-thread.ts';
import type { MarketStore } from './market-store.ts';
import { parseTrade } from './market-texts.ts';
import type { SqliteMarketFile } from './sqlite-market-file.ts';

/** Beside the ledger, not in it: markets write all day long, and no money depends on what they write. */
export const MARKETS_FILE = 'markets.sqlite';

/** The file at `path`, in a thread of its own. */
export function openSqliteMarketStore(path: string): MarketStore & { close(): Promise<void> } {
  const thread = new SqliteThread<SqliteMarketFile>({
    ...{ module: new URL('./sqlite-market-worker.ts', import.meta.url), name: 'the file of markets', path },
  });
  return {
    readListings: () => thread.ask('readListings'),
    putListing: (listing) => thread.ask('putListing', listing),
    readCandles: (...range) => thread.ask('readCandles', ...range),
    writeTrades: (write) => thread.ask('writeTrades', write),
    readCursor: (market) => thread.ask('readCursor', market),
    async *readTrades(market) {
      for (let afterSeq = 0; ; ) {
        const texts = await thread.ask('readTrades', market, afterSeq, TRADES_AT_ONCE);
        if (texts.length === 0) return;
        for (const text of texts) {
          const trade = parseTrade(market, text);
          afterSeq = trade.seq;
          yield trade;
        }
      }
    },
    close: () => thread.close(),
  };
}

const TRADES_AT_ONCE = 5_000;
