import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { openClusterLedger } from '#core/ledger/cluster/open-cluster-ledger.ts';
import { startPublisher } from '#core/ledger/cluster/redis-publisher.ts';
import { createRedisScripts } from '#core/ledger/cluster/redis-scripts.ts';
import { until } from '../../support/gateway.ts';
import { createMemoryAgentStates } from '../../support/memory-agent-states.ts';
import { createMemoryLog } from '../../support/memory-log.ts';
import { PATIENT_MS } from '../../support/patience.ts';
import { startRedisCluster } from '../../support/redis-cluster.ts';
import { describeWith } from '../../support/with-services.ts';
import { readAgent } from '../case.ts';
import { ClusterCaller } from './cluster-caller.ts';
import { runRedisHistories } from './redis-history.ts';

describeWith(['redis'], 'on a Redis Cluster', () => {
  let cluster: Awaited<ReturnType<typeof startRedisCluster>>;
  beforeAll(async () => {
    cluster = await startRedisCluster();
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  test('rule 1, shards: histories of shards on three nodes go the way that the state machine takes them', async () => {
    const coverage = new Map<string, number>();
    await runRedisHistories(cluster.client, 1, 150, coverage);
    expect(coverage.get('settle: ok')).toBeGreaterThan(100);
    const sizes = await Promise.all(cluster.client.nodes('master').map((node) => node.dbsize()));
    expect(Math.min(...sizes)).toBeGreaterThan(0);
  });

  test('rule 1, shards: a process and a publisher have all of an agent in one of its nodes', async () => {
    await Promise.all(cluster.client.nodes('master').map((node) => node.flushall()));
    const shards = 8;
    const logger = { info() {}, warn() {}, error() {} };
    const clock = systemClock;
    const opened = await openClusterLedger({
      address: { urls: cluster.urls, cluster: true, timeoutMs: PATIENT_MS },
      shards,
      clock,
      log: logger,
      allowUnsafe: false,
    });
    const publisher = await startPublisher({
      redis: opened.redis,
      scripts: createRedisScripts(opened.redis),
      log: createMemoryLog(shards),
      states: createMemoryAgentStates(),
      shards,
      clock,
      logger,
    });
    await until(() => publisher.openShards === shards, 30_000);
    expect(publisher.ledShards).toHaveLength(shards);
    const caller = new ClusterCaller(opened.ledger, shards);
    const agentIds = Array.from({ length: shards }, (_, i) => 100 + i);
    await Promise.all(agentIds.map((agentId) => caller.makeAgent(agentId, 1_000n)));
    await Promise.all(agentIds.map((agentId) => caller.call(agentId, 100n, 30n)));
    for (const agentId of agentIds) {
      expect(await readAgent(opened.ledger, agentId)).toMatchObject({ chargedNanoUsd: 30n, holds: [] });
    }
    await until(() => opened.ledger.stats().openShards === shards);
    await publisher.stop();
    await opened.close();
  });
});
