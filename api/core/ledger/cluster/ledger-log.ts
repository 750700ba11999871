/**
 * The log that remembers what Redis decided: one ordered partition a shard. An append that fails may still arrive,
 * late or twice: only what was read back counts.
 */
export interface LedgerLog {
  /** In this order. Rejects when no acknowledgement came; the records may be there all the same. */
  append(shard: number, texts: readonly string[]): Promise<void>;
  /** For each shard the offset behind its last record. */
  ends(): Promise<Map<number, bigint>>;
  /** Every record of these shards from these offsets on, in each shard's order, up to the ends at the call. */
  readToEnd(from: ReadonlyMap<number, bigint>, onRecord: OnRecord): Promise<void>;
  /** The same without an end, until `stop`. */
  tail(from: ReadonlyMap<number, bigint>, onRecord: OnRecord): Promise<LogTail>;
  close(): Promise<void>;
}

export type OnRecord = (shard: number, record: StoredRecord) => void;

export interface StoredRecord {
  offset: bigint;
  /** By the log's own clock. */
  appendedAtMs: number;
  bytes: Buffer;
}

export interface LogTail {
  stop(): Promise<void>;
}
