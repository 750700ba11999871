import type { BookRecord } from '../events/book-record.ts';
import { BOOK_ANEW_MS, BOOK_DEPTH_MAX, BOOK_LEVELS_MAX } from '../limits.ts';
import { BookSide } from './book-side.ts';
import type { BookView } from './book-view.ts';

/**
 * A stopped book waits for a snapshot of all that it has seen, but not for a sequence number so far ahead
 * that it must be wrong.
 */
export const BOOK_GAP_BELIEVED_MAX = 10_000;

export type BookStep =
  | { step: 'applied' }
  /** It was there already, or the book waits for a snapshot and this is none that it can begin with. */
  | { step: 'ignored' }
  /** What is here can no longer be right: nothing is shown until the next snapshot. */
  | { step: 'stopped'; cause: string }
  /** The record itself is wrong. Where it is newer than the book, the book has stopped. */
  | { step: 'refused'; reason: string };

type Snapshot = Extract<BookRecord, { type: 'book_snapshot' }>;
type Changed = Extract<BookRecord, { type: 'book_changed' }>;

/** Of one market. It is right up to the change of its `seq`, or it has stopped. */
export class Book {
  #sides: Sides | null = null;
  /** Of the last record that is in it, or was before it stopped. */
  #seq = 0;
  /** The highest of all records: an older snapshot would show what has changed since. */
  #seenSeq = 0;
  /** The time of that one. */
  #seenMs = Number.NEGATIVE_INFINITY;

  get isStopped(): boolean {
    return this.#sides === null;
  }

  stop(): void {
    this.#sides = null;
  }

  apply(record: BookRecord): BookStep {
    const countsAnew = this.#countsAnew(record);
    if (countsAnew) this.#forget();
    const step = record.type === 'book_snapshot' ? this.#begin(record) : this.#change(record);
    if (step.step === 'refused' && record.seq > this.#seq) this.stop();
    if (record.seq > this.#seenSeq) {
      this.#seenSeq = record.seq;
      this.#seenMs = Math.max(this.#seenMs, record.at);
    }
    return countsAnew && step.step === 'ignored' ? this.#stopBy('the exchange counts anew') : step;
  }

  /** `null`: it has stopped. */
  view(): BookView | null {
    if (this.#sides === null) return null;
    const { bids, asks } = this.#sides;
    return {
      seq: this.#seq,
      atMs: this.#seenMs,
      bids: bids.best(BOOK_DEPTH_MAX),
      asks: asks.best(BOOK_DEPTH_MAX),
    };
  }

  /** A snapshot of this very `seq` is taken: it says the same, or is right where we are not. */
  #begin({ seq, at, bids, asks }: Snapshot): BookStep {
    const sides = { bids: BookSide.of(true, bids), asks: BookSide.of(false, asks) };
    if (!areWhole(sides)) return { step: 'refused', reason: 'a price is there twice' };
    if (isCrossed(sides)) return { step: 'refused', reason: 'the best bid is not below the best ask' };
    if (seq < this.#seq || (this.isStopped && this.#hasSeenMoreThan(seq))) return ignored;
    this.#sides = sides;
    this.#seq = seq;
    this.#seenSeq = seq;
    // Never back: a later book of an earlier time would be taken for an older one by who publishes it.
    this.#seenMs = Math.max(this.#seenMs, at);
    return applied;
  }

  #change({ seq, changes }: Changed): BookStep {
    if (changes.some(({ size, orders }) => (size === 0n) !== (orders === 0))) {
      return { step: 'refused', reason: 'a size without orders, or orders without a size' };
    }
    if (this.#sides === null || seq <= this.#seq) return ignored;
    if (seq !== this.#seq + 1) return this.#stopBy('a gap');
    const { bids, asks } = this.#sides;
    for (const change of changes) (change.side === 'bid' ? bids : asks).put(change);
    this.#seq = seq;
    if (isCrossed(this.#sides)) return this.#stopBy('the best bid is not below the best ask');
    if (Math.max(bids.count, asks.count) > BOOK_LEVELS_MAX) return this.#stopBy('too many levels');
    return applied;
  }

  /** What was there before comes again with the time that it had. A snapshot alone may say the same at a later time. */
  #countsAnew({ type, seq, at }: BookRecord): boolean {
    const wasThere = type === 'book_snapshot' ? seq < this.#seenSeq : seq <= this.#seenSeq;
    return wasThere && at > this.#seenMs + BOOK_ANEW_MS;
  }

  #forget(): void {
    this.stop();
    this.#seq = 0;
    this.#seenSeq = 0;
    this.#seenMs = Number.NEGATIVE_INFINITY;
  }

  #stopBy(cause: string): BookStep {
    this.stop();
    return { step: 'stopped', cause };
  }

  #hasSeenMoreThan(seq: number): boolean {
    const more = this.#seenSeq - seq;
    return more > 0 && more <= BOOK_GAP_BELIEVED_MAX;
  }
}

interface Sides {
  bids: BookSide;
  asks: BookSide;
}

const applied = { step: 'applied' } as const satisfies BookStep;
const ignored = { step: 'ignored' } as const satisfies BookStep;

const areWhole = (sides: { [Side in keyof Sides]: BookSide | null }): sides is Sides =>
  sides.bids !== null && sides.asks !== null;

function isCrossed({ bids, asks }: Sides): boolean {
  const { bestPrice: bid } = bids;
  const { bestPrice: ask } = asks;
  return bid !== null && ask !== null && bid >= ask;
}
