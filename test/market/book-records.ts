import { isoTime } from '#core/clock.ts';
import { type BookRecord, bookRecord } from '#core/events/book-record.ts';

/** Ends a week after the fake clock begins. */
export const MARKET = 'credit-2026-11-25';

/** Price, size, orders. */
export type Level = readonly [string, string, number];
export type Change = readonly ['bid' | 'ask', ...Level];

/** Of all records here, where nothing else is said. */
export const BOOK_AT_MS = Date.UTC(2026, 10, 18, 10);
const at = isoTime(BOOK_AT_MS);

const levelOf = ([price, size, orders]: Level) => ({ price, size, orders });

/** As the exchange writes it. */
export const snapshot = (
  seq: number,
  { bids = [], asks = [] }: { bids?: readonly Level[]; asks?: readonly Level[] } = {},
) => ({
  v: 1,
  type: 'book_snapshot',
  market: MARKET,
  seq,
  at,
  bids: bids.map(levelOf),
  asks: asks.map(levelOf),
});

export const changed = (seq: number, ...changes: readonly Change[]) => ({
  v: 1,
  type: 'book_changed',
  market: MARKET,
  seq,
  at,
  changes: changes.map(([side, ...level]) => ({ side, ...levelOf(level) })),
});

export const parsed = (written: unknown): BookRecord => bookRecord.parse(written);
export const bytesOf = (written: unknown): Buffer => Buffer.from(JSON.stringify(written));
