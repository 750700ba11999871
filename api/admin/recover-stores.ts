import { type Clock, SECOND_MS, wait } from '#core/clock.ts';
import { isRedisUnavailable, openRedis } from '#core/drivers/redis.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { createRedisScripts, type RedisScripts } from '#core/ledger/cluster/redis-scripts.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import { CLOCK_APART_MAX_MS } from '#core/limits.ts';
import type { ClusterStorage } from '../config/storage-settings.ts';
import { toRedisAddress } from '../config/store-options.ts';

const POLL_MS = SECOND_MS / 10;

export interface StillClosed {
  shards: number[];
  /** Redis did not answer at last: nobody knows whether they are. */
  isRedisAway: boolean;
}

/**
 * Closes these shards, so that the settlement workers rebuild each of them from the log, and resolves with those that are
 * not open again after `waitMs`: where no worker runs, all.
 */
export async function recoverStores(
  storage: ClusterStorage,
  options: { shards: readonly number[]; waitMs: number; clock: Clock },
): Promise<StillClosed> {
  const { shards, waitMs, clock } = options;
  const redis = await openRedis(toRedisAddress(storage.redis));
  try {
    const scripts = createRedisScripts(redis);
    /** By the epoch that ended; `null`: nobody knows yet whether it is closed, as the answer was lost. */
    const closed = new Map<number, number | null>(shards.map((shard) => [shard, null]));
    const giveUpAtMs = clock.monotonicMs() + waitMs;
    let isRedisAway = false;
    do {
      try {
        for (const [shard, epoch] of closed) {
          if (epoch === null) closed.set(shard, await closeShard(scripts, shard));
          else if ((await openEpoch(scripts, shard)) > epoch) closed.delete(shard);
        }
        isRedisAway = false;
      } catch (error) {
        // As at the failover for which a shard is rebuilt.
        if (!isRedisUnavailable(error)) throw error;
        isRedisAway = true;
      }
      if (closed.size > 0) await wait(clock, POLL_MS);
    } while (closed.size > 0 && clock.monotonicMs() < giveUpAtMs);
    return { shards: [...closed.keys()], isRedisAway };
  } finally {
    redis.disconnect();
  }
}

/** Open shards that start no calls, because their time is ahead of their node's clock. Rebuilt, they have that clock's time. */
export async function findShardsAhead(
  storage: Pick<ClusterStorage, 'redis'>,
): Promise<{ shard: number; aheadMs: number }[]> {
  const redis = await openRedis(toRedisAddress(storage.redis));
  try {
    const scripts = createRedisScripts(redis);
    const found = await Promise.all(
      Array.from({ length: SHARDS }, async (_, shard) => {
        const { meta, outbox } = new ShardKeys(shard);
        const [, , , , , nodeMs, lastMs] = await scripts.run('position', [meta, outbox], []);
        return { shard, aheadMs: nodeMs === undefined ? 0 : Number(lastMs) - Number(nodeMs) };
      }),
    );
    return found.filter(({ aheadMs }) => aheadMs > CLOCK_APART_MAX_MS);
  } finally {
    redis.disconnect();
  }
}

/** Answers the epoch that has ended with it; one that is closed already stays so. */
async function closeShard(scripts: RedisScripts, shard: number): Promise<number> {
  const epoch = await openEpoch(scripts, shard);
  if (epoch > 0) await scripts.run('fence', [new ShardKeys(shard).meta], [epoch + 1]);
  return epoch;
}

/** 0: it is closed. */
async function openEpoch(scripts: RedisScripts, shard: number): Promise<number> {
  const { meta, outbox } = new ShardKeys(shard);
  const [word, epoch] = await scripts.run('position', [meta, outbox], []);
  return word === 'OK' ? Number(epoch) : 0;
}
