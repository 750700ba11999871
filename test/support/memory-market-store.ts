import type { MarketListing } from '#core/events/market-listing.ts';
import type { MarketTrade } from '#core/events/market-trade.ts';
import type { CandleInterval, CandleRow } from '#core/market/candle.ts';
import type { MarketStore, TradeCursor, TradesWrite } from '#core/market/market-store.ts';
import { cursorRank } from '#core/market/trade-cursor.ts';

export interface StoreFaults {
  /** Called before each single thing is written; what it throws leaves the rest of a write undone. */
  beforeStep: (step: 'listing' | 'trade' | 'candle' | 'cursor') => void | Promise<void>;
  /** Called before anything is read. */
  beforeRead: () => void | Promise<void>;
}

export interface MemoryMarketStore extends MarketStore, StoreFaults {
  /** The same as another process has it, with faults of its own. */
  ofProcess(faults: StoreFaults): MarketStore;
}

/** By the rules of the real stores: what is older, or has less in it, never replaces what is there. */
export function createMemoryMarketStore(): MemoryMarketStore {
  const listings = new Map<string, MarketListing>();
  const trades = new Map<string, MarketTrade[]>();
  const candles = new Map<string, Map<number, CandleRow>>();
  const cursors = new Map<string, TradeCursor>();

  const rowsOf = (market: string, interval: CandleInterval) => {
    const name = `${market} ${interval}`;
    const known = candles.get(name) ?? new Map<number, CandleRow>();
    candles.set(name, known);
    return known;
  };

  function putCandle(market: string, row: CandleRow): void {
    const rows = rowsOf(market, row.interval);
    const known = rows.get(row.timeMs);
    if (known === undefined || isNewer(row, known, row.trades, known.trades)) {
      rows.set(row.timeMs, structuredClone(row));
    }
  }

  function putCursor(market: string, cursor: TradeCursor): void {
    const known = cursors.get(market);
    if (known === undefined || isNewer(cursor, known, cursorRank(cursor), cursorRank(known))) {
      cursors.set(market, structuredClone(cursor));
    }
  }

  const storeWith = (faults: StoreFaults): MarketStore => ({
    async readListings() {
      await faults.beforeRead();
      return structuredClone([...listings.values()]);
    },
    async putListing(listing) {
      await faults.beforeStep('listing');
      const known = listings.get(listing.market);
      if (known === undefined || known.version < listing.version) {
        listings.set(listing.market, structuredClone(listing));
      }
    },
    async readCandles(market, interval, fromMs, untilMs) {
      await faults.beforeRead();
      const found = [...rowsOf(market, interval).values()].filter(
        ({ timeMs, trades }) => timeMs >= fromMs && timeMs < untilMs && trades > 0,
      );
      return structuredClone(found.sort((a, b) => a.timeMs - b.timeMs));
    },
    async writeTrades(write: TradesWrite) {
      const { market } = write;
      for (const trade of write.trades) {
        await faults.beforeStep('trade');
        const known = trades.get(market);
        if (known === undefined) trades.set(market, [structuredClone(trade)]);
        else known.push(structuredClone(trade));
      }
      for (const row of write.candles) {
        await faults.beforeStep('candle');
        putCandle(market, row);
      }
      await faults.beforeStep('cursor');
      putCursor(market, write.cursor);
    },
    async readCursor(market) {
      await faults.beforeRead();
      return structuredClone(cursors.get(market) ?? null);
    },
    async *readTrades(market) {
      await faults.beforeRead();
      yield* structuredClone(trades.get(market) ?? []);
    },
  });

  const faults: StoreFaults = { beforeStep: () => {}, beforeRead: () => {} };
  return Object.assign(faults, storeWith(faults), { ofProcess: storeWith });
}

const isNewer = (
  { generation }: { generation: number },
  known: { generation: number },
  rank: number,
  knownRank: number,
): boolean => generation > known.generation || (generation === known.generation && rank >= knownRank);
