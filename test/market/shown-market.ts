import { DAY_MS, HOUR_MS, isoTime, SECOND_MS, systemClock } from '#core/clock.ts';
import type { Store } from '../../api/stores/store.ts';
import { bookOf, listingOf, liveOf, nano, rowOf, storeRows } from './market-world.ts';

/**
 * A market with a book and three candles, of 3, 1 and 0 hours ago, until it is disposed of: a cluster's stores are shared. The book is told
 * again each second, as its keeper does: a silent one is shown no more after some seconds.
 */
export async function showMarket({ store, live }: Store['markets'], name: string, endsInDays: number) {
  const nowMs = systemClock.now();
  const market = `${name}-${isoTime(nowMs + endsInDays * DAY_MS).slice(0, 10)}`;
  const opensAt = nowMs - DAY_MS;
  await store.putListing(listingOf(market, { opensAt, freshPrice: nano('0.9') }));
  const hourMs = nowMs - (nowMs % HOUR_MS);
  const rowAgo = (ago: number, price = '0.85', trades = 1) =>
    rowOf('1h', 0, { timeMs: hourMs - ago * HOUR_MS, price, trades });
  await storeRows(store, market, [rowAgo(3), rowAgo(1)]);
  await live.publishCandles(market, liveOf({ newest: [rowAgo(1, '0.9', 2), rowAgo(0)] }));
  const publishBook = () => live.publishBook(market, bookOf());
  await publishBook();
  const timer = setInterval(() => void publishBook(), SECOND_MS);
  return {
    market,
    opensAt,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await store.putListing(listingOf(market, { version: 2, opensAt: nowMs + 2 * endsInDays * DAY_MS }));
    },
  };
}
