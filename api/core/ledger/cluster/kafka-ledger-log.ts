import { randomBytes } from 'node:crypto';
import { type Consumer, type Kafka, Partitioners, type Producer } from 'kafkajs';
import type { LedgerLog, LogTail, StoredRecord } from './ledger-log.ts';

export const LEDGER_TOPIC = 'ledger.v1';

const ALL_REPLICAS = -1;
const FETCH_WAIT_MS = 5;
/** Of the group that each reader forms with itself alone; kafkajs reads in no other way. */
const SESSION_MS = 30_000;

/**
 * The log on Kafka: plain records, one request in flight a shard, no idempotent producer, whose errors stop some
 * clients until a restart; duplicates are dropped by their place instead.
 */
export async function openKafkaLedgerLog(kafka: Kafka): Promise<LedgerLog> {
  const producer = kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    allowAutoTopicCreation: false,
    idempotent: false,
    retry: { retries: 0 },
  });
  await producer.connect();
  return new KafkaLedgerLog(kafka, producer);
}

class KafkaLedgerLog implements LedgerLog {
  readonly #kafka: Kafka;
  readonly #producer: Producer;
  readonly #consumers = new Set<Consumer>();

  constructor(kafka: Kafka, producer: Producer) {
    this.#kafka = kafka;
    this.#producer = producer;
  }

  async append(shard: number, texts: readonly string[]): Promise<void> {
    const messages = texts.map((value) => ({ key: String(shard), value, partition: shard }));
    await this.#producer.send({ topic: LEDGER_TOPIC, acks: ALL_REPLICAS, messages });
  }

  async ends(): Promise<Map<number, bigint>> {
    const admin = this.#kafka.admin();
    await admin.connect();
    try {
      const offsets = await admin.fetchTopicOffsets(LEDGER_TOPIC);
      return new Map(offsets.map(({ partition, high }) => [partition, BigInt(high)]));
    } finally {
      await admin.disconnect();
    }
  }

  async readToEnd(
    from: ReadonlyMap<number, bigint>,
    onRecord: (shard: number, record: StoredRecord) => void,
  ): Promise<void> {
    const ends = await this.ends();
    const left = new Map<number, bigint>();
    for (const [shard, offset] of from) {
      const end = ends.get(shard) ?? 0n;
      if (offset < end) left.set(shard, end);
    }
    if (left.size === 0) return;
    let finish = () => {};
    const finished = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const tail = await this.tail(from, (shard, record) => {
      const end = left.get(shard);
      if (end === undefined || record.offset >= end) return;
      onRecord(shard, record);
      if (record.offset < end - 1n) return;
      left.delete(shard);
      if (left.size === 0) finish();
    });
    await finished;
    await tail.stop();
  }

  async tail(
    from: ReadonlyMap<number, bigint>,
    onRecord: (shard: number, record: StoredRecord) => void,
  ): Promise<LogTail> {
    const consumer = this.#kafka.consumer({
      groupId: `faregate-log-${randomBytes(8).toString('hex')}`,
      sessionTimeout: SESSION_MS,
      maxWaitTimeInMs: FETCH_WAIT_MS,
      allowAutoTopicCreation: false,
    });
    this.#consumers.add(consumer);
    await consumer.connect();
    await consumer.subscribe({ topics: [LEDGER_TOPIC], fromBeginning: true });
    const next = new Map(from);
    const joined = new Promise<void>((resolve) => {
      consumer.on(consumer.events.GROUP_JOIN, () => resolve());
    });
    await consumer.run({
      autoCommit: false,
      // All partitions are this reader's: it waits for none of them while it works on another.
      partitionsConsumedConcurrently: 1,
      eachBatchAutoResolve: true,
      async eachBatch({ batch }) {
        for (const { offset, timestamp, value } of batch.messages) {
          const at = BigInt(offset);
          const expected = next.get(batch.partition);
          // Before the seek took effect, or fetched twice.
          if (expected === undefined || at < expected) continue;
          // A record without a value is none of ours: its reader decides what that means.
          const bytes = value ?? Buffer.alloc(0);
          onRecord(batch.partition, { offset: at, appendedAtMs: Number(timestamp), bytes });
          next.set(batch.partition, at + 1n);
        }
      },
    });
    await joined;
    for (const [partition, offset] of from) {
      consumer.seek({ topic: LEDGER_TOPIC, partition, offset: String(offset) });
    }
    return {
      stop: async () => {
        this.#consumers.delete(consumer);
        await consumer.disconnect();
      },
    };
  }

  async close(): Promise<void> {
    for (const consumer of this.#consumers) await consumer.disconnect();
    await this.#producer.disconnect();
  }
}

export interface LedgerTopicOptions {
  shards: number;
  replicationFactor: number;
  minInsyncReplicas: number;
  retentionMs: number;
}

/** Makes the topic when it is missing, and resolves once every partition has a leader. */
export async function ensureLedgerTopic(kafka: Kafka, options: LedgerTopicOptions): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    await admin.createTopics({
      waitForLeaders: true,
      topics: [
        {
          topic: LEDGER_TOPIC,
          numPartitions: options.shards,
          replicationFactor: options.replicationFactor,
          configEntries: [
            { name: 'min.insync.replicas', value: String(options.minInsyncReplicas) },
            { name: 'retention.ms', value: String(options.retentionMs) },
            { name: 'cleanup.policy', value: 'delete' },
            // The log's own time: what takes time irreversibly asks it, not a pod's clock.
            { name: 'message.timestamp.type', value: 'LogAppendTime' },
          ],
        },
      ],
    });
  } finally {
    await admin.disconnect();
  }
}
