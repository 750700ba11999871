import { randomBytes } from 'node:crypto';
import { type Clock, every } from '../../clock.ts';
import { listenToRedis, type RedisClient } from '../../drivers/redis.ts';
import type { LedgerEvent } from '../../events/ledger-event.ts';
import type { Log } from '../../log.ts';
import type { AgentStates } from './agent-states.ts';
import type { LedgerLog } from './ledger-log.ts';
import { ShardKeys } from './redis-keys.ts';
import type { RedisScripts } from './redis-scripts.ts';
import { ShardPublisher } from './shard-publisher.ts';

export interface PublisherOptions {
  redis: RedisClient;
  scripts: RedisScripts;
  log: LedgerLog;
  states: AgentStates;
  shards: number;
  clock: Clock;
  logger: Log;
  /** Of what has come to count in a shard that this process leads: some may be missed, none comes that never happened. */
  onEvent?: (event: LedgerEvent) => void;
  /** Called when a shard that this process leads is open again. The process may have missed events until then. */
  onOpen?: (shard: number) => void;
}

export interface Publisher {
  /** Shards that decide, as far as this process publishes them. */
  readonly openShards: number;
  /** What this process publishes; of the others another one does, or nobody yet. */
  readonly ledShards: number[];
  /** Shards that this process has given up, because their log holds what nobody can read. */
  readonly poisonedShards: number;
  /** By the log's own clock, as far as its records have come here; 0: none has. */
  logTimeMs(shard: number): number;
  stop(): Promise<void>;
}

/** Publishes every shard, and rebuilds those whose node has changed. Resolves once all have been looked at. */
export async function startPublisher(options: PublisherOptions): Promise<Publisher> {
  const { redis, log, shards } = options;
  const keys = Array.from({ length: shards }, (_, shard) => new ShardKeys(shard));
  const recoverer = randomBytes(8).toString('hex');
  // An open shard's log may be ahead of what was acknowledged; of another one the recovery reads all there is.
  const from = await log.ends();
  for (const [shard, of] of keys.entries()) {
    const [word, , , offset] = await options.scripts.run('position', [of.meta, of.outbox], []);
    if (word === 'OK') from.set(shard, BigInt(String(offset)));
  }
  const publishers = keys.map(
    (of, shard) =>
      new ShardPublisher({ ...options, recoverer, shard, keys: of, tailFrom: from.get(shard) ?? 0n }),
  );
  const byChannel = new Map(keys.map((of, shard) => [of.wakeChannel, publishers[shard]]));
  const listener = await listenToRedis(redis, [...byChannel.keys()], (channel, message) => {
    const publisher = byChannel.get(channel);
    if (message === 'free') publisher?.takeOver();
    else publisher?.wake();
  });
  const tail = await log.tail(from, (shard, record) => publishers[shard]?.onRecord(record));
  const wakeAll = () => {
    for (const publisher of publishers) publisher.wake();
  };
  wakeAll();
  const timer = every(options.clock, POLL_MS, wakeAll);
  return {
    get openShards() {
      return publishers.filter(({ isOpen }) => isOpen).length;
    },
    get ledShards() {
      return publishers.flatMap(({ isLeading }, shard) => (isLeading ? [shard] : []));
    },
    get poisonedShards() {
      return publishers.filter(({ isPoisoned }) => isPoisoned).length;
    },
    logTimeMs: (shard) => publishers[shard]?.logTimeMs ?? 0,
    async stop() {
      timer.cancel();
      await Promise.all(publishers.map((publisher) => publisher.stop()));
      listener.disconnect();
      await tail.stop();
    },
  };
}

/** Where a wake-up was lost. */
const POLL_MS = 250;
