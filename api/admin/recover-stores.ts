import { type Clock, SECOND_MS, wait } from '#core/clock.ts';
import { isRedisUnavailable, openRedis } from '#core/drivers/redis.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { createRedisScripts, type RedisScripts } from '#core/ledger/cluster/redis-scripts.ts';
import type { ClusterStorage } from '../config/storage-settings.ts';
import { toRedisAddress } from '../config/store-options.ts';

const LOOK_MS = SECOND_MS / 10;

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
    const closed = new Map<number, number>();
    for (const shard of shards) closed.set(shard, await closeShard(scripts, shard));
    const giveUpAtMs = clock.monotonicMs() + waitMs;
    let isRedisAway = false;
    while (closed.size > 0 && clock.monotonicMs() < giveUpAtMs) {
      try {
        for (const [shard, epoch] of closed) {
          if ((await openEpoch(scripts, shard)) > epoch) closed.delete(shard);
        }
        isRedisAway = false;
      } catch (error) {
        // As at the failover for which a shard is rebuilt.
        if (!isRedisUnavailable(error)) throw error;
        isRedisAway = true;
      }
      if (closed.size > 0) await wait(clock, LOOK_MS);
    }
    return { shards: [...closed.keys()], isRedisAway };
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
