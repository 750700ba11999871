import { beforeEach, expect, test } from 'vitest';
import { HOUR_MS, MINUTE_MS, systemClock } from '#core/clock.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { createRedisScripts } from '#core/ledger/cluster/redis-scripts.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import { checkRedisStore } from '../../api/admin/doctor/check-stores.ts';
import { findShardsAhead, recoverStores } from '../../api/admin/recover-stores.ts';
import type { ClusterStorage } from '../../api/config/storage-settings.ts';
import { useRedis } from '../support/redis-server.ts';
import { describeWith } from '../support/with-services.ts';

describeWith(['redis'], 'shards of which a wrong clock wrote the time', () => {
  const redis = useRedis(['--appendonly', 'yes', '--appendfsync', 'always']);
  const shards = Array.from({ length: SHARDS }, (_, shard) => new ShardKeys(shard));

  /** As a settlement worker does that finds a closed shard, whose last event a wrong clock has stamped. */
  async function rebuild(lastAtMs: number): Promise<void> {
    const scripts = createRedisScripts(redis.client);
    for (const { claimed, meta, outbox } of shards) {
      const [word] = await scripts.run('claim', claimed, ['nonce']);
      if (word !== 'OK') continue;
      const epoch = Number((await redis.client.hget(meta, 'epoch')) ?? 0) + 1;
      await scripts.run('open', [meta, outbox], ['nonce', epoch, 0, lastAtMs, '0']);
    }
  }

  beforeEach(async () => {
    await redis.client.flushall();
    await rebuild(0);
  });

  const storage = (): ClusterStorage =>
    ({
      redis: { urls: [`redis://${redis.service.address}`], cluster: false, username: null, password: null },
      allowUnsafe: true,
    }) as unknown as ClusterStorage;

  const findings = async () =>
    (await checkRedisStore(storage(), { clock: systemClock, hasVideos: false })).filter(
      ({ check }) => check === 'ledger time',
    );

  test('are found by doctor, with how far they are ahead and the command that repairs them', async () => {
    expect(await findings()).toEqual([]);
    for (const { meta } of shards.slice(3, 8)) {
      await redis.client.hset(meta, 'last_ms', systemClock.now() + 2 * HOUR_MS + MINUTE_MS);
    }
    expect(await findings()).toEqual([expect.objectContaining({ state: 'problem', check: 'ledger time' })]);
    const text = JSON.stringify(await findings());
    expect(text).toMatch(/5 shards are up to 2 h( 1 min)? ahead of Redis' clock/);
    expect(text).toContain('faregate clock repair');
  });

  test('have the time of Redis once they are closed and rebuilt, and the others stay open', async () => {
    const aheadMs = systemClock.now() + 2 * HOUR_MS;
    for (const { meta } of shards.slice(3, 8)) await redis.client.hset(meta, 'last_ms', aheadMs);
    const ahead = (await findShardsAhead(storage())).map(({ shard }) => shard);
    expect(ahead).toEqual([3, 4, 5, 6, 7]);

    let isOver = false;
    const repaired = recoverStores(storage(), {
      shards: ahead,
      waitMs: MINUTE_MS,
      clock: systemClock,
    }).finally(() => {
      isOver = true;
    });
    while (!isOver) await rebuild(aheadMs);
    expect(await repaired).toEqual({ shards: [], isRedisAway: false });
    expect(await findShardsAhead(storage())).toEqual([]);
    const epochs = await Promise.all(shards.map(({ meta }) => redis.client.hget(meta, 'epoch')));
    expect(epochs.map(Number)).toEqual(shards.map((_, shard) => (ahead.includes(shard) ? 2 : 1)));
  });
});
