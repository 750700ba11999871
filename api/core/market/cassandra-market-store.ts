import { createHash } from 'node:crypto';
import type { Client, types } from 'cassandra-driver';
import { z } from 'zod';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../clock.ts';
import { placeTimestamp } from '../drivers/cassandra-timestamp.ts';
import { parseMarketId } from '../events/market-id.ts';
import type { MarketListing } from '../events/market-listing.ts';
import type { MarketTrade } from '../events/market-trade.ts';
import { inPieces } from '../in-pieces.ts';
import { limitTasks } from '../limit-tasks.ts';
import { CANDLES_MAX, LOT_DAYS_MAX, MARKET_KEPT_MS } from '../limits.ts';
import type { CandleRow } from './candle.ts';
import { printCandle, storedCandle } from './candle-text.ts';
import type { MarketStore, TradeCursor, TradesWrite } from './market-store.ts';
import {
  parseCursor,
  parseListing,
  parseTrade,
  printCursor,
  printListing,
  printTrade,
} from './market-texts.ts';
import { cursorRank } from './trade-cursor.ts';

/**
 * In the cluster's tables, by plain inserts. What a write replaces is decided by its timestamp, which is made of the
 * generation and of the count of trades in it: all that fold a market read the same log in the same order, so a row with
 * more trades knows all that one with fewer does, and two with as many are the same.
 */
export function createCassandraMarketStore(client: Client): MarketStore {
  const inTurn = limitTasks(STATEMENTS_AT_ONCE);
  const put = (statements: readonly Statement[]): Promise<unknown> =>
    Promise.all(statements.map(({ query, params }) => inTurn(() => client.execute(query, params))));

  async function putCandles(market: string, candles: readonly CandleRow[]): Promise<void> {
    const byPartition = Map.groupBy(candles, ({ interval }) => interval);
    const batches = [...byPartition.values()].flatMap((rows) => inPieces(rows, CANDLES_IN_BATCH));
    await Promise.all(
      batches.map((rows) => {
        const statements = rows.map((row) => putCandle(market, row));
        return inTurn(() => client.batch(statements, { prepare: true, logged: false }));
      }),
    );
  }

  async function readQuarter(market: string, quarterMs: number): Promise<MarketTrade[]> {
    const trades: MarketTrade[] = [];
    const values = [market, BigInt(quarterMs)];
    const found = await client.execute(TRADES, values, { fetchSize: CHUNKS_IN_PAGE });
    for await (const row of found) {
      const texts = tradeTexts.parse(JSON.parse(textOf(row, 'trades')));
      for (const text of texts) trades.push(parseTrade(market, text));
    }
    return trades;
  }

  return {
    async readListings() {
      const listings: MarketListing[] = [];
      const found = await client.execute(LISTINGS, [ALL]);
      for await (const row of found) listings.push(parseListing(textOf(row, 'listing')));
      return listings;
    },
    async putListing(listing) {
      const { market, version } = listing;
      await client.execute(PUT_LISTING, [ALL, market, printListing(listing), BigInt(version)]);
    },
    async readCandles(market, interval, fromMs, untilMs) {
      const candles: CandleRow[] = [];
      const values = [market, interval, BigInt(fromMs), BigInt(untilMs)];
      const found = await client.execute(CANDLES, values, { fetchSize: CANDLES_MAX + 1 });
      for await (const row of found) candles.push(storedCandle(textOf(row, 'candle')));
      return candles.filter(({ trades }) => trades > 0).reverse();
    },
    async writeTrades({ market, trades, candles, cursor }: TradesWrite) {
      await put(toChunks(trades).map((chunk) => putChunk(market, chunk)));
      await putCandles(market, candles);
      const at = placeTimestamp(cursor.generation, cursorRank(cursor));
      await client.execute(PUT_CURSOR, [market, printCursor(cursor), KEPT_S, at]);
    },
    async readCursor(market): Promise<TradeCursor | null> {
      const row = (await client.execute(CURSOR, [market])).first();
      return row === null ? null : parseCursor(textOf(row, 'cursor'));
    },
    async *readTrades(market) {
      const endsAtMs = parseMarketId(market)?.endsAtMs ?? 0;
      const quarters: number[] = [];
      for (let atMs = endsAtMs - LOT_DAYS_MAX * DAY_MS; atMs < endsAtMs; atMs += QUARTER_MS)
        quarters.push(atMs);
      for (const some of inPieces(quarters, QUARTERS_AT_ONCE)) {
        const found = await Promise.all(some.map((quarterMs) => readQuarter(market, quarterMs)));
        for (const trades of found) yield* trades;
      }
    },
  };
}

interface Statement {
  query: string;
  params: (string | bigint | number)[];
}

const putCandle = (market: string, row: CandleRow): Statement => {
  const { interval, timeMs, generation, trades } = row;
  const at = placeTimestamp(generation, trades);
  return { query: PUT_CANDLE, params: [market, interval, BigInt(timeMs), printCandle(row), KEPT_S, at] };
};

const quarterOf = ({ at }: MarketTrade): number => at - (at % QUARTER_MS);

function toChunks(trades: readonly MarketTrade[]): MarketTrade[][] {
  const byQuarter = Map.groupBy(trades, quarterOf);
  return [...byQuarter.values()].flatMap((some) => inPieces(some, TRADES_IN_CHUNK));
}

function putChunk(market: string, trades: readonly MarketTrade[]): Statement {
  const [first] = trades;
  if (first === undefined) throw new Error('a chunk without trades');
  const text = JSON.stringify(trades.map(printTrade));
  const digest = createHash('sha256').update(text).digest('base64url').slice(0, DIGEST_CHARS);
  const params = [market, BigInt(quarterOf(first)), BigInt(first.seq), digest, text, KEPT_S];
  return { query: PUT_TRADES, params };
}

const cellText = z.string();
const tradeTexts = z.array(cellText);
const textOf = (row: types.Row, column: string): string => cellText.parse(row.get(column));

const QUARTER_MS = 15 * MINUTE_MS;
const TRADES_IN_CHUNK = 250;
const CHUNKS_IN_PAGE = 100;
const QUARTERS_AT_ONCE = 16;
/** A mutation of some tens of kilobytes. */
const CANDLES_IN_BATCH = 50;
const STATEMENTS_AT_ONCE = 64;
const DIGEST_CHARS = 16;
/** From their last change on. A market is open for no longer than its credit lives. */
const KEPT_S = (LOT_DAYS_MAX * DAY_MS + MARKET_KEPT_MS) / SECOND_MS;
/** The one partition of listings. */
const ALL = 0;

const LISTINGS = 'SELECT listing FROM market_listings WHERE part = ?';
const PUT_LISTING = 'INSERT INTO market_listings (part, market, listing) VALUES (?, ?, ?) USING TIMESTAMP ?';
/** Newest first, as they lie there. */
const CANDLES =
  'SELECT candle FROM market_candles WHERE market = ? AND interval = ? AND time_ms >= ? AND time_ms < ?';
const PUT_CANDLE =
  'INSERT INTO market_candles (market, interval, time_ms, candle) VALUES (?, ?, ?, ?) USING TTL ? AND TIMESTAMP ?';
const TRADES = 'SELECT trades FROM market_trades WHERE market = ? AND quarter_ms = ?';
const PUT_TRADES =
  'INSERT INTO market_trades (market, quarter_ms, first_seq, digest, trades) VALUES (?, ?, ?, ?, ?) USING TTL ?';
const CURSOR = 'SELECT cursor FROM market_cursors WHERE market = ?';
const PUT_CURSOR = 'INSERT INTO market_cursors (market, cursor) VALUES (?, ?) USING TTL ? AND TIMESTAMP ?';
