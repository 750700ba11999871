import { expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { openClusterLedger } from '#core/ledger/cluster/open-cluster-ledger.ts';
import { checkRedis, redisProblems } from '#core/ledger/cluster/redis-check.ts';
import { useRedis } from '../../support/redis-server.ts';
import { describeWith } from '../../support/with-services.ts';

describeWith(['redis'], 'rule 2, steps: a Redis', () => {
  const redis = useRedis();

  test('that drops keys when it is full is refused at the start, unless the operator allows it', async () => {
    const warned: string[] = [];
    const options = {
      address: { urls: [`redis://${redis.service.address}`], cluster: false },
      shards: 2,
      clock: systemClock,
      log: { info() {}, warn: (event: string) => void warned.push(event), error() {} },
    };
    expect(await checkRedis(redis.client)).toEqual([]);
    await redis.client.config('SET', 'maxmemory-policy', 'allkeys-lru');
    try {
      await expect(openClusterLedger({ ...options, allowUnsafe: false })).rejects.toThrow(/allkeys-lru/);
      await (await openClusterLedger({ ...options, allowUnsafe: true })).close();
      expect(warned).toEqual([expect.stringContaining('allkeys-lru')]);
    } finally {
      await redis.client.config('SET', 'maxmemory-policy', 'noeviction');
    }
  });

  test('that is too old for the scripts, or does not say what it is, is refused', () => {
    const info = (version: string) => `redis_version:${version}\r\nmaxmemory_policy:noeviction\r\n`;
    expect(redisProblems(info('7.0.15'))).toEqual([]);
    expect(redisProblems(info('8.2.0'))).toEqual([]);
    expect(redisProblems(info('6.2.14'))).toEqual([expect.stringContaining('6.2.14')]);
    expect(redisProblems('')).toHaveLength(2);
  });
});
