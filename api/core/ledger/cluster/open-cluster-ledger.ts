import { type Clock, every, SECOND_MS } from '../../clock.ts';
import { listenToRedis, openRedis, type RedisAddress, type RedisClient } from '../../drivers/redis.ts';
import type { Log } from '../../log.ts';
import { Acknowledgements } from './acknowledgements.ts';
import { checkRedis, UnsafeRedisError } from './redis-check.ts';
import { ShardKeys } from './redis-keys.ts';
import { createRedisLedger, type RedisLedger } from './redis-ledger.ts';
import { createRedisScripts } from './redis-scripts.ts';

/** How often a process asks whether a closed shard has opened. */
export const SHARDS_POLL_MS = SECOND_MS;

export interface ClusterLedgerOptions {
  address: RedisAddress;
  shards: number;
  clock: Clock;
  /** How long a decision may wait for the log; missing: `GATE_TIMEOUT_MS`. */
  gateTimeoutMs?: number | undefined;
  log: Log;
  /** A Redis that may lose money is only warned of. */
  allowUnsafe: boolean;
  /** Reports the time of a node's clock as it was a moment ago, about once a second. */
  onNodeTime?: (nodeMs: number) => void;
}

export interface ClusterLedger {
  ledger: RedisLedger;
  /** For what else asks this Redis, such as a publisher. */
  redis: RedisClient;
  /** Decisions that wait for the log. */
  waiting(): number;
  close(): Promise<void>;
}

/** What an API process has of the cluster's ledger. Rejects when Redis cannot be reached or must not be used. */
export async function openClusterLedger(options: ClusterLedgerOptions): Promise<ClusterLedger> {
  const { address, shards, clock, gateTimeoutMs, log, allowUnsafe, onNodeTime } = options;
  const redis = await openRedis(address);
  let listener: RedisClient | null = null;
  const disconnect = () => {
    redis.disconnect();
    listener?.disconnect();
  };
  try {
    const problems = await checkRedis(redis);
    if (problems.length > 0 && !allowUnsafe) throw new UnsafeRedisError(problems);
    for (const problem of problems) log.warn(problem);

    const scripts = createRedisScripts(redis);
    const keys = Array.from({ length: shards }, (_, shard) => new ShardKeys(shard));
    const acknowledgements = new Acknowledgements({
      clock,
      gateTimeoutMs,
      async ask(shard) {
        const of = keys[shard];
        if (of === undefined) return null;
        const [word, epoch, acked] = await scripts.run('position', [of.meta, of.outbox], []);
        return word === 'OK' ? `${epoch}-${acked}` : null;
      },
    });
    const shardOf = new Map(keys.map((of, shard) => [of.ackedChannel, shard]));
    listener = await listenToRedis(redis, [...shardOf.keys()], (channel, place) => {
      const shard = shardOf.get(channel);
      if (shard !== undefined) acknowledgements.note(shard, place);
    });

    const ledger = createRedisLedger({
      scripts,
      shards,
      clock,
      log,
      onNodeTime,
      acknowledged: (shard, place) => acknowledgements.wait(shard, place),
    });
    // Where no call asks a closed shard, nobody would see it open again.
    const timer = every(clock, SHARDS_POLL_MS, () => void ledger.lookAtShards());
    await ledger.lookAtShards();
    return {
      ledger,
      redis,
      waiting: () => acknowledgements.waiting,
      async close() {
        timer.cancel();
        await ledger.close();
        disconnect();
      },
    };
  } catch (error) {
    disconnect();
    throw error;
  }
}
