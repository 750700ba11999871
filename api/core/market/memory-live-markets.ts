import type { Clock } from '../clock.ts';
import { BOOK_SILENCE_MS, LIVE_CANDLES_MS } from '../limits.ts';
import { type BookView, isOlderBook } from './book-view.ts';
import { areOlderCandles, type LiveCandles, type LiveMarkets } from './live-markets.ts';

/** Of one process, which folds the markets and answers their readers. */
export function createMemoryLiveMarkets(clock: Clock): LiveMarkets {
  const books = new Expiring<{ last: BookView; isShown: boolean }>(clock, BOOK_SILENCE_MS);
  const candles = new Expiring<LiveCandles>(clock, LIVE_CANDLES_MS);
  return {
    async publishBook(market, book) {
      const told = books.get(market);
      if (book === null) {
        if (told !== null) told.isShown = false;
      } else if (told === null || !isOlderBook(book, told.last)) {
        books.set(market, { last: book, isShown: true });
      }
    },
    async readBook(market) {
      const told = books.get(market);
      return told?.isShown === true ? told.last : null;
    },
    async publishCandles(market, live) {
      const told = candles.get(market);
      if (told === null || !areOlderCandles(live, told)) candles.set(market, live);
    },
    readCandles: async (market) => candles.get(market),
  };
}

/** What was not said again for `keptMs` is gone. */
class Expiring<T> {
  readonly #clock: Clock;
  readonly #keptMs: number;
  readonly #values = new Map<string, { value: T; endsAtMs: number }>();

  constructor(clock: Clock, keptMs: number) {
    this.#clock = clock;
    this.#keptMs = keptMs;
  }

  get(name: string): T | null {
    this.#forget();
    return this.#values.get(name)?.value ?? null;
  }

  set(name: string, value: T): void {
    this.#values.set(name, { value, endsAtMs: this.#clock.monotonicMs() + this.#keptMs });
  }

  #forget(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [name, { endsAtMs }] of this.#values) if (endsAtMs <= nowMs) this.#values.delete(name);
  }
}
