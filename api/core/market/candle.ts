import { DAY_MS, HOUR_MS, MINUTE_MS } from '../clock.ts';

/** Spec: Candles. The intervals, on the UTC clock. */
export const candleIntervals = {
  '1m': MINUTE_MS,
  '5m': 5 * MINUTE_MS,
  '15m': 15 * MINUTE_MS,
  '1h': HOUR_MS,
  '4h': 4 * HOUR_MS,
  '1d': DAY_MS,
} as const;
export type CandleInterval = keyof typeof candleIntervals;
/** Shortest first. */
export const intervals = Object.keys(candleIntervals) as CandleInterval[];

export const ofEachInterval = <T>(make: (interval: CandleInterval) => T): Record<CandleInterval, T> => ({
  ...{ '1m': make('1m'), '5m': make('5m'), '15m': make('15m') },
  ...{ '1h': make('1h'), '4h': make('4h'), '1d': make('1d') },
});

/** One interval that had trades. */
export interface Candle {
  /** Of the interval's start. */
  timeMs: number;
  /** In billionths of USDT for a dollar: of the trade with the lowest `seq`, the dearest, the cheapest, the highest `seq`. */
  openNano: bigint;
  highNano: bigint;
  lowNano: bigint;
  closeNano: bigint;
  /** Dollars of credit, in billionths. */
  volumeNano: bigint;
  /** USDT paid, exact: billionths of billionths. */
  quoteVolumeAtto: bigint;
  trades: number;
}

/** As it is kept: with what tells whether a trade is in it. */
export interface CandleRow extends Candle {
  interval: CandleInterval;
  firstSeq: number;
  lastSeq: number;
  /** Every trade of this interval up to this `seq` is in it, and of later ones those of `aheadSeqs`. */
  throughSeq: number;
  aheadSeqs: readonly number[];
  /** A rebuild counts it up; a row of an older one never replaces it. */
  generation: number;
}

export const intervalStartMs = (interval: CandleInterval, atMs: number): number =>
  atMs - (atMs % candleIntervals[interval]);
