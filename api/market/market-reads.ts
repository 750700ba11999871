import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import { type CandleInterval, ofEachInterval } from '#core/market/candle.ts';
import type { LiveMarkets } from '#core/market/live-markets.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import { type MarketError, marketError } from '../contract/market-errors.ts';
import { cacheBook, type ReadBook, writeBook } from './book-answers.ts';
import type { Cached } from './cached.ts';
import { keepCandles, type ReadCandles, writeCandles } from './candle-answers.ts';
import { findOpen, keepListings, type Listings, newestOf } from './listings.ts';
import { keepMarketList } from './market-list.ts';
import type { AskedBook, AskedCandles } from './read-query.ts';
import type { ReadyAnswer } from './ready-answer.ts';

export type MarketAnswer = ReadyAnswer | MarketError;

/** What anybody may read of markets. */
export interface MarketReads {
  list(): Promise<MarketAnswer>;
  book(market: string, asked: AskedBook): Promise<MarketAnswer>;
  candles(market: string, asked: AskedCandles): Promise<MarketAnswer>;
}

export interface MarketReadsOptions {
  store: MarketStore;
  live: LiveMarkets;
  clock: Clock;
  log: Log;
}

interface MarketCache {
  book: Cached<ReadBook>;
  candles: Record<CandleInterval, Cached<ReadCandles>>;
}

export function createMarketReads({ store, live, clock, log }: MarketReadsOptions): MarketReads {
  const options = { clock, log };
  const listings = keepListings(options, store);
  const list = keepMarketList(options, { listings, store, live });
  const caches = new Map<string, MarketCache>();
  let lastListings: Listings | null = null;

  /** Each time the listings are read again, the caches of markets that have closed since are dropped. */
  async function readListings(): Promise<Listings | 'unavailable'> {
    const current = await listings.read();
    if (current === 'unavailable' || current === lastListings) return current;
    lastListings = current;
    const nowMs = clock.now();
    for (const market of caches.keys())
      if ('refused' in findOpen(current, market, nowMs)) caches.delete(market);
    return current;
  }

  /** The listings, where this market is open. */
  async function listingsWith(market: string): Promise<Listings | MarketError> {
    const current = await readListings();
    if (current === 'unavailable') return marketError('service_unavailable');
    const found = findOpen(current, market, clock.now());
    return 'refused' in found ? found : current;
  }

  /** The cache of an open market. */
  function cacheOf(market: string): MarketCache {
    const existing = caches.get(market);
    if (existing !== undefined) return existing;
    const added = {
      book: cacheBook(options, live, market),
      candles: ofEachInterval((interval) => keepCandles(options, { store, live, market, interval })),
    };
    caches.set(market, added);
    return added;
  }

  /** The operator's offer, which the newest market alone shows. */
  function offerIn(current: Listings, market: string): bigint | null {
    const newest = newestOf(current, clock.now());
    return newest?.listing.market === market ? newest.listing.freshPrice : null;
  }

  return {
    async list() {
      const current = await readListings();
      if (current === 'unavailable') return marketError('service_unavailable');
      if (current.byId.size === 0) return marketError('not_found');
      const answer = await list.read();
      return answer === 'unavailable' ? marketError('service_unavailable') : answer;
    },
    async book(market, { depth }) {
      const current = await listingsWith(market);
      if ('refused' in current) return current;
      const read = await cacheOf(market).book.read();
      if (read === 'unavailable') return marketError('service_unavailable');
      const answer = read.byDepth.get(depth);
      return answer ?? writeBook(read, { market, depth, offerNano: offerIn(current, market) });
    },
    async candles(market, { interval, limit }) {
      const current = await listingsWith(market);
      if ('refused' in current) return current;
      const read = await cacheOf(market).candles[interval].read();
      if (read === 'unavailable') return marketError('service_unavailable');
      return read.byLimit.get(limit) ?? writeCandles(read, { market, interval, limit });
    },
  };
}
