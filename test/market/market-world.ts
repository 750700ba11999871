import { DAY_MS } from '#core/clock.ts';
import type { MarketListing } from '#core/events/market-listing.ts';
import type { Log } from '#core/log.ts';
import type { BookLevel, BookView } from '#core/market/book-view.ts';
import {
  type CandleInterval,
  type CandleRow,
  candleIntervals,
  intervalStartMs,
} from '#core/market/candle.ts';
import type { LiveCandles, LiveMarkets } from '#core/market/live-markets.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import { createMemoryLiveMarkets } from '#core/market/memory-live-markets.ts';
import { parseNanoUsd } from '#core/money.ts';
import { createLocalAddressWeights } from '#core/rates/address-weights.ts';
import { createClientAddress } from '../../api/http/client-address.ts';
import { createServeMarkets } from '../../api/http/serve-markets.ts';
import { createMarketReads } from '../../api/market/market-reads.ts';
import { CALL_ID_HEADER, type EdgeOptions, startEdge } from '../support/edge-app.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { createMemoryMarketStore, type MemoryMarketStore } from '../support/memory-market-store.ts';

/** In the middle of a minute, an hour and a day, so that nothing happens to be where an interval begins. */
export const NOW_MS = Date.UTC(2026, 10, 18, 10, 20, 30, 500);
/** Ends in a week. */
export const MARKET = 'credit-2026-11-25';

export interface ReadsWorld {
  clock: FakeClock;
  store: MemoryMarketStore;
  live: LiveMarkets;
  /** What was asked of them, such as `book credit-2026-11-25`. */
  asked: string[];
  logged: string[];
  reads: ReturnType<typeof createMarketReads>;
}

export function createReadsWorld(): ReadsWorld {
  const clock = createFakeClock(NOW_MS);
  const logged: string[] = [];
  const noted = (event: string) => void logged.push(event);
  const log: Log = { info: noted, warn: noted, error: noted };
  const store = createMemoryMarketStore();
  const live = createMemoryLiveMarkets(clock);
  const asked: string[] = [];
  const note =
    <Args extends unknown[], Result>(what: string, read: (...args: Args) => Result) =>
    (...args: Args) => {
      asked.push([what, ...args.slice(0, 2)].join(' '));
      return read(...args);
    };
  const reads = createMarketReads({
    store: {
      ...store,
      readListings: note('listings', () => store.readListings()),
      readCandles: note('stored', (...args: Parameters<typeof store.readCandles>) =>
        store.readCandles(...args),
      ),
    },
    live: {
      ...live,
      readBook: note('book', (market: string) => live.readBook(market)),
      readCandles: note('candles', (market: string) => live.readCandles(market)),
    },
    clock,
    log,
  });
  return { clock, store, live, asked, logged, reads };
}

interface WorldOptions extends Pick<EdgeOptions, 'limits'> {
  weightPerMinute?: number;
  isOff?: boolean;
}

/** The real edge over stores in memory. Its own machine is a trusted proxy, so that a test asks from any address. */
export async function startMarketWorld({
  weightPerMinute = 1_200,
  isOff = false,
  ...options
}: WorldOptions = {}) {
  const world = createReadsWorld();
  const weights = createLocalAddressWeights(world.clock, () => weightPerMinute);
  const edge = await startEdge({
    ...options,
    useCases: createServeMarkets({
      reads: isOff ? null : world.reads,
      weights,
      clientAddress: createClientAddress(['127.0.0.1']),
      callIdHeader: CALL_ID_HEADER,
    }),
  });
  return {
    ...world,
    edge,
    /** Below `/v1`. */
    get: (path: string, headers: Record<string, string> = {}, method = 'GET') =>
      fetch(`${edge.url}/v1${path}`, { method, headers }),
    async [Symbol.asyncDispose]() {
      await edge.stop();
    },
  };
}
export type MarketWorld = Awaited<ReturnType<typeof startMarketWorld>>;

export const nano = (text: string): bigint => parseNanoUsd(text) ?? 0n;

export const listingOf = (market = MARKET, fields: Partial<MarketListing> = {}): MarketListing => ({
  v: 1,
  type: 'market_listed',
  market,
  version: 1,
  opensAt: NOW_MS - DAY_MS,
  priceTick: nano('0.001'),
  sizeStep: nano('0.01'),
  freshPrice: null,
  ...fields,
});

export const levels = (...prices: string[]): BookLevel[] =>
  prices.map((price, index) => ({ price, size: String(10 + index), orders: index + 1 }));

export const bookOf = (fields: Partial<BookView> = {}): BookView => ({
  seq: 7,
  atMs: NOW_MS,
  bids: levels('0.85', '0.84', '0.83'),
  asks: levels('0.86', '0.87'),
  ...fields,
});

/** The candle so many intervals ago; `price` stands for all four. */
export const rowOf = (
  interval: CandleInterval,
  intervalsAgo: number,
  fields: Partial<CandleRow> & { price?: string } = {},
): CandleRow => {
  const { price = '0.85', ...rest } = fields;
  return {
    interval,
    timeMs: intervalStartMs(interval, NOW_MS) - intervalsAgo * candleIntervals[interval],
    openNano: nano(price),
    highNano: nano(price),
    lowNano: nano(price),
    closeNano: nano(price),
    volumeNano: nano('2'),
    quoteVolumeAtto: nano(price) * 2_000_000_000n,
    trades: 1,
    firstSeq: 1,
    lastSeq: 1,
    throughSeq: 1,
    aheadSeqs: [],
    generation: 1,
    ...rest,
  };
};

export const liveOf = (
  fields: Partial<Omit<LiveCandles, 'newest'>> & { newest?: CandleRow[] } = {},
): LiveCandles => {
  const { newest = [], ...rest } = fields;
  const of = (interval: CandleInterval) => newest.filter((row) => row.interval === interval);
  return {
    ...{ generation: 1, rank: 1 },
    newest: {
      '1m': of('1m'),
      '5m': of('5m'),
      '15m': of('15m'),
      '1h': of('1h'),
      '4h': of('4h'),
      '1d': of('1d'),
    },
    olderVersion: '1',
    lastPriceNano: nano('0.85'),
    volume24hNano: nano('120.5'),
    ...rest,
  };
};

export const storeRows = (store: MarketStore, market: string, candles: readonly CandleRow[]): Promise<void> =>
  store.writeTrades({
    market,
    trades: [],
    candles,
    cursor: { throughSeq: 1, aheadSeqs: [], givenUp: [], generation: 1, candlesMissing: false },
  });
