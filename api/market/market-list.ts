import { DAY_MS, MINUTE_MS } from '#core/clock.ts';
import { CANDLES_MAX } from '#core/limits.ts';
import type { LiveMarkets } from '#core/market/live-markets.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import { type MarketFacts, shapeMarkets } from '../contract/markets.ts';
import { Cached, type CacheOptions } from './cached.ts';
import { type ListedMarket, type Listings, openMarkets } from './listings.ts';
import { type ReadyAnswer, readyJson } from './ready-answer.ts';

interface ListSource {
  listings: Cached<Listings>;
  store: MarketStore;
  live: LiveMarkets;
}

export const keepMarketList = (options: CacheOptions, source: ListSource): Cached<ReadyAnswer> =>
  new Cached(options, async () => {
    const listings = await source.listings.read();
    if (listings === 'unavailable') return 'unavailable';
    const nowMs = options.clock.now();
    const open = openMarkets(listings, nowMs);
    const newest = open.at(-1);
    const facts = await Promise.all(open.map((listed) => factsOf(source, listed, listed === newest, nowMs)));
    return readyJson(shapeMarkets(facts));
  });

async function factsOf(
  { live, store }: ListSource,
  { listing, endsAtMs }: ListedMarket,
  isNewest: boolean,
  nowMs: number,
): Promise<MarketFacts> {
  const { market } = listing;
  const [book, candles] = await Promise.all([live.readBook(market), live.readCandles(market)]);
  const traded =
    candles === null || candles === 'unavailable' ? await readTraded(store, market, nowMs) : candles;
  const { lastPriceNano, volume24hNano } = traded;
  return {
    listing,
    endsAtMs,
    isNewest,
    book: book === 'unavailable' ? null : book,
    lastPriceNano,
    volume24hNano,
  };
}

/** Where nobody folds this market now: to the minute, from what is kept. */
async function readTraded(store: MarketStore, market: string, nowMs: number) {
  const lately = await store.readCandles(market, '1m', nowMs - DAY_MS + MINUTE_MS, nowMs);
  const last =
    lately.at(-1) ?? (await store.readCandles(market, '1d', nowMs - CANDLES_MAX * DAY_MS, nowMs)).at(-1);
  return {
    lastPriceNano: last?.closeNano ?? null,
    volume24hNano: lately.reduce((sum, row) => sum + row.volumeNano, 0n),
  };
}
