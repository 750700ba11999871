import { type Clock, every } from '#core/clock.ts';
import { parseMarketId } from '#core/events/market-id.ts';
import { BOOK_REQUEST_MS, BOOKS_MAX } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import type { LiveMarkets } from '#core/market/live-markets.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import type { BookKeeper } from './book-keeper.ts';

export interface MissingBooksOptions {
  store: Pick<MarketStore, 'readListings'>;
  live: Pick<LiveMarkets, 'readBook'>;
  /** What is kept here, stopped or not, is asked for where it is kept. */
  books: Pick<BookKeeper, 'keeps'>;
  clock: Clock;
}

/**
 * Listed markets that are open now, and of which nobody has a book: no record of them has come since their keeper began,
 * as when the last snapshot has left the topic. Rejects where the list cannot be read.
 */
export async function findMissingBooks({
  store,
  live,
  books,
  clock,
}: MissingBooksOptions): Promise<string[]> {
  const nowMs = clock.now();
  const open = (await store.readListings()).filter(
    ({ market, opensAt }) => opensAt <= nowMs && nowMs < (parseMarketId(market)?.endsAtMs ?? 0),
  );
  const unkept = open.map(({ market }) => market).filter((market) => !books.keeps(market));
  const shown = await Promise.all(unkept.slice(0, BOOKS_MAX).map((market) => live.readBook(market)));
  return unkept.filter((_, i) => shown[i] === null);
}

export interface AskingOptions {
  find: () => Promise<readonly string[]>;
  /** Whether it is for this process to ask: one of all does. */
  isOurs: () => boolean;
  requestSnapshot: (market: string) => Promise<void>;
  clock: Clock;
  log: Log;
}

/** Asks for each missing book every `BOOK_REQUEST_MS`, as for one that has stopped, until it is there. */
export function askForMissingBooks({ find, isOurs, requestSnapshot, clock, log }: AskingOptions): {
  stop(): Promise<void>;
} {
  let asking: Promise<void> | null = null;
  const ask = async () => {
    try {
      await Promise.all((await find()).map((market) => requestSnapshot(market)));
    } catch (error) {
      log.warn('missing books could not be asked for, it is tried again', { error });
    }
    asking = null;
  };
  const timer = every(clock, BOOK_REQUEST_MS, () => {
    if (isOurs()) asking ??= ask();
  });
  return {
    async stop() {
      timer.cancel();
      await asking;
    },
  };
}
