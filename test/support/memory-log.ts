import type { LedgerLog, OnRecord, StoredRecord } from '#core/ledger/cluster/ledger-log.ts';

/** What becomes of an append, as with a broker that is slow, dies, or whose answer is lost. */
export type AppendFate =
  | 'stored'
  | 'stored twice'
  | 'stored, answer lost'
  | 'lost'
  | 'stored later, answer lost';

export interface MemoryLog extends LedgerLog {
  /** What a shard's partition holds. */
  texts(shard: number): string[];
  /** What waits to be stored late is stored now. */
  storeLate(): void;
  /** Records before this offset are gone, as after their retention. */
  cut(shard: number, before: bigint): void;
}

/** A log in memory whose appends meet the fates that a test draws. */
export function createMemoryLog(
  shards: number,
  fate: () => AppendFate = () => 'stored',
  nowMs: () => number = () => 0,
): MemoryLog {
  const partitions = Array.from({ length: shards }, (): StoredRecord[] => []);
  const begins = new Map<number, bigint>();
  const tails = new Set<{ from: ReadonlyMap<number, bigint>; onRecord: OnRecord }>();
  let late: (() => void)[] = [];

  function store(shard: number, texts: readonly string[]): void {
    for (const text of texts) {
      const partition = partitions[shard] ?? [];
      const record = { offset: BigInt(partition.length), appendedAtMs: nowMs(), bytes: Buffer.from(text) };
      partition.push(record);
      for (const { from, onRecord } of tails) {
        if (record.offset >= (from.get(shard) ?? 0n)) onRecord(shard, record);
      }
    }
  }

  function replay(from: ReadonlyMap<number, bigint>, onRecord: OnRecord): void {
    for (const [shard, offset] of from) {
      const first = Math.max(Number(offset), Number(begins.get(shard) ?? 0));
      for (const record of (partitions[shard] ?? []).slice(first)) onRecord(shard, record);
    }
  }

  return {
    texts: (shard) => (partitions[shard] ?? []).map(({ bytes }) => bytes.toString()),
    storeLate() {
      const stored = late;
      late = [];
      for (const one of stored) one();
    },
    cut: (shard, before) => void begins.set(shard, before),
    async append(shard, texts) {
      const what = fate();
      if (what === 'stored later, answer lost') late.push(() => store(shard, texts));
      else if (what !== 'lost') store(shard, texts);
      if (what === 'stored twice') store(shard, texts);
      if (what !== 'stored' && what !== 'stored twice') throw new Error('no answer from the log');
    },
    ends: async () => new Map(partitions.map((records, shard) => [shard, BigInt(records.length)])),
    readToEnd: async (from, onRecord) => replay(from, onRecord),
    async tail(from, onRecord) {
      replay(from, onRecord);
      const tail = { from, onRecord };
      tails.add(tail);
      return { stop: async () => void tails.delete(tail) };
    },
    async close() {},
  };
}
