import type { z } from 'zod';
import { isoTime } from '#core/clock.ts';
import { BOOK_TOPIC } from '#core/events/book-record.ts';
import { parseMarketId } from '#core/events/market-id.ts';
import { MARKETS_TOPIC, type marketListing } from '#core/events/market-listing.ts';
import { TRADES_TOPIC } from '#core/events/market-trade.ts';
import {
  type BookLine,
  FRESH_PRICE,
  type MarketPoint,
  PRICE_TICK,
  SIZE_STEP,
  SimulatedMarket,
  type TradeLine,
} from './simulated-market.ts';

type ListingLine = z.input<typeof marketListing>;

/** A record of a feed in its JSON form, with the topic that it stands in; its key is its market. */
export type ScriptLine = { atMs: number } & (
  | { topic: typeof MARKETS_TOPIC; record: ListingLine }
  | { topic: typeof TRADES_TOPIC; record: TradeLine }
  | { topic: typeof BOOK_TOPIC; record: BookLine }
);

export interface MarketScriptOptions {
  seed: number;
  /** Their ids. The one that ends last is the newest. */
  markets: readonly string[];
  startAtMs: number;
  /** Of each market, on the average: changed levels beside those that trades take, and trades. */
  changesPerSecond: number;
  tradesPerSecond: number;
  /** Who trade with each other: two or more. */
  agents: readonly number[];
  /** Markets that go on from where they were; the others are listed first, and begin. */
  after?: Readonly<Record<string, MarketPoint>>;
  /** Of these the whole book comes behind their next change, and they are taken out. */
  wanted?: Set<string>;
}

/**
 * Markets that trade by themselves, for ever, oldest record first: the same records from the same options. A snapshot
 * carries the number of the change before it, as the feed has it.
 */
export function* createMarketScript(options: MarketScriptOptions): Generator<ScriptLine, never> {
  const { markets: ids, startAtMs, after = {}, wanted } = options;
  const newestFirst = [...ids].sort((a, b) => endOf(b) - endOf(a));
  for (const id of newestFirst.filter((each) => after[each] === undefined)) {
    const freshPrice = id === newestFirst[0] ? FRESH_PRICE : null;
    yield { atMs: startAtMs, topic: MARKETS_TOPIC, record: listingOf(id, startAtMs, freshPrice) };
  }
  const markets = newestFirst.map(
    (id, age) => new SimulatedMarket({ ...options, id, age, after: after[id] ?? FIRST }),
  );
  for (;;) {
    const next = markets.reduce((soonest, each) => (each.nextMs < soonest.nextMs ? each : soonest));
    const atMs = next.nextMs;
    const { trades, book } = next.step();
    for (const record of trades) yield { atMs, topic: TRADES_TOPIC, record };
    yield { atMs, topic: BOOK_TOPIC, record: book };
    const isWanted = wanted?.delete(next.id) === true;
    if (isWanted && book.type === 'book_changed') yield { atMs, topic: BOOK_TOPIC, record: next.snapshot() };
  }
}

const FIRST: MarketPoint = { bookSeq: 1, tradeSeq: 0, price: null };

function endOf(id: string): number {
  const parsed = parseMarketId(id);
  if (parsed === null) throw new Error(`${id} is no id of a market.`);
  return parsed.endsAtMs;
}

const listingOf = (market: string, atMs: number, freshPrice: string | null): ListingLine => ({
  v: 1,
  type: 'market_listed',
  market,
  version: 1,
  opensAt: isoTime(atMs),
  priceTick: PRICE_TICK,
  sizeStep: SIZE_STEP,
  freshPrice,
});
