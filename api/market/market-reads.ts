import type { Clock } from '#core/clock.ts';
import type { Log } from '#core/log.ts';
import type { CandleInterval } from '#core/market/candle.ts';
import type { LiveMarkets } from '#core/market/live-markets.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import { type MarketError, marketError } from '../contract/market-errors.ts';
import { answerBook, keepBook, type ReadBook } from './book-answers.ts';
import { answerCandles, type CandleSource, keepCandles, type ReadCandles } from './candle-answers.ts';
import type { Kept } from './kept.ts';
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

export function createMarketReads({ store, live, clock, log }: MarketReadsOptions): MarketReads {
  const options = { clock, log };
  const listings = keepListings(options, store);
  const list = keepMarketList(options, { listings, store, live });
  // Of open markets alone.
  const books = new Map<string, Kept<ReadBook>>();
  const candles = new Map<string, { source: CandleSource; kept: Kept<ReadCandles> }>();

  /** Before the first of them is asked for in a second; those of markets that have closed since go. */
  async function readListings(): Promise<Listings | 'unavailable'> {
    const known = await listings.read();
    if (known === 'unavailable') return known;
    const nowMs = clock.now();
    const hasClosed = (market: string) => 'refused' in findOpen(known, market, nowMs);
    for (const market of books.keys()) if (hasClosed(market)) books.delete(market);
    for (const [name, { source }] of candles) if (hasClosed(source.market)) candles.delete(name);
    return known;
  }

  function bookOf(market: string): Kept<ReadBook> {
    const known = books.get(market);
    if (known !== undefined) return known;
    const made = keepBook(options, live, market);
    books.set(market, made);
    return made;
  }

  function candlesOf(market: string, interval: CandleInterval) {
    const name = `${interval} ${market}`;
    const known = candles.get(name);
    if (known !== undefined) return known;
    const source = { store, live, market, interval };
    const made = { source, kept: keepCandles(options, source) };
    candles.set(name, made);
    return made;
  }

  /** The operator's, where this is the newest market. */
  function offerIn(known: Listings, market: string): bigint | null {
    const newest = newestOf(known, clock.now());
    return newest?.listing.market === market ? newest.listing.freshPrice : null;
  }

  function answerList(known: Listings | 'unavailable'): MarketAnswer | Promise<MarketAnswer> {
    if (known === 'unavailable') return marketError('service_unavailable');
    if (known.byId.size === 0) return marketError('not_found');
    return list.fresh === null ? list.read().then(orUnavailable) : orUnavailable(list.fresh);
  }

  function answerBookOf(
    known: Listings | 'unavailable',
    market: string,
    depth: number,
  ): MarketAnswer | Promise<MarketAnswer> {
    if (known === 'unavailable') return marketError('service_unavailable');
    const found = findOpen(known, market, clock.now());
    if ('refused' in found) return found;
    const kept = bookOf(market);
    const answer = (read: ReadBook | 'unavailable'): MarketAnswer =>
      read === 'unavailable'
        ? marketError('service_unavailable')
        : answerBook(read, market, depth, () => offerIn(known, market));
    return kept.fresh === null ? kept.read().then(answer) : answer(kept.fresh);
  }

  function answerCandlesOf(
    known: Listings | 'unavailable',
    market: string,
    { interval, limit }: AskedCandles,
  ): MarketAnswer | Promise<MarketAnswer> {
    if (known === 'unavailable') return marketError('service_unavailable');
    const found = findOpen(known, market, clock.now());
    if ('refused' in found) return found;
    const { source, kept } = candlesOf(market, interval);
    const answer = (read: ReadCandles | 'unavailable'): MarketAnswer =>
      read === 'unavailable' ? marketError('service_unavailable') : answerCandles(read, source, limit);
    return kept.fresh === null ? kept.read().then(answer) : answer(kept.fresh);
  }

  const withListings = (
    answer: (known: Listings | 'unavailable') => MarketAnswer | Promise<MarketAnswer>,
  ): MarketAnswer | Promise<MarketAnswer> => {
    const { fresh } = listings;
    return fresh === null ? readListings().then(answer) : answer(fresh);
  };

  return {
    list: () => withListings(answerList),
    book: (market, { depth }) => withListings((known) => answerBookOf(known, market, depth)),
    candles: (market, asked) => withListings((known) => answerCandlesOf(known, market, asked)),
  };
}

const orUnavailable = (read: ReadyAnswer | 'unavailable'): MarketAnswer =>
  read === 'unavailable' ? marketError('service_unavailable') : read;
