import type { BookView } from '#core/market/book-view.ts';
import type { LiveMarkets } from '#core/market/live-markets.ts';
import { maxBigint, minBigint, parseNanoUsd } from '#core/money.ts';
import { shapeBook } from '../contract/markets.ts';
import { Cached, type CacheOptions } from './cached.ts';
import { type ReadyAnswer, readyJson } from './ready-answer.ts';

/** One reading of a market's book, and what was made of it by depth. */
export interface ReadBook {
  view: BookView;
  readAtMs: number;
  byDepth: Map<number, ReadyAnswer>;
}

/** A book that has stopped is none: it would be a wrong one. */
export const cacheBook = (options: CacheOptions, live: LiveMarkets, market: string): Cached<ReadBook> =>
  new Cached(options, async () => {
    const readAtMs = options.clock.now();
    const view = await live.readBook(market);
    return view === null || view === 'unavailable' ? 'unavailable' : { view, readAtMs, byDepth: new Map() };
  });

interface AskedOf {
  market: string;
  depth: number;
  /** The operator's, where there is one in this market. */
  offerNano: bigint | null;
}

/** Of a depth that nobody has asked for since the book was read. */
export function writeBook(
  { view, readAtMs, byDepth }: ReadBook,
  { market, depth, offerNano }: AskedOf,
): ReadyAnswer {
  const freshPriceNano = offerNano === null ? null : freshPrice(offerNano, view);
  const answer = readyJson(shapeBook({ market, view, depth, readAtMs, freshPriceNano }));
  byDepth.set(depth, answer);
  return answer;
}

const ONE_NANO = 1_000_000_000n;

/** Spec: Order book, freshPrice. Not below what somebody bids already, and never above a dollar for a dollar. */
function freshPrice(offerNano: bigint, { bids }: BookView): bigint {
  const [best] = bids;
  const bidNano = best === undefined ? null : parseNanoUsd(best.price);
  return minBigint(ONE_NANO, maxBigint(offerNano, bidNano ?? 0n));
}
