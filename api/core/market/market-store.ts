import type { MarketListing } from '../events/market-listing.ts';
import type { MarketTrade } from '../events/market-trade.ts';
import type { CandleInterval, CandleRow } from './candle.ts';

/** What is kept of markets for good: in SQLite or Cassandra. Rejects where it cannot be reached. */
export interface MarketStore {
  /** Of all markets that were ever listed, the newest version of each. */
  readListings(): Promise<MarketListing[]>;
  /** An older version than the one that is there changes nothing. */
  putListing(listing: MarketListing): Promise<void>;
  /** Oldest first, with `fromMs` and without `untilMs`; never one without trades. */
  readCandles(
    market: string,
    interval: CandleInterval,
    fromMs: number,
    untilMs: number,
  ): Promise<CandleRow[]>;
  /**
   * Trades first, then candles, then the cursor: after a crash in between the same trades come again. A row or cursor of
   * an older generation, or one with less in it, never replaces what is there.
   */
  writeTrades(write: TradesWrite): Promise<void>;
  readCursor(market: string): Promise<TradeCursor | null>;
  /** Every trade that was written, in any order; the same `seq` may come again. */
  readTrades(market: string): AsyncIterable<MarketTrade>;
}

export interface TradesWrite {
  market: string;
  /** Not seen before, each of a time at which its market was open. */
  trades: readonly MarketTrade[];
  /** Whole rows, as they are with these trades in them. One without trades takes the place of one that should not be. */
  candles: readonly CandleRow[];
  cursor: TradeCursor;
}

/** Which trades of a market are in its candles: all up to `throughSeq`, and these. */
export interface TradeCursor {
  throughSeq: number;
  /** Lowest first. */
  aheadSeqs: readonly number[];
  /** Below `throughSeq` and yet in no candle, because they had not come in time: the newest ranges, first and last. */
  givenUp: readonly (readonly [number, number])[];
  /** Each rebuild counts it up. */
  generation: number;
  /** A rebuild has begun: what is in no candle of this generation is to be folded from the stored trades. */
  candlesMissing: boolean;
}
