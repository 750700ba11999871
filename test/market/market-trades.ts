import { DAY_MS, isoTime } from '#core/clock.ts';
import type { MarketTrade } from '#core/events/market-trade.ts';
import { formatDecimal9 } from '#core/events/market-values.ts';
import { type Candle, type CandleInterval, candleIntervals, intervals } from '#core/market/candle.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import { maxBigint, minBigint } from '#core/money.ts';
import type { Draw } from '../ledger/history/random.ts';

export const MARKET = 'credit-2026-11-25';
export const ENDS_MS = Date.UTC(2026, 10, 25);
export const OPENS_MS = ENDS_MS - 8 * DAY_MS;

export const tradeOf = (seq: number, more: Partial<MarketTrade> = {}): MarketTrade => ({
  ...{ v: 1, type: 'traded', market: MARKET, seq, tradeId: `t${seq}`, at: OPENS_MS + seq * 1_000 },
  ...{ price: 900_000_000n, size: 1_000_000_000n, sellerAgentId: 1, buyerAgentId: 2, ...more },
});

export const recordOf = (trade: MarketTrade): Buffer =>
  Buffer.from(
    JSON.stringify({
      ...trade,
      at: isoTime(trade.at),
      price: formatDecimal9(trade.price),
      size: formatDecimal9(trade.size),
    }),
  );

/** `count` trades, their times forward and sometimes a little back. */
export function seededTrades(
  count: number,
  draw: Draw,
  { spanMs = 8 * DAY_MS, market = MARKET }: { spanMs?: number; market?: string } = {},
): MarketTrade[] {
  const stepMs = Math.ceil(spanMs / count);
  return Array.from({ length: count }, (_, i) =>
    tradeOf(i + 1, {
      market,
      at: OPENS_MS + Math.min(i * stepMs + draw(4 * stepMs), spanMs - 1),
      price: BigInt(600_000_000 + draw(400_000_000)),
      size: BigInt(1 + draw(4_000_000_000)),
    }),
  );
}

/** The same as the product's, in another way: all trades of an interval gathered, put in order, and looked at whole. */
export function foldSimply(trades: readonly MarketTrade[], interval: CandleInterval): Candle[] {
  const unique = [...new Map(trades.toReversed().map((trade) => [trade.seq, trade])).values()];
  const byInterval = Map.groupBy(unique, ({ at }) => Math.floor(at / candleIntervals[interval]));
  return [...byInterval]
    .sort(([a], [b]) => a - b)
    .map(([index, some]) => {
      const inOrder = some.sort((a, b) => a.seq - b.seq);
      const [first, last] = [inOrder.at(0)?.price ?? 0n, inOrder.at(-1)?.price ?? 0n];
      return {
        timeMs: index * candleIntervals[interval],
        openNano: first,
        highNano: inOrder.reduce((high, { price }) => maxBigint(high, price), first),
        lowNano: inOrder.reduce((low, { price }) => minBigint(low, price), first),
        closeNano: last,
        volumeNano: inOrder.reduce((sum, { size }) => sum + size, 0n),
        quoteVolumeAtto: inOrder.reduce((sum, { price, size }) => sum + price * size, 0n),
        trades: inOrder.length,
      };
    });
}

export const candlesOf = async (
  store: MarketStore,
  interval: CandleInterval,
  market = MARKET,
): Promise<Candle[]> =>
  (await store.readCandles(market, interval, 0, ENDS_MS)).map(
    ({ interval: _, firstSeq, lastSeq, throughSeq, aheadSeqs, generation, ...candle }) => candle,
  );

/** Of all six intervals. */
export async function allCandlesOf(store: MarketStore, market = MARKET): Promise<Record<string, Candle[]>> {
  const found = await Promise.all(intervals.map((interval) => candlesOf(store, interval, market)));
  return Object.fromEntries(intervals.map((interval, i) => [interval, found[i] ?? []]));
}

export const allFolded = (trades: readonly MarketTrade[]): Record<string, Candle[]> =>
  Object.fromEntries(intervals.map((interval) => [interval, foldSimply(trades, interval)]));

export async function tradesOf(store: MarketStore, market: string): Promise<MarketTrade[]> {
  const trades: MarketTrade[] = [];
  for await (const trade of store.readTrades(market)) trades.push(trade);
  return trades;
}
