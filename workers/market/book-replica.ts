import { type Clock, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { BookRecord } from '#core/events/book-record.ts';
import type { RecordOutcome } from '#core/events/feed-record.ts';
import { BOOK_PUBLISH_MS, BOOK_REQUEST_MS } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import { Book } from '#core/market/book.ts';
import type { LiveMarkets } from '#core/market/live-markets.ts';

/** An unchanged book is published again at least this often. */
export const BOOK_REPEAT_MS = SECOND_MS;
/** A snapshot that is older is requested again, because a successor reads every change since. */
export const BOOK_SNAPSHOT_AGE_MS = 10 * MINUTE_MS;

export interface KeptBookOptions {
  live: Pick<LiveMarkets, 'publishBook'>;
  /** Asks the exchange for the whole book, as the next record. */
  requestSnapshot: (market: string) => Promise<void>;
  clock: Clock;
  log: Log;
}

/** One market's book, and what its readers and the exchange were told of it. */
export class BookReplica {
  readonly book = new Book();
  readonly market: string;
  readonly endsAtMs: number;
  /** Where it is read, and where its last snapshot was. */
  partition: number;
  snapshotOffset: bigint | null = null;
  readonly #options: KeptBookOptions;
  #snapshotMs = Number.NEGATIVE_INFINITY;
  #askedMs = Number.NEGATIVE_INFINITY;
  #publishedMs = Number.NEGATIVE_INFINITY;
  #isChanged = true;
  #asking: Promise<void> | null = null;
  #publishing: Promise<void> | null = null;
  /** Said once, and not again for each of many tries. */
  #isAway = false;

  constructor(market: string, endsAtMs: number, partition: number, options: KeptBookOptions) {
    this.market = market;
    this.endsAtMs = endsAtMs;
    this.partition = partition;
    this.#options = options;
  }

  take(record: BookRecord, { partition, offset }: { partition: number; offset: bigint }): RecordOutcome {
    const wasStopped = this.book.isStopped;
    const step = this.book.apply(record);
    if (step.step === 'applied') {
      this.#isChanged = true;
      if (record.type === 'book_snapshot') {
        this.partition = partition;
        this.snapshotOffset = offset;
        this.#snapshotMs = this.#options.clock.monotonicMs();
        if (wasStopped) this.#options.log.info('a book begins with a snapshot', { market: this.market });
      }
    } else if (!wasStopped && this.book.isStopped) {
      this.#hasStopped(step.step === 'stopped' ? step.cause : 'a record that is wrong');
    }
    return step.step === 'refused' ? { outcome: 'dead_letter', reason: step.reason } : { outcome: 'done' };
  }

  stop(cause: string): void {
    if (this.book.isStopped) return;
    this.book.stop();
    this.#hasStopped(cause);
  }

  /** What readers and the exchange have to be told by now, if anything. */
  tell(): void {
    const nowMs = this.#options.clock.monotonicMs();
    if (this.#asking === null && nowMs >= this.#askAtMs()) {
      this.#askedMs = nowMs;
      this.#asking = this.#ask();
    }
    const isDue = this.#isChanged || nowMs - this.#publishedMs > BOOK_REPEAT_MS - BOOK_PUBLISH_MS;
    if (this.#publishing === null && isDue) {
      this.#isChanged = false;
      this.#publishedMs = nowMs;
      this.#publishing = this.#publish();
    }
  }

  async untilTold(): Promise<void> {
    await Promise.all([this.#publishing, this.#asking]);
  }

  #hasStopped(cause: string): void {
    this.#isChanged = true;
    this.#options.log.warn('a book has stopped until its next snapshot', { market: this.market, cause });
  }

  #askAtMs(): number {
    if (this.book.isStopped) return this.#askedMs + BOOK_REQUEST_MS;
    return Math.max(this.#askedMs, this.#snapshotMs) + BOOK_SNAPSHOT_AGE_MS;
  }

  async #ask(): Promise<void> {
    const { requestSnapshot, log } = this.#options;
    try {
      await requestSnapshot(this.market);
    } catch (error) {
      log.warn('a book could not be asked for, it is tried again', { market: this.market, error });
    }
    this.#asking = null;
  }

  async #publish(): Promise<void> {
    const { live, log } = this.#options;
    try {
      await live.publishBook(this.market, this.book.view());
      this.#isAway = false;
    } catch (error) {
      this.#isChanged = true;
      const { market } = this;
      if (!this.#isAway) log.warn('a book cannot be shown, it is tried again', { market, error });
      this.#isAway = true;
    }
    this.#publishing = null;
  }
}
