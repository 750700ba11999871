import type { MarketListing } from '../events/market-listing.ts';
import type { MarketTrade } from '../events/market-trade.ts';
import type { CandleInterval, CandleRow } from './candle.ts';

/** What is kept of markets for good: in SQLite or Cassandra. Rejects where it cannot be reached. */
export interface MarketStore {
  /** Of all markets that were ever listed, the newest version of each. */
  readListings(): Promise<MarketListing[]>;
  /** An older version than the one that is there changes nothing. */
  putListing(listing: MarketListing): Promise<void>;
  /** Oldest first, with `fromMs` and without `untilMs`. */
  readCandles(
    market: string,
    interval: CandleInterval,
    fromMs: number,
    untilMs: number,
  ): Promise<CandleRow[]>;
  /** Trades first, then candles, then the cursor: after a crash in between the same trades come again. */
  writeTrades(write: TradesWrite): Promise<void>;
  readCursor(market: string): Promise<TradeCursor | null>;
  /** Every trade that was written, once or more often, in any order. */
  readTrades(market: string): AsyncIterable<MarketTrade>;
}

export interface TradesWrite {
  market: string;
  /** Not seen before. */
  trades: readonly MarketTrade[];
  /** Whole rows, as they are with these trades in them. */
  candles: readonly CandleRow[];
  cursor: TradeCursor;
}

/** Which trades of a market are in its candles: all up to `throughSeq`, and these. */
export interface TradeCursor {
  throughSeq: number;
  aheadSeqs: readonly number[];
  generation: number;
}
