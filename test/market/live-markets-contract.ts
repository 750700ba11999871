import { describe, expect, it } from 'vitest';
import { BOOK_ANEW_MS } from '#core/limits.ts';
import type { BookView } from '#core/market/book-view.ts';
import { type CandleInterval, type CandleRow, ofEachInterval } from '#core/market/candle.ts';
import type { LiveCandles, LiveMarkets } from '#core/market/live-markets.ts';

let lastMarket = 0;
const newMarket = (): string => `m${++lastMarket}-2026-11-25`;

const AT_MS = Date.UTC(2026, 10, 18);

export const bookOf = (seq: number, laterMs = 0): BookView => ({
  seq,
  atMs: AT_MS + laterMs,
  bids: [{ price: '0.99', size: '12.5', orders: 2 }],
  asks: [{ price: '9999999.999999999', size: '9999999.999999999', orders: Number.MAX_SAFE_INTEGER }],
});

const row = (interval: CandleInterval): CandleRow => ({
  interval,
  timeMs: Date.UTC(2026, 10, 18),
  openNano: 9_999_999_999_999_999n,
  highNano: 9_999_999_999_999_999n,
  lowNano: 1n,
  closeNano: 2n,
  volumeNano: 123_456_789_012_345_678_901n,
  quoteVolumeAtto: 10n ** 40n,
  trades: 3,
  firstSeq: 1,
  lastSeq: Number.MAX_SAFE_INTEGER,
  throughSeq: 2,
  aheadSeqs: [4, 5],
  generation: 1,
});

export const candlesOf = (lastPriceNano: bigint | null, { generation = 1, rank = 4 } = {}): LiveCandles => ({
  ...{ generation, rank },
  newest: ofEachInterval((interval) => [row(interval)]),
  olderVersion: '1-2',
  lastPriceNano,
  volume24hNano: 10n ** 30n,
});

/** What goes from the process that folds a market to those that answer its readers. */
export function liveMarketsContract(open: () => LiveMarkets): void {
  describe('a live book', () => {
    it('is none before one was published, and then the last one of its market', async () => {
      const [live, market, other] = [open(), newMarket(), newMarket()];
      expect(await live.readBook(market)).toBeNull();
      await live.publishBook(market, bookOf(1));
      await live.publishBook(other, bookOf(9));
      await live.publishBook(market, bookOf(2));
      expect(await live.readBook(market)).toEqual(bookOf(2));
      expect(await live.readBook(other)).toEqual(bookOf(9));
    });

    it('is none once it has stopped, until the next one', async () => {
      const [live, market] = [open(), newMarket()];
      await live.publishBook(market, null);
      await live.publishBook(market, bookOf(1));
      await live.publishBook(market, null);
      expect(await live.readBook(market)).toBeNull();
      await live.publishBook(market, bookOf(2));
      expect(await live.readBook(market)).toEqual(bookOf(2));
    });

    it('is never replaced by an older one, even when it has stopped in between', async () => {
      const [live, market] = [open(), newMarket()];
      await live.publishBook(market, bookOf(10));
      await live.publishBook(market, bookOf(9));
      expect(await live.readBook(market)).toEqual(bookOf(10));
      await live.publishBook(market, null);
      await live.publishBook(market, bookOf(9));
      expect(await live.readBook(market)).toBeNull();
      await live.publishBook(market, bookOf(10));
      expect(await live.readBook(market)).toEqual(bookOf(10));
    });

    it('of an exchange that counts anew is shown at once, and the one before it never again', async () => {
      const [live, market] = [open(), newMarket()];
      await live.publishBook(market, bookOf(10));
      await live.publishBook(market, bookOf(2, BOOK_ANEW_MS));
      expect(await live.readBook(market)).toEqual(bookOf(10));
      await live.publishBook(market, bookOf(2, BOOK_ANEW_MS + 1));
      expect(await live.readBook(market)).toEqual(bookOf(2, BOOK_ANEW_MS + 1));
      await live.publishBook(market, bookOf(11));
      expect(await live.readBook(market)).toEqual(bookOf(2, BOOK_ANEW_MS + 1));
      await live.publishBook(market, bookOf(3, BOOK_ANEW_MS));
      expect(await live.readBook(market)).toEqual(bookOf(3, BOOK_ANEW_MS));
    });

    it('may have numbers up to the highest', async () => {
      const [live, market] = [open(), newMarket()];
      await live.publishBook(market, bookOf(Number.MAX_SAFE_INTEGER - 1));
      await live.publishBook(market, bookOf(Number.MAX_SAFE_INTEGER));
      await live.publishBook(market, bookOf(Number.MAX_SAFE_INTEGER - 1));
      expect(await live.readBook(market)).toEqual(bookOf(Number.MAX_SAFE_INTEGER));
    });
  });

  describe('live candles', () => {
    it('are none before some were published, and then the last ones, exactly', async () => {
      const [live, market] = [open(), newMarket()];
      expect(await live.readCandles(market)).toBeNull();
      await live.publishCandles(market, candlesOf(null));
      expect(await live.readCandles(market)).toEqual(candlesOf(null));
      await live.publishCandles(market, candlesOf(990_000_000n));
      expect(await live.readCandles(market)).toEqual(candlesOf(990_000_000n));
      expect(await live.readBook(market)).toBeNull();
    });

    it('are never replaced by older ones: of a generation those of the higher rank are newer', async () => {
      const [live, market] = [open(), newMarket()];
      const [first, more, rebuilt] = [{ rank: 9 }, { rank: 10 }, { generation: 2, rank: 8 }];
      for (const next of [first, more, rebuilt]) {
        await live.publishCandles(market, candlesOf(1n, next));
        for (const older of [first, more, rebuilt]) {
          await live.publishCandles(market, candlesOf(2n, older));
          if (older === next) break;
          expect(await live.readCandles(market)).toEqual(candlesOf(1n, next));
        }
        expect(await live.readCandles(market)).toEqual(candlesOf(2n, next));
      }
    });
  });
}
