import type { Clock } from '#core/clock.ts';
import { BOOK_TOPIC } from '#core/events/book-record.ts';
import type { BatchHandler } from '#core/events/feed-record.ts';
import { MARKETS_TOPIC } from '#core/events/market-listing.ts';
import { TRADES_TOPIC } from '#core/events/market-trade.ts';
import { oneByOne } from '#core/events/one-by-one.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import type { Log } from '#core/log.ts';
import type { LiveMarkets } from '#core/market/live-markets.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import type { MarketReaderName } from '#core/worker-names.ts';
import { createApplyListing } from './apply-listing.ts';
import { BookKeeper } from './book-keeper.ts';
import { CandleKeeper } from './candle-keeper.ts';
import { CreditMover, type CreditMoverOptions } from './credit-mover.ts';
import { findMissingBooks } from './missing-books.ts';

export interface MarketParts {
  store: MarketStore;
  live: LiveMarkets;
  ledger: Pick<Ledger, 'execute'>;
  /** Tells the exchange of a trade that moves no credit. */
  reject: CreditMoverOptions['reject'];
  /** Asks the exchange for the snapshot of a book that has stopped. */
  requestSnapshot: (market: string) => Promise<void>;
  clock: Clock;
  log: Log;
}

/** What one process does with the records of markets, wherever they come from. */
export interface MarketPipeline {
  readers: readonly MarketReader[];
  books: Pick<BookKeeper, 'stoppedMarkets'>;
  mover: CreditMover;
  /** See `findMissingBooks`. */
  missingBooks(): Promise<string[]>;
  /** After the last record. */
  stop(): Promise<void>;
}

/** Two may read one topic, each at its own pace. */
export interface MarketReader {
  name: MarketReaderName;
  topic: string;
  handler: BatchHandler;
}

export function createMarketPipeline({
  ledger,
  reject,
  requestSnapshot,
  ...parts
}: MarketParts): MarketPipeline {
  const { live, clock, log } = parts;
  const books = new BookKeeper({ live, requestSnapshot, clock, log });
  const candles = new CandleKeeper(parts);
  const mover = new CreditMover({ ledger, reject, log });
  return {
    readers: [
      { name: 'listings', topic: MARKETS_TOPIC, handler: oneByOne(createApplyListing(parts)) },
      { name: 'books', topic: BOOK_TOPIC, handler: books },
      { name: 'candles', topic: TRADES_TOPIC, handler: candles },
      { name: 'moves', topic: TRADES_TOPIC, handler: mover },
    ],
    books,
    mover,
    missingBooks: () => findMissingBooks({ ...parts, books }),
    async stop() {
      await Promise.all([books.stop(), candles.stop(), mover.stop()]);
    },
  };
}
