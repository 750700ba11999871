import { type Clock, SECOND_MS, wait } from '#core/clock.ts';
import { openRedis } from '#core/drivers/redis.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { createRedisScripts, type RedisScripts } from '#core/ledger/cluster/redis-scripts.ts';
import type { ClusterStorage } from '../config/storage-settings.ts';
import { toRedisAddress } from '../config/store-options.ts';

const LOOK_MS = SECOND_MS / 10;

/**
 * Closes these shards, so that the settlement workers rebuild each of them from the log, and resolves with those that are
 * not open again after `waitMs`: where no worker runs, all.
 */
export async function recoverStores(
  storage: ClusterStorage,
  options: { shards: readonly number[]; waitMs: number; clock: Clock },
): Promise<number[]> {
  const { shards, waitMs, clock } = options;
  const redis = await openRedis(toRedisAddress(storage.redis));
  try {
    const scripts = createRedisScripts(redis);
    const closed = new Map<number, number>();
    for (const shard of shards) closed.set(shard, await closeShard(scripts, shard));
    const giveUpAtMs = clock.monotonicMs() + waitMs;
    while (closed.size > 0 && clock.monotonicMs() < giveUpAtMs) {
      for (const [shard, epoch] of closed) {
        // Redis may be away meanwhile, as at the failover for which a shard is rebuilt.
        const now = await openEpoch(scripts, shard).catch(() => 0);
        if (now > epoch) closed.delete(shard);
      }
      if (closed.size > 0) await wait(clock, LOOK_MS);
    }
    return [...closed.keys()];
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
