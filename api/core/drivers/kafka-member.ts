import type { Consumer, ConsumerConfig, EachBatchPayload, Kafka } from 'kafkajs';
import { type Clock, SECOND_MS, type Timer } from '../clock.ts';

export interface KafkaMemberOptions {
  kafka: Kafka;
  topic: string;
  consumer: ConsumerConfig;
  partitionsAtOnce: number;
  clock: Clock;
  readBatch: (consumer: Consumer, batch: EachBatchPayload) => Promise<void>;
  /**
   * The partitions that this member has from now on, of all members. While its id stays the same it has been in every
   * sharing out: what it had before and has now, nobody else has had in between.
   */
  onShare?: (consumer: Consumer, partitions: readonly number[], memberId: string) => void;
  /** It has no partitions until it is back. */
  onOut?: () => void;
  /** It is out, and begins anew by itself. */
  onFailure: (error: unknown) => void;
}

const RESTART_MS = SECOND_MS;

/** A member of a consumer group for as long as it is wanted. Nothing is committed but what its owner commits. */
export class KafkaMember {
  readonly #options: KafkaMemberOptions;
  #consumer: Consumer | null = null;
  #restart: Timer | null = null;
  #stopped = false;

  constructor(options: KafkaMemberOptions) {
    this.#options = options;
  }

  /** Rejects where the first start fails; later ones are tried again. */
  async start(): Promise<void> {
    const { kafka, topic, consumer: config, partitionsAtOnce, readBatch, onShare, onOut } = this.#options;
    const consumer = kafka.consumer({ ...config, allowAutoTopicCreation: false });
    this.#consumer = consumer;
    consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
      onShare?.(consumer, payload.memberAssignment[topic] ?? [], payload.memberId);
    });
    // The client restarts by itself after what it takes for passing; after the rest it would stay silent for ever.
    consumer.on(consumer.events.CRASH, ({ payload }) => {
      onOut?.();
      if (!payload.restart) this.#startAnew(consumer, payload.error);
    });
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      partitionsConsumedConcurrently: partitionsAtOnce,
      eachBatchAutoResolve: false,
      eachBatch: (batch) => readBatch(consumer, batch),
    });
  }

  /** Resolves once nothing is read any more. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#restart?.cancel();
    await this.#consumer?.disconnect();
  }

  /** Whether this one reads on: the one before it may still end. */
  isCurrent(consumer: Consumer): boolean {
    return !this.#stopped && this.#consumer === consumer;
  }

  #startAnew(consumer: Consumer, error: unknown): void {
    const { clock, onFailure } = this.#options;
    if (!this.isCurrent(consumer)) return;
    onFailure(error);
    this.#consumer = null;
    this.#restart = clock.setTimer(RESTART_MS, () => {
      void consumer
        .disconnect()
        .catch(() => undefined)
        .then(() => (this.#stopped ? undefined : this.start()))
        .catch((failure: unknown) => {
          const failed = this.#consumer;
          if (failed !== null) this.#startAnew(failed, failure);
        });
    });
  }
}
