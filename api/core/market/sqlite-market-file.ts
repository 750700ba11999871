import type { DatabaseSync } from 'node:sqlite';
import { type OwnSqlite, openOwnSqlite } from '../drivers/open-own-sqlite.ts';
import { createTransact } from '../drivers/sqlite.ts';
import { parseMarketId } from '../events/market-id.ts';
import type { MarketListing } from '../events/market-listing.ts';
import { MARKET_KEPT_MS, PRUNE_ROWS } from '../limits.ts';
import type { CandleInterval, CandleRow } from './candle.ts';
import { printCandle, storedCandle } from './candle-text.ts';
import type { TradeCursor, TradesWrite } from './market-store.ts';
import { parseCursor, parseListing, printCursor, printListing, printTrade } from './market-texts.ts';
import { cursorRank } from './trade-cursor.ts';

/** The file itself. Everything here blocks. */
export interface SqliteMarketFile {
  readListings(): MarketListing[];
  putListing(listing: MarketListing): void;
  readCandles(market: string, interval: CandleInterval, fromMs: number, untilMs: number): CandleRow[];
  /** Returns once all of it is on the disk. */
  writeTrades(write: TradesWrite): void;
  readCursor(market: string): TradeCursor | null;
  /** The next `limit` behind this one, as they were printed: texts pass between threads at a third of the cost. */
  readTrades(market: string, afterSeq: number, limit: number): string[];
  close(): void;
}

export const openSqliteMarketFile = (path: string): SqliteMarketFile => openOwnSqlite(path, OWN_FILE, fileOf);

const OWN_FILE: OwnSqlite = {
  /** "FARM" */
  applicationId: 0x4641524d,
  version: 1,
  tables: `
    CREATE TABLE listings (
      market TEXT PRIMARY KEY,
      version INTEGER NOT NULL,
      listing TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE candles (
      market TEXT NOT NULL,
      interval TEXT NOT NULL,
      time_ms INTEGER NOT NULL,
      generation INTEGER NOT NULL,
      trades INTEGER NOT NULL,
      candle TEXT NOT NULL,
      PRIMARY KEY (market, interval, time_ms)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE trades (
      market TEXT NOT NULL,
      seq INTEGER NOT NULL,
      trade TEXT NOT NULL,
      PRIMARY KEY (market, seq)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE cursors (
      market TEXT PRIMARY KEY,
      generation INTEGER NOT NULL,
      rank INTEGER NOT NULL,
      cursor TEXT NOT NULL
    ) STRICT, WITHOUT ROWID`,
  refusal: 'holds no markets, or those of a newer release',
};

function fileOf(db: DatabaseSync): SqliteMarketFile {
  const transact = createTransact(db);
  const listings = db.prepare('SELECT listing FROM listings ORDER BY market');
  const putListing = db.prepare(`
    INSERT INTO listings VALUES (?, ?, ?) ON CONFLICT DO UPDATE
      SET version = excluded.version, listing = excluded.listing WHERE excluded.version > version`);
  const candles = db.prepare(`
    SELECT candle FROM candles
    WHERE market = ? AND interval = ? AND time_ms >= ? AND time_ms < ? AND trades > 0 ORDER BY time_ms`);
  const putCandle = db.prepare(`
    INSERT INTO candles VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
      SET generation = excluded.generation, trades = excluded.trades, candle = excluded.candle
      WHERE (excluded.generation, excluded.trades) >= (generation, trades)`);
  const trades = db.prepare('SELECT trade FROM trades WHERE market = ? AND seq > ? ORDER BY seq LIMIT ?');
  const putTrade = db.prepare('INSERT INTO trades VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const cursor = db.prepare('SELECT cursor FROM cursors WHERE market = ?');
  const putCursor = db.prepare(`
    INSERT INTO cursors VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE
      SET generation = excluded.generation, rank = excluded.rank, cursor = excluded.cursor
      WHERE (excluded.generation, excluded.rank) >= (generation, rank)`);
  const prune = createPrune(db);
  return {
    readListings: () => listings.all().map((row) => parseListing(String(row.listing))),
    putListing(listing) {
      putListing.run(listing.market, listing.version, printListing(listing));
    },
    readCandles: (market, interval, fromMs, untilMs) =>
      candles.all(market, interval, fromMs, untilMs).map((row) => storedCandle(String(row.candle))),
    writeTrades(write) {
      const { market } = write;
      transact(() => {
        for (const trade of write.trades) putTrade.run(market, trade.seq, printTrade(trade));
        for (const row of write.candles) {
          putCandle.run(market, row.interval, row.timeMs, row.generation, row.trades, printCandle(row));
        }
        const { generation } = write.cursor;
        putCursor.run(market, generation, cursorRank(write.cursor), printCursor(write.cursor));
        prune(write);
      });
    },
    readCursor(market) {
      const row = cursor.get(market);
      return row === undefined ? null : parseCursor(String(row.cursor));
    },
    readTrades: (market, afterSeq, limit) =>
      trades.all(market, afterSeq, limit).map((row) => String(row.trade)),
    close: () => db.close(),
  };
}

/** Drops some rows of markets that ended long before what is being written; the cursor goes last. */
function createPrune(db: DatabaseSync): (write: TradesWrite) => void {
  const markets = db.prepare('SELECT market FROM cursors');
  const dropOf = (table: string, key: string) =>
    db.prepare(`
      DELETE FROM ${table} WHERE (market, ${key}) IN
        (SELECT market, ${key} FROM ${table} WHERE market = ? LIMIT ${PRUNE_ROWS})`);
  const drops = [dropOf('trades', 'seq'), dropOf('candles', 'interval, time_ms'), dropOf('cursors', 'rank')];
  return ({ trades: [trade] }) => {
    if (trade === undefined) return;
    for (const row of markets.all()) {
      const market = String(row.market);
      const endsAtMs = parseMarketId(market)?.endsAtMs ?? 0;
      if (endsAtMs + MARKET_KEPT_MS > trade.at) continue;
      for (const drop of drops) if (drop.run(market).changes > 0) return;
    }
  };
}
