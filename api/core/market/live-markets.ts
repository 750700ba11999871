import type { BookView } from './book-view.ts';
import type { CandleInterval, CandleRow } from './candle.ts';

/**
 * What changes many times a second, on its way from the one process that folds a market to all that answer readers: in
 * memory or in Redis. Nothing in it is needed again after a loss: its writer says it anew within a second.
 */
export interface LiveMarkets {
  /** `null`: the book has stopped, and nobody may be shown one until its next snapshot. */
  publishBook(market: string, book: BookView | null): Promise<void>;
  /**
   * `null`: there is none to be shown, because it has stopped, has never begun, or its writer has said nothing for
   * `BOOK_SILENCE_MS`.
   */
  readBook(market: string): Promise<BookView | null | 'unavailable'>;
  /** Older ones than those that are there are not taken, as of a writer that does not know yet that another goes on. */
  publishCandles(market: string, candles: LiveCandles): Promise<void>;
  /** `null`: nobody folds this market now, or nothing was traded lately: the store knows all. */
  readCandles(market: string): Promise<LiveCandles | null | 'unavailable'>;
}

/** The newest candles of a market, in front of those of the store. */
export interface LiveCandles {
  /** Of the cursor that these candles were stored with. */
  generation: number;
  rank: number;
  /** Of each interval the newest `LIVE_CANDLES`, oldest first. */
  newest: Readonly<Record<CandleInterval, readonly CandleRow[]>>;
  /** Counted up with each change of an older candle: who has kept those reads them again. */
  olderVersion: string;
  lastPriceNano: bigint | null;
  /** Dollars of credit in the last 24 hours, in billionths. */
  volume24hNano: bigint;
}

type CandlesAge = Pick<LiveCandles, 'generation' | 'rank'>;

/** As the script of `redis-live-markets.ts` has it. */
export const areOlderCandles = (candles: CandlesAge, than: CandlesAge): boolean =>
  candles.generation < than.generation ||
  (candles.generation === than.generation && candles.rank < than.rank);
