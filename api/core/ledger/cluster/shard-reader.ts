import type { StoredRecord } from './ledger-log.ts';

/** Follows one shard's log, for as long as this process has the shard. */
export interface ShardReader {
  /** Until it knows where to begin. Rejects only once it was closed. */
  load(): Promise<void>;
  /** The offset of the record that it takes next. */
  readonly next: bigint;
  /** What lies before this offset need never be read again. */
  readonly kept: bigint;
  /**
   * Records from `next` on, in order; more come when it resolves. `end` is the offset behind the log's last record.
   * Rejects where nothing may follow, or once it was closed.
   */
  read(records: readonly StoredRecord[], end: bigint): Promise<void>;
  /** Somebody else has the shard now, or nobody. */
  close(): void;
}
