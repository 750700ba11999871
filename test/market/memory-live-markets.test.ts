import { expect, it } from 'vitest';
import { BOOK_SILENCE_MS, LIVE_CANDLES_MS } from '#core/limits.ts';
import { createMemoryLiveMarkets } from '#core/market/memory-live-markets.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { bookOf, candlesOf, liveMarketsContract } from './live-markets-contract.ts';

liveMarketsContract(() => createMemoryLiveMarkets(createFakeClock()));

it('a book whose writer says nothing any more is shown to nobody, and one that counts from 1 again is then taken', async () => {
  const clock = createFakeClock();
  const live = createMemoryLiveMarkets(clock);
  await live.publishBook('m', bookOf(10));
  clock.advance(BOOK_SILENCE_MS - 1);
  expect(await live.readBook('m')).toEqual(bookOf(10));
  await live.publishBook('m', bookOf(10));
  clock.advance(BOOK_SILENCE_MS - 1);
  await live.publishBook('m', bookOf(1));
  expect(await live.readBook('m')).toEqual(bookOf(10));
  clock.advance(1);
  expect(await live.readBook('m')).toBeNull();
  await live.publishBook('m', bookOf(1));
  expect(await live.readBook('m')).toEqual(bookOf(1));
});

it('candles whose writer says nothing any more are left to the store', async () => {
  const clock = createFakeClock();
  const live = createMemoryLiveMarkets(clock);
  await live.publishCandles('m', candlesOf(1n));
  clock.advance(LIVE_CANDLES_MS - 1);
  expect(await live.readCandles('m')).toEqual(candlesOf(1n));
  clock.advance(1);
  expect(await live.readCandles('m')).toBeNull();
});
