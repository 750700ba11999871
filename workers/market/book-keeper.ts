import type { Timer } from '#core/clock.ts';
import { bookRecord } from '#core/events/book-record.ts';
import {
  type BatchHandler,
  type BatchOutcome,
  type FeedBatch,
  parseMarketRecord,
  type RecordOutcome,
} from '#core/events/feed-record.ts';
import { lastMarketEndMs, parseMarketId, TOO_FAR } from '#core/events/market-id.ts';
import { BOOK_PUBLISH_MS, BOOK_RECORD_BYTES_MAX, BOOKS_MAX, CLOCK_APART_MAX_MS } from '#core/limits.ts';
import { BookReplica, type KeptBookOptions } from './book-replica.ts';

/**
 * A record of a book further ahead of our clock is refused. Books are ordered by time, so all later records
 * would count as older.
 */
export const BOOK_IN_FUTURE_MAX_MS = CLOCK_APART_MAX_MS;

type FeedRecord = FeedBatch['records'][number];

/**
 * Keeps the books of all markets that this process reads, and tells their readers. A successor reads again from the
 * oldest snapshot that a book began with, and tells nobody of a book before it has read to the end.
 */
export class BookKeeper implements BatchHandler {
  readonly #options: KeptBookOptions;
  readonly #books = new Map<string, BookReplica>();
  readonly #partitionsAtEnd = new Set<number>();
  /** `null`: there are no books. */
  #timer: Timer | null = null;

  constructor(options: KeptBookOptions) {
    this.#options = options;
  }

  /** Markets that wait for a snapshot. */
  get stoppedMarkets(): readonly string[] {
    return this.#told().flatMap(({ market, book }) => (book.isStopped ? [market] : []));
  }

  /** Whether its records have come here, also where it has stopped. */
  keeps(market: string): boolean {
    return this.#books.has(market);
  }

  async handle({ partition, records, atEnd = true }: FeedBatch): Promise<BatchOutcome> {
    const outcomes = records.map((record) => this.#take(partition, record));
    if (atEnd) this.#partitionsAtEnd.add(partition);
    for (const kept of this.#told()) if (kept.book.isStopped) kept.tell();
    return { outcomes, resumeOffset: this.#resumeOffset(partition) };
  }

  forget(partition: number): void {
    this.#partitionsAtEnd.delete(partition);
    for (const [market, kept] of this.#books) if (kept.partition === partition) this.#books.delete(market);
  }

  /** Says no more. What was said stays with its readers until a successor goes on, or for `BOOK_SILENCE_MS`. */
  async stop(): Promise<void> {
    this.#timer?.cancel();
    await Promise.all([...this.#books.values()].map((kept) => kept.untilTold()));
  }

  #take(partition: number, written: FeedRecord): RecordOutcome {
    const { offset, key } = written;
    const parsed = parseMarketRecord(bookRecord, written, BOOK_RECORD_BYTES_MAX);
    if (!parsed.ok) {
      // It may have been a change; the next one's number would say so, but that may be hours away.
      this.#books.get(String(key))?.stop('a record that cannot be read');
      return { outcome: 'dead_letter', reason: parsed.reason };
    }
    const { record } = parsed;
    if (record.at > this.#options.clock.now() + BOOK_IN_FUTURE_MAX_MS) {
      this.#books.get(record.market)?.stop('a record from the future');
      return { outcome: 'dead_letter', reason: 'at: is in the future' };
    }
    const kept = this.#books.get(record.market) ?? this.#open(record.market, partition);
    return kept instanceof BookReplica ? kept.take(record, { partition, offset }) : kept;
  }

  #open(market: string, partition: number): BookReplica | RecordOutcome {
    const endsAtMs = parseMarketId(market)?.endsAtMs ?? 0;
    const nowMs = this.#options.clock.now();
    if (endsAtMs <= nowMs) return { outcome: 'done' };
    // It would take the place of another for years.
    if (endsAtMs > lastMarketEndMs(nowMs + CLOCK_APART_MAX_MS)) {
      return { outcome: 'dead_letter', reason: TOO_FAR };
    }
    if (this.#books.size >= BOOKS_MAX) {
      return { outcome: 'dead_letter', reason: 'there are more markets than books are kept' };
    }
    const kept = new BookReplica(market, endsAtMs, partition, this.#options);
    this.#books.set(market, kept);
    this.#timer ??= this.#later();
    return kept;
  }

  #later(): Timer {
    return this.#options.clock.setTimer(BOOK_PUBLISH_MS, () => {
      const nowMs = this.#options.clock.now();
      for (const [market, { endsAtMs }] of this.#books) if (endsAtMs <= nowMs) this.#books.delete(market);
      for (const kept of this.#told()) kept.tell();
      this.#timer = this.#books.size === 0 ? null : this.#later();
    });
  }

  /** Those whose present state is known here. */
  #told(): BookReplica[] {
    return [...this.#books.values()].filter(({ partition }) => this.#partitionsAtEnd.has(partition));
  }

  #resumeOffset(partition: number): bigint | null {
    let lowest: bigint | null = null;
    for (const kept of this.#books.values()) {
      const { snapshotOffset } = kept;
      if (kept.partition !== partition || kept.book.isStopped || snapshotOffset === null) continue;
      if (lowest === null || snapshotOffset < lowest) lowest = snapshotOffset;
    }
    return lowest;
  }
}
