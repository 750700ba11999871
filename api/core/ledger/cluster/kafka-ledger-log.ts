import kafkajs, { type Kafka, type Producer } from 'kafkajs';
import { type Clock, SECOND_MS, wait } from '../../clock.ts';
import { createKafkaCluster, type KafkaCluster } from '../../drivers/kafka-cluster.ts';
import { openProducer } from '../../drivers/kafka-producer.ts';
import { limitTasks } from '../../limit-tasks.ts';
import type { Log } from '../../log.ts';
import { AppendLanes, type ShardTexts } from './append-lanes.ts';
import { LEDGER_TOPIC } from './kafka-ledger-topic.ts';
import { KafkaReader } from './kafka-reader.ts';
import type { LedgerLog, LogTail, OnRecord } from './ledger-log.ts';

export interface KafkaLedgerLogOptions {
  shards: number;
  clock: Clock;
  logger: Log;
}

const ALL_REPLICAS = -1;
/** After a broker that does not answer. */
const RETRY_MS = SECOND_MS / 4;
const ENDS_TRIES = 4;
/** More at once would only wait for the same thread, with their records in memory. */
const READS_AT_ONCE = 4;

/**
 * The log on Kafka: plain records, one append in flight a shard, no idempotent producer, whose errors stop some
 * clients until a restart; duplicates are dropped by their place instead.
 */
export async function openKafkaLedgerLog(kafka: Kafka, options: KafkaLedgerLogOptions): Promise<LedgerLog> {
  const producer = await openProducer(kafka, { idempotent: false, retry: { retries: 0 } });
  return new KafkaLedgerLog(kafka, producer, options);
}

class KafkaLedgerLog implements LedgerLog {
  readonly #kafka: Kafka;
  readonly #producer: Producer;
  readonly #lanes: AppendLanes;
  readonly #options: KafkaLedgerLogOptions;
  readonly #shards: readonly number[];
  readonly #tails = new Set<LogTail>();
  readonly #inTurn = limitTasks(READS_AT_ONCE);

  constructor(kafka: Kafka, producer: Producer, options: KafkaLedgerLogOptions) {
    this.#kafka = kafka;
    this.#producer = producer;
    this.#lanes = new AppendLanes({
      clock: options.clock,
      send: (some) => this.#send(some),
      leaders: () => this.#askLeaders(),
      isRefusal: isKafkaRefusal,
    });
    this.#options = options;
    this.#shards = Array.from({ length: options.shards }, (_, shard) => shard);
  }

  append(shard: number, texts: readonly string[]): Promise<void> {
    return this.#lanes.append(shard, texts);
  }

  async #send(some: readonly ShardTexts[]): Promise<void> {
    const messages = some.flatMap(({ shard, texts }) =>
      texts.map((value) => ({ key: String(shard), value, partition: shard })),
    );
    await this.#producer.send({ topic: LEDGER_TOPIC, acks: ALL_REPLICAS, messages });
  }

  async ends(): Promise<Map<number, bigint>> {
    return this.#endsOf(this.#shards);
  }

  readToEnd(from: ReadonlyMap<number, bigint>, onRecord: OnRecord): Promise<void> {
    return this.#inTurn(() => this.#readToEnd(from, onRecord));
  }

  async #readToEnd(from: ReadonlyMap<number, bigint>, onRecord: OnRecord): Promise<void> {
    const ends = await this.#endsOf([...from.keys()]);
    if ([...from].every(([shard, offset]) => offset >= (ends.get(shard) ?? 0n))) return;
    const reader = new KafkaReader({ kafka: this.#kafka, topic: LEDGER_TOPIC, from, onRecord });
    for (let read = -1; ; ) {
      try {
        return await reader.read(ends);
      } catch (error) {
        // A connection may be lost on a long way; but where nothing came over it, trying again is the caller's.
        if (reader.records === read || reader.records === 0) throw error;
        read = reader.records;
      }
    }
  }

  /** A tail never ends by itself: whatever happens to its brokers, it goes on where it was. */
  async tail(from: ReadonlyMap<number, bigint>, onRecord: OnRecord): Promise<LogTail> {
    const { clock, logger } = this.#options;
    const reader = new KafkaReader({ kafka: this.#kafka, topic: LEDGER_TOPIC, from, onRecord });
    let isStopped = false;
    const run = async (): Promise<void> => {
      while (!isStopped) {
        try {
          await reader.read(null);
        } catch (error) {
          logger.warn('the log cannot be followed, it is tried again', { error });
          await wait(clock, RETRY_MS);
        }
      }
    };
    const ended = run();
    const tail: LogTail = {
      stop: async () => {
        isStopped = true;
        this.#tails.delete(tail);
        await reader.stop();
        await ended;
      },
    };
    this.#tails.add(tail);
    return tail;
  }

  async close(): Promise<void> {
    for (const tail of this.#tails) await tail.stop();
    await this.#producer.disconnect();
  }

  /** A topic that was just made, or whose leaders just changed, may need a moment to know them. */
  async #endsOf(shards: readonly number[]): Promise<Map<number, bigint>> {
    for (let triesLeft = ENDS_TRIES; ; triesLeft--) {
      try {
        return await this.#askEnds(shards);
      } catch (error) {
        if (triesLeft === 1) throw error;
        await wait(this.#options.clock, RETRY_MS);
      }
    }
  }

  #askEnds(shards: readonly number[]): Promise<Map<number, bigint>> {
    return this.#withCluster(async (cluster) => {
      const partitions = shards.map((partition) => ({ partition }));
      const [topic] = await cluster.fetchTopicsOffset([
        { topic: LEDGER_TOPIC, partitions, fromBeginning: false },
      ]);
      return new Map(topic?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]));
    });
  }

  #askLeaders(): Promise<Map<number, string>> {
    return this.#withCluster(async (cluster) => {
      const led = Object.entries(cluster.findLeaderForPartitions(LEDGER_TOPIC, this.#shards));
      return new Map(led.flatMap(([node, some]) => some.map((shard) => [shard, node] as const)));
    });
  }

  async #withCluster<T>(use: (cluster: KafkaCluster) => Promise<T>): Promise<T> {
    const cluster = createKafkaCluster(this.#kafka);
    try {
      await cluster.connect();
      await cluster.addMultipleTargetTopics([LEDGER_TOPIC]);
      return await use(cluster);
    } finally {
      await cluster.disconnect().catch(() => undefined);
    }
  }
}

/** A broker answered with an error of the protocol. kafkajs wraps those after which it would have tried again. */
export function isKafkaRefusal(error: unknown): boolean {
  const why = error instanceof kafkajs.KafkaJSNumberOfRetriesExceeded ? error.cause : error;
  return why instanceof kafkajs.KafkaJSProtocolError;
}
