import { BOOK_ANEW_MS } from '../limits.ts';

/** The best levels of a book, as they go to readers: `BOOK_DEPTH_MAX` of each side, best first. */
export interface BookView {
  seq: number;
  /** Of its newest record, by the exchange's clock. */
  atMs: number;
  bids: readonly BookLevel[];
  asks: readonly BookLevel[];
}

export interface BookLevel {
  /** USDT for a dollar of credit, an exact decimal. */
  price: string;
  /** Dollars of credit, an exact decimal. */
  size: string;
  orders: number;
}

/**
 * Numbers tell, unless the times are so far apart that between them the exchange has begun to count anew. As the script
 * of `redis-live-markets.ts` has it.
 */
export function isOlderBook(book: Pick<BookView, 'seq' | 'atMs'>, than: typeof book): boolean {
  const laterMs = book.atMs - than.atMs;
  return Math.abs(laterMs) > BOOK_ANEW_MS ? laterMs < 0 : book.seq < than.seq;
}
