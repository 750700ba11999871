import { type Consumer, type EachBatchPayload, type Kafka, Partitioners, type Producer } from 'kafkajs';
import { type Clock, SECOND_MS } from '../clock.ts';
import { KafkaMember } from '../drivers/kafka-member.ts';
import type { Log } from '../log.ts';
import type { HandleRecord, RecordOutcome } from './feed-record.ts';

export interface FeedOptions {
  kafka: Kafka;
  topic: string;
  groupId: string;
  handle: HandleRecord;
  clock: Clock;
  log: Log;
  /** Called for each record that was kept apart. */
  onDeadLetter: () => void;
}

export interface Feed {
  stop(): Promise<void>;
}

export const deadLetterTopic = (topic: string): string => `${topic}.dlq`;

/** A process that says nothing for this long is taken to be dead; until then nobody can join beside it. */
const SESSION_MS = 10 * SECOND_MS;
const RETRY_MS = SECOND_MS / 4;
const RETRY_MAX_MS = 5 * SECOND_MS;
const PARTITIONS_AT_ONCE = 4;

/**
 * A topic that others write: each record until it is dealt with, in the order of its partition, and only then is the
 * place kept. Whoever is stopped, killed or replaced in between leaves the record to the next.
 */
export async function startKafkaFeed(options: FeedOptions): Promise<Feed> {
  const producer = options.kafka.producer({
    createPartitioner: Partitioners.DefaultPartitioner,
    allowAutoTopicCreation: false,
  });
  await producer.connect();
  const reader = new FeedReader(options, producer);
  await reader.start();
  return {
    async stop() {
      await reader.stop();
      await producer.disconnect();
    },
  };
}

class FeedReader {
  readonly #options: FeedOptions;
  readonly #producer: Producer;
  readonly #member: KafkaMember;
  #stopped = false;
  readonly #waits = new Set<() => void>();

  constructor(options: FeedOptions, producer: Producer) {
    this.#options = options;
    this.#producer = producer;
    const { kafka, topic, groupId, clock, log } = options;
    this.#member = new KafkaMember({
      ...{ kafka, topic, clock, consumer: { groupId, sessionTimeout: SESSION_MS } },
      partitionsAtOnce: PARTITIONS_AT_ONCE,
      readBatch: (consumer, batch) => this.#readBatch(consumer, batch),
      onFailure: (error) => log.error('a feed has stopped, it is started anew', { topic, error }),
    });
  }

  start(): Promise<void> {
    return this.#member.start();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const end of this.#waits) end();
    await this.#member.stop();
  }

  async #readBatch(consumer: Consumer, payload: EachBatchPayload): Promise<void> {
    const { batch, heartbeat, isRunning, isStale } = payload;
    const mayGoOn = () => !this.#stopped && isRunning() && !isStale();
    for (const { offset, key, value } of batch.messages) {
      const bytes = value ?? Buffer.alloc(0);
      const outcome = await this.#dealWith(bytes, mayGoOn, heartbeat);
      if (outcome === null) return;
      if (outcome.outcome === 'dead_letter') {
        await this.#keepApart({ partition: batch.partition, offset, key, bytes, reason: outcome.reason });
      }
      const { topic, partition } = batch;
      await consumer.commitOffsets([{ topic, partition, offset: String(BigInt(offset) + 1n) }]);
      payload.resolveOffset(offset);
      await heartbeat();
    }
  }

  /** `null`: somebody else reads on from here. */
  async #dealWith(
    bytes: Buffer,
    mayGoOn: () => boolean,
    heartbeat: () => Promise<void>,
  ): Promise<RecordOutcome | null> {
    for (let waitMs = RETRY_MS; mayGoOn(); waitMs = Math.min(2 * waitMs, RETRY_MAX_MS)) {
      try {
        const outcome = await this.#options.handle(bytes);
        if (outcome.outcome !== 'try_again') return outcome;
      } catch (error) {
        const { topic, log } = this.#options;
        log.error('a record of a feed could not be dealt with, it is tried again', { topic, error });
      }
      await this.#wait(waitMs);
      await heartbeat();
    }
    return null;
  }

  #wait(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        timer.cancel();
        this.#waits.delete(end);
        resolve();
      };
      const timer = this.#options.clock.setTimer(waitMs, end);
      this.#waits.add(end);
    });
  }

  async #keepApart(record: {
    partition: number;
    offset: string;
    key: Buffer | null;
    bytes: Buffer;
    reason: string;
  }): Promise<void> {
    const { topic, log, onDeadLetter } = this.#options;
    const { partition, offset, key, bytes, reason } = record;
    const headers = { reason, topic, partition: String(partition), offset };
    await this.#producer.send({
      topic: deadLetterTopic(topic),
      acks: -1,
      messages: [{ key, value: bytes, headers }],
    });
    log.error('a record of a feed was kept apart', { topic, shard: partition, offset, cause: reason });
    onDeadLetter();
  }
}
