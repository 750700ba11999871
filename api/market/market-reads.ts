import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { CandleInterval } from '#core/market/candle.ts';
import type { LiveMarkets } from '#core/market/live-markets.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import { type MarketError, marketError } from '../contract/market-errors.ts';
import { cacheBook, type ReadBook, writeBook } from './book-answers.ts';
import type { Cached } from './cached.ts';
import { type CandleSource, keepCandles, type ReadCandles, writeCandles } from './candle-answers.ts';
import { findOpen, keepListings, type Listings, newestOf } from './listings.ts';
import { keepMarketList } from './market-list.ts';
import type { AskedBook, AskedCandles } from './read-query.ts';
import type { ReadyAnswer } from './ready-answer.ts';

export type MarketAnswer = ReadyAnswer | MarketError;

/** What anybody may read of markets. At once where it was read within the last second, and no promise then. */
export interface MarketReads {
  list(): MarketAnswer | Promise<MarketAnswer>;
  book(market: string, asked: AskedBook): MarketAnswer | Promise<MarketAnswer>;
  candles(market: string, asked: AskedCandles): MarketAnswer | Promise<MarketAnswer>;
}

export interface MarketReadsOptions {
  store: MarketStore;
  live: LiveMarkets;
  clock: Clock;
  log: Log;
}

interface CachedCandles {
  source: CandleSource;
  kept: Cached<ReadCandles>;
}

export function createMarketReads({ store, live, clock, log }: MarketReadsOptions): MarketReads {
  const options = { clock, log };
  const listings = keepListings(options, store);
  const list = keepMarketList(options, { listings, store, live });
  // Of open markets alone.
  const books = new Map<string, Cached<ReadBook>>();
  const candles = new Map<string, Map<CandleInterval, CachedCandles>>();

  /** Before the first of them is asked for in a second; those of markets that have closed since go. */
  async function readListings(): Promise<Listings | 'unavailable'> {
    const known = await listings.read();
    if (known === 'unavailable') return known;
    const nowMs = clock.now();
    const hasClosed = (market: string) => 'refused' in findOpen(known, market, nowMs);
    for (const market of books.keys()) if (hasClosed(market)) books.delete(market);
    for (const market of candles.keys()) if (hasClosed(market)) candles.delete(market);
    return known;
  }

  function bookOf(market: string): Cached<ReadBook> {
    const known = books.get(market);
    if (known !== undefined) return known;
    const made = cacheBook(options, live, market);
    books.set(market, made);
    return made;
  }

  function candlesOf(market: string, interval: CandleInterval) {
    const ofMarket = candles.get(market) ?? new Map<CandleInterval, CachedCandles>();
    const known = ofMarket.get(interval);
    if (known !== undefined) return known;
    const source = { store, live, market, interval };
    const made = { source, kept: keepCandles(options, source) };
    candles.set(market, ofMarket.set(interval, made));
    return made;
  }

  /** The operator's, where this is the newest market. */
  function offerIn(known: Listings, market: string): bigint | null {
    const newest = newestOf(known, clock.now());
    return newest?.listing.market === market ? newest.listing.freshPrice : null;
  }

  type Known = Listings | 'unavailable';

  function listIn(known: Known): MarketAnswer | Promise<MarketAnswer> {
    if (known === 'unavailable') return marketError('service_unavailable');
    if (known.byId.size === 0) return marketError('not_found');
    const { fresh } = list;
    return fresh === null ? list.read().then(orUnavailable) : orUnavailable(fresh);
  }

  function bookIn(known: Known, market: string, depth: number): MarketAnswer | Promise<MarketAnswer> {
    if (known === 'unavailable') return marketError('service_unavailable');
    const found = findOpen(known, market, clock.now());
    if ('refused' in found) return found;
    const kept = bookOf(market);
    const { fresh } = kept;
    return fresh === null
      ? kept.read().then((read) => finishBook(known, read, market, depth))
      : finishBook(known, fresh, market, depth);
  }

  function finishBook(
    known: Listings,
    read: ReadBook | 'unavailable',
    market: string,
    depth: number,
  ): MarketAnswer {
    if (read === 'unavailable') return marketError('service_unavailable');
    return read.byDepth.get(depth) ?? writeBook(read, { market, depth, offerNano: offerIn(known, market) });
  }

  function candlesIn(
    known: Known,
    market: string,
    { interval, limit }: AskedCandles,
  ): MarketAnswer | Promise<MarketAnswer> {
    if (known === 'unavailable') return marketError('service_unavailable');
    const found = findOpen(known, market, clock.now());
    if ('refused' in found) return found;
    const { source, kept } = candlesOf(market, interval);
    const { fresh } = kept;
    return fresh === null
      ? kept.read().then((read) => finishCandles(read, source, limit))
      : finishCandles(fresh, source, limit);
  }

  // With no closure while all is at hand: these are answered as often as anything.
  return {
    list() {
      const { fresh } = listings;
      return fresh === null ? readListings().then(listIn) : listIn(fresh);
    },
    book(market, { depth }) {
      const { fresh } = listings;
      if (fresh !== null) return bookIn(fresh, market, depth);
      return readListings().then((known) => bookIn(known, market, depth));
    },
    candles(market, asked) {
      const { fresh } = listings;
      if (fresh !== null) return candlesIn(fresh, market, asked);
      return readListings().then((known) => candlesIn(known, market, asked));
    },
  };
}

function finishCandles(read: ReadCandles | 'unavailable', source: CandleSource, limit: number): MarketAnswer {
  if (read === 'unavailable') return marketError('service_unavailable');
  return read.byLimit.get(limit) ?? writeCandles(read, source, limit);
}

const orUnavailable = (read: ReadyAnswer | 'unavailable'): MarketAnswer =>
  read === 'unavailable' ? marketError('service_unavailable') : read;
