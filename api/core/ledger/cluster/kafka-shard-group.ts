import type { Consumer, EachBatchPayload, Kafka } from 'kafkajs';
import { type Clock, SECOND_MS } from '../../clock.ts';
import { GROUP_HEARTBEAT_MS, keepBeating } from '../../drivers/kafka-heartbeats.ts';
import { KafkaMember } from '../../drivers/kafka-member.ts';
import type { Log } from '../../log.ts';
import { LEDGER_TOPIC } from './kafka-ledger-topic.ts';
import type { ShardReader } from './shard-reader.ts';

export interface ShardGroupOptions {
  kafka: Kafka;
  groupId: string;
  /** For a shard that has come to this process. */
  openReader: (shard: number) => ShardReader;
  clock: Clock;
  log: Log;
}

export interface ShardGroup {
  /** Resolves once nothing is read any more. */
  stop(): Promise<void>;
}

/** A process that says nothing for this long is taken to be dead, and its shards go to others. */
const SESSION_MS = 10 * SECOND_MS;
const FETCH_WAIT_MS = 100;
const SHARDS_AT_ONCE = 64;

/**
 * Shares the shards of the log out among all processes that join. Where to read is the readers' business: what the
 * group remembers is kept for tools that show how far it is. For a while two processes may read one shard.
 */
export async function joinKafkaShardGroup(options: ShardGroupOptions): Promise<ShardGroup> {
  const group = new KafkaShardGroup(options);
  await group.start();
  return group;
}

interface HeldShard {
  reader: ShardReader;
  loaded: Promise<void>;
  /** The offset that was asked for when the broker gave a later one: if it does so again, the record is gone. */
  askedFor: bigint | null;
  committed: bigint;
  stopped: boolean;
}

class KafkaShardGroup implements ShardGroup {
  readonly #options: ShardGroupOptions;
  readonly #held = new Map<number, HeldShard>();
  readonly #member: KafkaMember;
  #stopped = false;

  constructor(options: ShardGroupOptions) {
    this.#options = options;
    const { kafka, groupId, clock, log } = options;
    this.#member = new KafkaMember({
      ...{ kafka, topic: LEDGER_TOPIC, clock, partitionsAtOnce: SHARDS_AT_ONCE },
      consumer: {
        ...{ groupId, sessionTimeout: SESSION_MS, heartbeatInterval: GROUP_HEARTBEAT_MS },
        maxWaitTimeInMs: FETCH_WAIT_MS,
      },
      readBatch: (consumer, batch) => this.#readBatch(consumer, batch),
      onShare: (consumer, shards) => this.#share(consumer, new Set(shards)),
      onFailure: (error) =>
        log.error('the log is no longer read, it is tried again', { topic: LEDGER_TOPIC, error }),
    });
  }

  start(): Promise<void> {
    return this.#member.start();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    for (const { reader } of this.#held.values()) reader.close();
    this.#held.clear();
    await this.#member.stop();
  }

  /** What this process keeps it reads on: its reader knows more than the store does. */
  #share(consumer: Consumer, shards: ReadonlySet<number>): void {
    for (const [shard, { reader }] of this.#held) {
      if (shards.has(shard)) continue;
      this.#held.delete(shard);
      reader.close();
    }
    if (this.#stopped) return;
    for (const shard of shards) {
      const held = this.#held.get(shard) ?? this.#hold(shard);
      // A reader that was closed while it loaded asks for nothing.
      held.loaded.then(
        () => this.#seek(consumer, shard, held.reader.next),
        () => undefined,
      );
    }
  }

  #hold(shard: number): HeldShard {
    const reader = this.#options.openReader(shard);
    const held = { reader, loaded: reader.load(), askedFor: null, committed: -1n, stopped: false };
    this.#held.set(shard, held);
    return held;
  }

  #seek(consumer: Consumer, shard: number, offset: bigint): void {
    if (!this.#member.isCurrent(consumer)) return;
    consumer.seek({ topic: LEDGER_TOPIC, partition: shard, offset: String(offset) });
  }

  async #readBatch(consumer: Consumer, payload: EachBatchPayload): Promise<void> {
    const shard = payload.batch.partition;
    const held = this.#held.get(shard);
    if (held === undefined) return;
    const beats = keepBeating(this.#options.clock, payload.heartbeat);
    try {
      await held.loaded;
      if (held.stopped) payload.pause();
      else await this.#readOn(consumer, shard, held, payload);
    } catch (error) {
      if (this.#held.get(shard) !== held) return;
      held.stopped = true;
      payload.pause();
      this.#options.log.error('a shard is stopped, because its log cannot be followed', { shard, error });
    } finally {
      beats.cancel();
    }
  }

  async #readOn(
    consumer: Consumer,
    shard: number,
    held: HeldShard,
    { batch, resolveOffset }: EachBatchPayload,
  ): Promise<void> {
    const { reader } = held;
    const records = batch.messages
      .map(({ offset, timestamp, value }) => ({
        offset: BigInt(offset),
        appendedAtMs: Number(timestamp),
        // A record without a value is none of ours: its reader decides what that means.
        bytes: value ?? Buffer.alloc(0),
      }))
      .filter(({ offset }) => offset >= reader.next);
    const [first] = records;
    const isElsewhere = first === undefined || (first.offset > reader.next && held.askedFor !== reader.next);
    if (isElsewhere) {
      held.askedFor = reader.next;
      this.#seek(consumer, shard, reader.next);
      return;
    }
    await reader.read(records, BigInt(batch.highWatermark));
    resolveOffset(String(reader.next - 1n));
    if (reader.kept <= held.committed) return;
    held.committed = reader.kept;
    // Whoever looks at it sees an older place where this fails, and nobody else does.
    void consumer
      .commitOffsets([{ topic: LEDGER_TOPIC, partition: shard, offset: String(reader.kept) }])
      .catch(() => undefined);
  }
}
