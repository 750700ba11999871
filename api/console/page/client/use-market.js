import { SECOND_MS } from '../lib/time.js';
import { usePolled } from './use-polled.js';

/*
 * What the page of a market reads. An address may read 1,200 weight a minute; with the gateway's own pace of one second
 * this is 60 for the book, 120 for the candles and 12 for the list.
 */

/** @typedef {import('./records.d.ts').Candle} Candle */
/** @typedef {import('./records.d.ts').CandleInterval} CandleInterval */

const EVERY_MS = SECOND_MS;
const LIST_EVERY_MS = 10 * SECOND_MS;
/** As many levels as the page shows; up to twenty weigh the same. */
export const DEPTH = 12;
const CANDLES = 500;
/** The current interval and the one before. */
const NEWEST_CANDLES = 2;
/** Now and then all are read again: a late trade may have changed an older one. */
const ALL_EVERY_TURNS = 60;

/** @returns {import('./use-polled.js').Polled<import('./records.d.ts').MarketList>} */
export const useMarkets = () =>
  usePolled({ id: 'markets', everyMs: LIST_EVERY_MS, path: () => '/dex/markets' });

/**
 * @param {string | null} market
 * @returns {import('./use-polled.js').Polled<import('./records.d.ts').Book>}
 */
export const useBook = (market) =>
  usePolled({
    id: market,
    everyMs: EVERY_MS,
    path: () => `/dex/markets/${market}/book?depth=${DEPTH}`,
  });

/**
 * Oldest first. `readings` counts up when all of them were read again.
 *
 * @typedef {{ market: string, interval: CandleInterval, candles: readonly Candle[], readings: number }} Candles
 */

/**
 * @param {string | null} market
 * @param {CandleInterval} interval
 * @returns {import('./use-polled.js').Polled<Candles>}
 */
export function useCandles(market, interval) {
  let whole = true;
  let mayMiss = false;
  return usePolled({
    id: market === null ? null : `${market} ${interval}`,
    everyMs: EVERY_MS,
    path(turn) {
      whole = mayMiss || turn % ALL_EVERY_TURNS === 0;
      return `/dex/markets/${market}/candles?interval=${interval}&limit=${whole ? CANDLES : NEWEST_CANDLES}`;
    },
    /** @param {import('./records.d.ts').CandleAnswer} answer @param {Candles | null} before */
    fold({ candles }, before) {
      const of = { market: market ?? '', interval };
      if (whole || before === null) {
        mayMiss = false;
        return { ...of, candles, readings: (before?.readings ?? 0) + 1 };
      }
      const [first] = candles;
      if (first === undefined) return before;
      // Nobody knows what is between the last one that was known and this one.
      mayMiss = first.time > (before.candles.at(-1)?.time ?? 0);
      const older = before.candles.filter(({ time }) => time < first.time);
      return { ...of, candles: [...older, ...candles].slice(-CANDLES), readings: before.readings };
    },
  });
}
