import { expect, test } from 'vitest';
import { holdShards } from '#core/backup/redis-shards-hold.ts';
import { systemClock } from '#core/clock.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { createRedisScripts } from '#core/ledger/cluster/redis-scripts.ts';
import { recoverShard } from '#core/ledger/cluster/shard-recovery.ts';
import { createMemoryAgentStates } from '../support/memory-agent-states.ts';
import { createMemoryLog } from '../support/memory-log.ts';
import { useRedis } from '../support/redis-server.ts';
import { describeWith } from '../support/with-services.ts';

describeWith(['redis'], 'while a restore holds the shards', () => {
  const redis = useRedis();
  const SHARDS = 4;
  const parts = () => ({ scripts: createRedisScripts(redis.client), shards: SHARDS, clock: systemClock });
  const recover = (shard: number) =>
    recoverShard({
      ...parts(),
      shard,
      keys: new ShardKeys(shard),
      log: createMemoryLog(SHARDS),
      states: createMemoryAgentStates(),
      recoverer: 'a worker',
    });

  test('no worker begins one of them, and no other restore begins at all', async () => {
    const hold = await holdShards(parts());
    for (let shard = 0; shard < SHARDS; shard++) expect(await recover(shard)).toBeNull();
    await expect(holdShards(parts())).rejects.toThrow('A worker, or another restore, is at shard 0');
    await hold.confirm();
    await hold.release();
    const next = await holdShards(parts());
    await next.release();
  });

  test('it notices that it has lost one', async () => {
    const hold = await holdShards(parts());
    await redis.client.hset(new ShardKeys(2).meta, 'lease', 'somebody else');
    await expect(hold.confirm()).rejects.toThrow('is at shard 2');
    await redis.client.hdel(new ShardKeys(2).meta, 'lease', 'lease_until');
    await hold.release();
  });

  test('it does not begin beside what another ledger has left in Redis, and holds nothing then', async () => {
    await redis.client.xadd(new ShardKeys(3).outbox, '5-1', 'event', '{}', 'bytes', '2');
    await expect(holdShards(parts())).rejects.toThrow('its Redis has a ledger, as shard 3 shows');
    await redis.client.del(new ShardKeys(3).outbox);
    expect(await recover(1)).not.toBeNull();
    await expect(holdShards(parts())).rejects.toThrow(/at shard 1|as shard 1 shows/);
  });
});
