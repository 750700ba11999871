import kafkajs, { type Kafka } from 'kafkajs';
import { createKafkaCluster, type KafkaCluster } from '../../drivers/kafka-cluster.ts';
import type { OnRecord } from './ledger-log.ts';

export interface KafkaReaderOptions {
  kafka: Kafka;
  topic: string;
  /** For each shard the first offset that is wanted. */
  from: ReadonlyMap<number, bigint>;
  onRecord: OnRecord;
}

/** A broker answers as soon as there is something; without anything, after this long. */
const FETCH_WAIT_MS = 500;
const FETCH_BYTES = 10 * 1024 * 1024;
const PARTITION_BYTES = 1024 * 1024;

/**
 * Reads some partitions by offset, over one connection to each of their leaders. After any failure it knows how far it
 * has come, and `read` may be called again.
 */
export class KafkaReader {
  readonly #options: KafkaReaderOptions;
  readonly #next: Map<number, bigint>;
  #cluster: KafkaCluster | null = null;
  #stopped = false;
  /** Records that it has told of, for whoever wants to know whether it gets on. */
  records = 0;

  constructor(options: KafkaReaderOptions) {
    this.#options = options;
    this.#next = new Map(options.from);
  }

  /** Resolves once it has been stopped, or has come to these ends; rejects with what failed. */
  async read(ends: ReadonlyMap<number, bigint> | null): Promise<void> {
    if (this.#stopped) return;
    const { kafka, topic } = this.#options;
    const cluster = createKafkaCluster(kafka);
    this.#cluster = cluster;
    try {
      await cluster.connect();
      await cluster.addMultipleTargetTopics([topic]);
      const shards = this.#shardsLeft([...this.#next.keys()], ends);
      const led = Object.entries(cluster.findLeaderForPartitions(topic, shards));
      if (led.flatMap(([, some]) => some).length < shards.length)
        throw new Error(`${topic} has too few partitions`);
      await Promise.all(led.map(([nodeId, some]) => this.#readFrom(cluster, nodeId, some, ends)));
    } catch (error) {
      if (!this.#stopped) throw error;
    } finally {
      this.#cluster = null;
      // Ends what the other leaders are still asked, too.
      await cluster.disconnect().catch(() => undefined);
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#cluster?.disconnect().catch(() => undefined);
  }

  async #readFrom(
    cluster: KafkaCluster,
    nodeId: string,
    shards: readonly number[],
    ends: ReadonlyMap<number, bigint> | null,
  ): Promise<void> {
    const { topic } = this.#options;
    for (;;) {
      const left = this.#shardsLeft(shards, ends);
      if (left.length === 0 || this.#cluster !== cluster) return;
      const broker = await cluster.findBroker({ nodeId });
      const partitions = left.map((partition) => ({
        partition,
        fetchOffset: String(this.#next.get(partition) ?? 0n),
        maxBytes: PARTITION_BYTES,
      }));
      const fetched = await broker
        .fetch({
          maxWaitTime: FETCH_WAIT_MS,
          minBytes: 1,
          maxBytes: FETCH_BYTES,
          topics: [{ topic, partitions }],
        })
        .catch((error: unknown) => this.#goOnBehind(cluster, error));
      for (const { partitions: some } of fetched?.responses ?? []) {
        for (const { partition, messages } of some) {
          for (const { offset, timestamp, value } of messages) {
            this.#take(partition, BigInt(offset), Number(timestamp), value, ends);
          }
        }
      }
    }
  }

  /**
   * What the log no longer has is passed over, for whoever counts the offsets to see. One shard's would else keep all
   * others of its leader waiting for ever.
   */
  async #goOnBehind(cluster: KafkaCluster, error: unknown): Promise<null> {
    if (!(error instanceof kafkajs.KafkaJSOffsetOutOfRange)) throw error;
    const { topic } = this.#options;
    const { partition } = error;
    const [first] = await cluster.fetchTopicsOffset([
      { topic, partitions: [{ partition }], fromBeginning: true },
    ]);
    const start = BigInt(first?.partitions[0]?.offset ?? -1);
    // Behind the end there is nothing to go on with.
    if (start <= (this.#next.get(partition) ?? 0n)) throw error;
    this.#next.set(partition, start);
    return null;
  }

  #take(
    shard: number,
    offset: bigint,
    appendedAtMs: number,
    value: Buffer | null,
    ends: ReadonlyMap<number, bigint> | null,
  ): void {
    const next = this.#next.get(shard);
    // Records are fetched in the batches in which they were appended.
    if (this.#stopped || next === undefined || offset < next) return;
    const end = ends?.get(shard);
    if (end !== undefined && offset >= end) return;
    this.#next.set(shard, offset + 1n);
    this.records++;
    // A record without a value is none of ours: its reader decides what that means.
    this.#options.onRecord(shard, { offset, appendedAtMs, bytes: value ?? Buffer.alloc(0) });
  }

  #shardsLeft(shards: readonly number[], ends: ReadonlyMap<number, bigint> | null): number[] {
    if (this.#stopped) return [];
    if (ends === null) return [...shards];
    return shards.filter((shard) => (this.#next.get(shard) ?? 0n) < (ends.get(shard) ?? 0n));
  }
}
