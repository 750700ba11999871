import { DAY_MS } from '#core/clock.ts';
import type { BatchOutcome } from '#core/events/feed-record.ts';
import type { MarketTrade } from '#core/events/market-trade.ts';
import type { LiveCandles, LiveMarkets } from '#core/market/live-markets.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import { CandleKeeper } from '../../workers/market/candle-keeper.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryMarketStore } from '../support/memory-market-store.ts';
import { OPENS_MS, recordOf } from './market-trades.ts';

/** Keepers over one store, and what the last of them has published of each market. */
export function candleWorld({ nowMs = OPENS_MS + DAY_MS }: { nowMs?: number } = {}) {
  const clock = createFakeClock(nowMs);
  const store = createMemoryMarketStore();
  const published = new Map<string, LiveCandles>();
  const warnings: string[] = [];
  const warn = (event: string) => void warnings.push(event);
  const log = { info() {}, warn, error: warn };
  let publishings = 0;
  const live = {
    async publishCandles(market: string, candles: LiveCandles) {
      publishings++;
      published.set(market, structuredClone(candles));
    },
  };
  const startKeeper = (of: MarketStore = store, to: Pick<LiveMarkets, 'publishCandles'> = live) =>
    new CandleKeeper({ store: of, live: to, clock, log });
  return { clock, store, warnings, published, publishings: () => publishings, live, startKeeper };
}

export const batchOf = (trades: readonly (MarketTrade | Buffer)[], firstOffset = 0n, partition = 3) => ({
  partition,
  records: trades.map((trade, i) => ({
    offset: firstOffset + BigInt(i),
    bytes: Buffer.isBuffer(trade) ? trade : recordOf(trade),
  })),
});

export const outcomesOf = ({ outcomes }: BatchOutcome): string[] => outcomes.map(({ outcome }) => outcome);
