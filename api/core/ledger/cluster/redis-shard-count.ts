import { SECOND_MS } from '../../clock.ts';
import type { RedisClient } from '../../drivers/redis.ts';
import { ShardKeys } from './redis-keys.ts';
import { createRedisScripts } from './redis-scripts.ts';

export interface ShardCount {
  /** They decide calls. */
  open: number;
  /** A settlement worker has a lease of theirs that has not ended. */
  led: number;
}

export async function countShards(redis: RedisClient, shards: number): Promise<ShardCount> {
  const scripts = createRedisScripts(redis);
  const [seconds] = await redis.time();
  const nowMs = Number(seconds) * SECOND_MS;
  const found = await Promise.all(
    Array.from({ length: shards }, async (_, shard) => {
      const { meta, outbox } = new ShardKeys(shard);
      const [[word], leaseUntil] = await Promise.all([
        scripts.run('position', [meta, outbox], []),
        redis.hget(meta, 'lease_until'),
      ]);
      return { isOpen: word === 'OK', isLed: Number(leaseUntil ?? 0) > nowMs };
    }),
  );
  return {
    open: found.filter(({ isOpen }) => isOpen).length,
    led: found.filter(({ isLed }) => isLed).length,
  };
}
