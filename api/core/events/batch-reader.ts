import { SECOND_MS } from '../clock.ts';
import type { Log } from '../log.ts';
import type { BatchHandler, BatchOutcome, FeedBatch } from './feed-record.ts';

export interface BatchReaderOptions {
  topic: string;
  handler: BatchHandler;
  /** Given to the handler at one time. */
  recordsAtOnce: number;
  /** Resolves once the record is safe there. */
  keepApart: (record: ApartRecord) => Promise<void>;
  log: Log;
  onRecords: (count: number) => void;
}

export interface ReadRecord {
  offset: bigint;
  key: Buffer | null;
  bytes: Buffer;
  /** When it was written. */
  timeMs: number;
}

export interface ApartRecord extends ReadRecord {
  partition: number;
  reason: string;
}

/** What was read of one partition, and the place in it. */
export interface ReadBatch {
  partition: number;
  records: readonly ReadRecord[];
  /** Nothing more stood behind it. */
  atEnd: boolean;
  /** Whether it is still ours. */
  mayGoOn: () => boolean;
  /** Rejects once it is not. */
  heartbeat: () => Promise<void>;
  /** This process reads on behind it. */
  resolve: (offset: bigint) => void;
  /** Who takes over begins there. */
  commit: (resumeOffset: bigint) => Promise<void>;
  /** Reads on after this time, and other partitions meanwhile. */
  pause: (waitMs: number) => void;
}

interface HeldPartition {
  next: bigint;
  committed: bigint | null;
  waitMs: number;
  /** When the oldest record was written that is not dealt with, or a little before; `null`: there is none. */
  waitsSinceMs: number | null;
}

const newlyHeld = ({ offset, timeMs }: ReadRecord): HeldPartition => ({
  ...{ next: offset, committed: null, waitMs: RETRY_MS, waitsSinceMs: timeMs },
});

const RETRY_MS = SECOND_MS / 4;
const RETRY_MAX_MS = 5 * SECOND_MS;

/** Takes the records of each partition to the handler, in their order, each until it is dealt with or kept apart. */
export class BatchReader {
  readonly #options: BatchReaderOptions;
  /** Those that the handler may know something of. */
  readonly #held = new Map<number, HeldPartition>();
  /** The handler is in a partition once at one time, also when what came before a crash has not ended yet. */
  readonly #turns = new Map<number, Promise<void>>();
  #memberId: string | null = null;
  #stopped = false;

  constructor(options: BatchReaderOptions) {
    this.#options = options;
  }

  read(batch: ReadBatch): Promise<void> {
    return this.#inTurn(batch.partition, () => this.#read(batch));
  }

  /** Answers where to read on in those that stayed here all the time: what is kept for others may lie far behind. */
  share(partitions: readonly number[], memberId: string): ReadonlyMap<number, bigint> {
    if (memberId !== this.#memberId) this.forgetAll();
    this.#memberId = memberId;
    for (const partition of this.#held.keys()) {
      if (!partitions.includes(partition)) this.#forget(partition);
    }
    return new Map(Array.from(this.#held, ([partition, { next }]) => [partition, next]));
  }

  forgetAll(): void {
    for (const partition of this.#held.keys()) this.#forget(partition);
  }

  /** When the oldest record was written that is known to wait here; `null`: none does. */
  get waitsSinceMs(): number | null {
    let oldestMs: number | null = null;
    for (const { waitsSinceMs } of this.#held.values()) {
      if (waitsSinceMs !== null && (oldestMs === null || waitsSinceMs < oldestMs)) oldestMs = waitsSinceMs;
    }
    return oldestMs;
  }

  stop(): void {
    this.#stopped = true;
  }

  #forget(partition: number): void {
    this.#held.delete(partition);
    void this.#inTurn(partition, async () => this.#options.handler.forget(partition));
  }

  #inTurn(partition: number, work: () => Promise<void>): Promise<void> {
    const done = (this.#turns.get(partition) ?? Promise.resolve()).then(work);
    this.#turns.set(
      partition,
      done.catch(() => undefined),
    );
    return done;
  }

  async #read(batch: ReadBatch): Promise<void> {
    const { partition, records } = batch;
    const [first] = records;
    if (first === undefined || this.#stopped || !batch.mayGoOn()) return;
    const held = this.#held.get(partition) ?? newlyHeld(first);
    held.waitsSinceMs = first.timeMs;
    this.#held.set(partition, held);
    const isOurs = () => !this.#stopped && this.#held.get(partition) === held && batch.mayGoOn();
    for (let dealtWith = 0; dealtWith < records.length && isOurs(); ) {
      const some = records.slice(dealtWith, dealtWith + this.#options.recordsAtOnce);
      const atEnd = batch.atEnd && dealtWith + some.length === records.length;
      const count = await this.#handle({ ...batch, records: some, atEnd }, held);
      dealtWith += count;
      if (count < some.length) {
        if (isOurs()) batch.pause(held.waitMs);
        held.waitMs = Math.min(2 * held.waitMs, RETRY_MAX_MS);
        return;
      }
      held.waitMs = RETRY_MS;
      await batch.heartbeat();
    }
  }

  /** Answers how many were dealt with; the one behind them is to be tried again. */
  async #handle(batch: ReadBatch, held: HeldPartition): Promise<number> {
    const { partition, records, atEnd } = batch;
    const { keepApart, onRecords } = this.#options;
    const { outcomes, resumeOffset } = await this.#outcomesOf({ partition, records, atEnd });
    let dealtWith = 0;
    for (const [index, record] of records.entries()) {
      const outcome = outcomes[index];
      if (outcome === undefined || outcome.outcome === 'try_again') break;
      if (outcome.outcome === 'dead_letter')
        await keepApart({ ...record, partition, reason: outcome.reason });
      dealtWith += 1;
    }
    onRecords(dealtWith);
    // What was forgotten meanwhile is read anew, from the place that was kept.
    if (this.#held.get(partition) !== held) return dealtWith;
    const last = records[dealtWith - 1];
    // Behind the last one may stand what was not read yet, and is newer.
    held.waitsSinceMs = records[dealtWith]?.timeMs ?? (atEnd ? null : (last?.timeMs ?? null));
    if (last !== undefined) {
      held.next = last.offset + 1n;
      batch.resolve(last.offset);
    }
    // Not before what is kept apart is safe: who takes over begins behind it.
    if (resumeOffset !== null && resumeOffset !== held.committed) {
      await batch.commit(resumeOffset);
      held.committed = resumeOffset;
    }
    return dealtWith;
  }

  async #outcomesOf(batch: FeedBatch): Promise<BatchOutcome> {
    const { topic, handler, log } = this.#options;
    try {
      return await handler.handle(batch);
    } catch (error) {
      log.error('handling records of a feed failed, will retry', {
        topic,
        shard: batch.partition,
        error,
      });
      return { outcomes: [], resumeOffset: null };
    }
  }
}
