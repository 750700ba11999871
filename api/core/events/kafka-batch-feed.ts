import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import { type Clock, SECOND_MS, type Timer } from '../clock.ts';
import { GROUP_HEARTBEAT_MS, keepBeating } from '../drivers/kafka-heartbeats.ts';
import { KafkaMember } from '../drivers/kafka-member.ts';
import { FEED_RECORDS_AT_ONCE } from '../limits.ts';
import type { Log } from '../log.ts';
import { BatchReader } from './batch-reader.ts';
import type { BatchHandler, HandleRecord } from './feed-record.ts';
import { type DeadLetters, openDeadLetters } from './kafka-dead-letters.ts';
import { oneByOne } from './one-by-one.ts';

export interface BatchFeedOptions {
  kafka: Kafka;
  topic: string;
  groupId: string;
  handler: BatchHandler;
  /** Default `FEED_RECORDS_AT_ONCE`. */
  recordsAtOnce?: number;
  clock: Clock;
  log: Log;
  /** Called with the number of those that were dealt with. */
  onRecords: (count: number) => void;
  /** Called for each record that was kept apart. */
  onDeadLetter: () => void;
}

export interface Feed {
  /** Those of its topic that it reads now, with and without records. */
  partitions(): readonly number[];
  /** How old the oldest record is that waits here; 0: none does, as far as could be read. */
  lagMs(): number;
  stop(): Promise<void>;
}

/** A process that says nothing for this long is taken to be dead; until then nobody can join beside it. */
const SESSION_MS = 10 * SECOND_MS;
const FETCH_WAIT_MS = SECOND_MS / 4;
/** All of a topic. */
const PARTITIONS_AT_ONCE = 8;

/**
 * A topic that others write: its records in the order of their partition, each until it is dealt with. The place is
 * kept where the handler says that another process can begin. Whoever is stopped, killed or replaced in between leaves
 * the rest to the next; for a moment two may read the same.
 */
export async function startKafkaBatchFeed(options: BatchFeedOptions): Promise<Feed> {
  const deadLetters = await openDeadLetters(options);
  const feed = new KafkaBatchFeed(options, deadLetters);
  await feed.start();
  return {
    partitions: () => feed.partitions,
    lagMs: () => feed.lagMs,
    async stop() {
      await feed.stop();
      await deadLetters.close();
    },
  };
}

export interface FeedOptions extends Omit<BatchFeedOptions, 'handler' | 'recordsAtOnce'> {
  handle: HandleRecord;
}

/** A topic whose place is kept after every record: a record that waits has none before it dealt with again. */
export const startKafkaFeed = ({ handle, ...options }: FeedOptions): Promise<Feed> =>
  startKafkaBatchFeed({ ...options, handler: oneByOne(handle), recordsAtOnce: 1 });

class KafkaBatchFeed {
  readonly #options: BatchFeedOptions;
  readonly #reader: BatchReader;
  readonly #member: KafkaMember;
  readonly #pauses = new Map<number, Timer>();
  #partitions: readonly number[] = [];

  constructor(options: BatchFeedOptions, deadLetters: DeadLetters) {
    this.#options = options;
    const { kafka, topic, groupId, clock, log } = options;
    this.#reader = new BatchReader({
      topic,
      handler: options.handler,
      recordsAtOnce: options.recordsAtOnce ?? FEED_RECORDS_AT_ONCE,
      async keepApart(record) {
        await deadLetters.keep(record);
        options.onDeadLetter();
      },
      log,
      onRecords: options.onRecords,
    });
    this.#member = new KafkaMember({
      ...{ kafka, topic, clock, partitionsAtOnce: PARTITIONS_AT_ONCE },
      consumer: {
        ...{ groupId, sessionTimeout: SESSION_MS, heartbeatInterval: GROUP_HEARTBEAT_MS },
        maxWaitTimeInMs: FETCH_WAIT_MS,
      },
      readBatch: (consumer, batch) => this.#readBatch(consumer, batch),
      onShare: (consumer, partitions, memberId) => {
        this.#partitions = partitions;
        for (const [partition, next] of this.#reader.share(partitions, memberId)) {
          consumer.seek({ topic, partition, offset: String(next) });
        }
      },
      onOut: () => {
        this.#partitions = [];
        this.#reader.forgetAll();
      },
      onFailure: (error) => log.error('a feed has stopped, it is started anew', { topic, error }),
    });
  }

  get partitions(): readonly number[] {
    return this.#partitions;
  }

  get lagMs(): number {
    const sinceMs = this.#reader.waitsSinceMs;
    return sinceMs === null ? 0 : Math.max(0, this.#options.clock.now() - sinceMs);
  }

  start(): Promise<void> {
    return this.#member.start();
  }

  async stop(): Promise<void> {
    this.#reader.stop();
    for (const timer of this.#pauses.values()) timer.cancel();
    await this.#member.stop();
  }

  async #readBatch(consumer: Consumer, payload: EachBatchPayload): Promise<void> {
    const { batch, heartbeat, isRunning, isStale } = payload;
    const { topic, partition } = batch;
    const beats = keepBeating(this.#options.clock, heartbeat);
    try {
      await this.#reader.read({
        partition,
        records: batch.messages.map(({ offset, key, value, timestamp }) => ({
          offset: BigInt(offset),
          key,
          timeMs: Number(timestamp),
          bytes: value ?? Buffer.alloc(0),
        })),
        atEnd: batch.offsetLag() === '0',
        mayGoOn: () => isRunning() && !isStale(),
        heartbeat,
        resolve: (offset) => payload.resolveOffset(String(offset)),
        commit: (offset) => consumer.commitOffsets([{ topic, partition, offset: String(offset) }]),
        pause: (waitMs) => this.#pauses.set(partition, this.#options.clock.setTimer(waitMs, payload.pause())),
      });
    } finally {
      beats.cancel();
    }
  }
}
