import { z } from 'zod';
import { BOOK_LEVELS_MAX } from '../limits.ts';
import { levelSize, marketId, marketSeq, marketTime, price, sizeLeft } from './market-values.ts';

/** Changes in one record of a book. */
const BOOK_CHANGES_MAX = 1_000;

export const BOOK_TOPIC = 'dex.book.v1';
/** Written by us: markets whose book has stopped until its next snapshot, or whose last one is long ago. */
export const BOOK_REQUESTS_TOPIC = 'dex.book.requests.v1';

const orders = z.int().positive();
const level = z.strictObject({ price, size: levelSize, orders });
const levels = z.array(level).max(BOOK_LEVELS_MAX);
const change = z.strictObject({
  side: z.enum(['bid', 'ask']),
  price,
  /** All that there is now at this price; 0: the level has gone. */
  size: sizeLeft,
  orders: z.int().nonnegative(),
});

const envelope = { v: z.literal(1), market: marketId, seq: marketSeq, at: marketTime };

/**
 * A record of `dex.book.v1`, keyed by its market. A snapshot is the whole book after the change of its `seq`; each
 * change is numbered one above the record before it. The operator's fresh offer is not in it.
 */
export const bookRecord = z.discriminatedUnion('type', [
  z.strictObject({ ...envelope, type: z.literal('book_snapshot'), bids: levels, asks: levels }),
  z.strictObject({
    ...envelope,
    type: z.literal('book_changed'),
    changes: z.array(change).min(1).max(BOOK_CHANGES_MAX),
  }),
]);
export type BookRecord = z.infer<typeof bookRecord>;

/** A record of `dex.book.requests.v1`, keyed by its market. */
export const wantedSnapshot = z.strictObject({
  v: z.literal(1),
  type: z.literal('snapshot_wanted'),
  market: marketId,
  at: marketTime,
});
