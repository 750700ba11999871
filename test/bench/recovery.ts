import { setTimeout as pause } from 'node:timers/promises';
import { systemClock } from '#core/clock.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { openRedis } from '#core/drivers/redis.ts';
import { createCassandraAgentStates } from '#core/ledger/cluster/cassandra-agent-states.ts';
import { openKafkaLedgerLog } from '#core/ledger/cluster/kafka-ledger-log.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { createRedisScripts } from '#core/ledger/cluster/redis-scripts.ts';
import { recoverShard } from '#core/ledger/cluster/shard-recovery.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import { createLog } from '#core/log.ts';
import { toCassandraOptions, toKafkaOptions } from '../../api/config/store-options.ts';
import { clusterBars } from './bars.ts';
import { startBenchCluster } from './bench-cluster.ts';
import { BenchShard } from './bench-shard.ts';
import { medianAndSpread } from './report.ts';
import { runPart } from './run-part.ts';
import { median } from './statistics.ts';

const AGENTS_OF_A_SHARD = 10;
const POLL_MS = 50;

/**
 * Redis has lost everything, and no agent was ever copied: the whole log is folded. First one shard by itself, then all by
 * a worker. Both cores belong to everybody.
 */
await runPart('Recovery', { pinned: false }, async (bench) => {
  const { report, sizes } = bench;
  const cluster = await startBenchCluster(bench);
  const kafka = connectKafka(toKafkaOptions(cluster.storage.kafka, 'bench'));
  const log = await openKafkaLedgerLog(kafka, { shards: SHARDS, clock: systemClock, logger: createLog() });
  bench.later(() => log.close());
  const cassandra = connectCassandra(toCassandraOptions(cluster.storage.cassandra));
  bench.later(() => cassandra.shutdown());
  const redis = await openRedis({ urls: [cluster.redisUrl], cluster: false });
  bench.later(async () => redis.disconnect());
  const scripts = createRedisScripts(redis);
  const shards = Array.from({ length: SHARDS }, (_, shard) => ({ shard, keys: new ShardKeys(shard) }));

  const fill = async (shard: number, events: number): Promise<void> => {
    const made = new BenchShard({ shard, agents: AGENTS_OF_A_SHARD, log, startMs: Date.now() - events });
    await made.open();
    await made.fill(events);
  };

  await fill(0, sizes.shardEvents);
  const shardMs: number[] = [];
  for (let round = 0; round < sizes.recoveryRounds; round++) {
    await redis.flushall();
    const startedMs = performance.now();
    const states = createCassandraAgentStates(cassandra);
    const options = { shard: 0, keys: new ShardKeys(0), scripts, log, states, clock: systemClock };
    const recovered = await recoverShard({ ...options, recoverer: `bench ${round}` });
    shardMs.push(performance.now() - startedMs);
    if (recovered?.position.seq !== sizes.shardEvents) throw new Error('a shard was not recovered whole');
  }
  report.verdict({
    bar: `a shard of ${sizes.shardEvents} events is recovered in <= ${clusterBars.shardRecoveryMs} ms`,
    measured: `${medianAndSpread(shardMs)} ms`,
    met: median(shardMs) <= clusterBars.shardRecoveryMs,
  });

  const rest = Math.ceil((sizes.totalEvents - sizes.shardEvents) / (SHARDS - 1));
  for (const { shard } of shards.slice(1)) await fill(shard, rest);
  const isOpen = async (): Promise<boolean> => {
    const words = await Promise.all(
      shards.map(({ keys }) => scripts.run('position', [keys.meta, keys.outbox], [])),
    );
    return words.every(([word]) => word === 'OK');
  };
  const worker = await cluster.startWorker();
  const totalMs: number[] = [];
  for (let round = 0; round < sizes.recoveryRounds; round++) {
    await redis.flushall();
    const startedMs = performance.now();
    while (!(await isOpen())) await pause(POLL_MS);
    totalMs.push(performance.now() - startedMs);
  }
  await worker.stop();
  const events = sizes.shardEvents + rest * (SHARDS - 1);
  report.verdict({
    bar: `all ${SHARDS} shards, ${events} events, after FLUSHALL in <= ${clusterBars.totalRecoveryMs} ms`,
    measured: `${medianAndSpread(totalMs)} ms`,
    met: median(totalMs) <= clusterBars.totalRecoveryMs,
  });
});
