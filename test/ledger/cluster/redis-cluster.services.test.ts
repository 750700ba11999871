import { expect, test } from 'vitest';
import { startRedisCluster } from '../../support/redis-cluster.ts';
import { describeWith } from '../../support/with-services.ts';
import { runRedisHistories } from './redis-history.ts';

describeWith(['redis'], 'the scripts on a Redis Cluster', () => {
  test('take histories of shards on three nodes the way that the state machine takes them', async () => {
    await using cluster = await startRedisCluster();
    const coverage = new Map<string, number>();
    await runRedisHistories(cluster.client, 1, 150, coverage);
    expect(coverage.get('settle: ok')).toBeGreaterThan(100);
    const sizes = await Promise.all(cluster.client.nodes('master').map((node) => node.dbsize()));
    expect(Math.min(...sizes)).toBeGreaterThan(0);
  });
});
