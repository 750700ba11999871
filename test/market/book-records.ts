import { type BookRecord, bookRecord } from '#core/events/book-record.ts';

/** Ends a week after the fake clock begins. */
export const MARKET = 'credit-2026-11-25';

/** Price, size, orders. */
export type Level = readonly [string, string, number];
export type Change = readonly ['bid' | 'ask', ...Level];

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
  at: '2026-11-18T10:00:00.000Z',
  bids: bids.map(levelOf),
  asks: asks.map(levelOf),
});

export const changed = (seq: number, ...changes: readonly Change[]) => ({
  v: 1,
  type: 'book_changed',
  market: MARKET,
  seq,
  at: '2026-11-18T10:00:00.000Z',
  changes: changes.map(([side, ...level]) => ({ side, ...levelOf(level) })),
});

export const parsed = (written: unknown): BookRecord => bookRecord.parse(written);
export const bytesOf = (written: unknown): Buffer => Buffer.from(JSON.stringify(written));
