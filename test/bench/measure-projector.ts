import type { Kafka } from 'kafkajs';
import { createCassandraHistoryStore } from '#core/calls/cassandra-history-store.ts';
import { DAY_MS, systemClock } from '#core/clock.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { migrateCassandra } from '#core/drivers/cassandra-migrations.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { createCassandraAgentStates } from '#core/ledger/cluster/cassandra-agent-states.ts';
import { openKafkaLedgerLog } from '#core/ledger/cluster/kafka-ledger-log.ts';
import { ensureLedgerTopic } from '#core/ledger/cluster/kafka-ledger-topic.ts';
import { joinKafkaShardGroup } from '#core/ledger/cluster/kafka-shard-group.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import { createLog } from '#core/log.ts';
import { startProjector } from '../../workers/projector/projector.ts';
import { startCassandra } from '../services/start-cassandra.ts';
import { startKafka } from '../services/start-kafka.ts';
import { cassandraAt } from '../support/cassandra-at.ts';
import { testDataDir } from '../support/data-dir.ts';
import { until } from '../support/gateway.ts';
import { BenchShard } from './bench-shard.ts';

export interface ProjectorFigures {
  /** A log that is there already, read as fast as it goes. */
  backlogCallsPerSecond: number;
  /** CPU of the projector's process for one of those calls. */
  cpuMsPerCall: number;
  /** While calls come at the rate that is wanted: how far it is behind, at the median and at the worst moment. */
  liveLagMs: { p50: number; max: number };
}

interface Load {
  agents: number;
  calls: number;
  liveCallsPerSecond: number;
  liveSeconds: number;
}

/** The projector in this process, with real Kafka and Cassandra on the same machine. */
export async function measureProjector(load: Load): Promise<ProjectorFigures> {
  await using folder = await testDataDir();
  const [broker, node] = await Promise.all([
    startKafka({ dir: `${folder.path}/kafka` }),
    startCassandra({ dir: `${folder.path}/cassandra` }),
  ]);
  const kafka: Kafka = connectKafka({ brokers: [broker.address], clientId: 'bench', tls: false, sasl: null });
  await ensureLedgerTopic(kafka, systemClock, {
    ...{ shards: SHARDS, replicationFactor: 1, minInsyncReplicas: 1, retentionMs: DAY_MS },
  });
  await migrateCassandra({ ...cassandraAt(node), replicas: { datacenter1: 1 }, clock: systemClock });
  const client = connectCassandra(cassandraAt(node));
  const logger = createLog();
  const log = await openKafkaLedgerLog(kafka, { shards: SHARDS, clock: systemClock, logger });
  const agents = Math.ceil(load.agents / SHARDS);
  const startMs = Date.now() - load.calls;
  const shards = Array.from(
    { length: SHARDS },
    (_, shard) => new BenchShard({ shard, agents, log, startMs }),
  );
  const each = <T>(task: (shard: BenchShard) => Promise<T>) => Promise.all(shards.map(task));
  await each((shard) => shard.open());
  await each((shard) => shard.call(Math.ceil(load.calls / SHARDS)));

  const startedAtMs = performance.now();
  const cpu = process.cpuUsage();
  const projector = await startProjector({
    join: (openReader) =>
      joinKafkaShardGroup({ kafka, groupId: 'bench', openReader, clock: systemClock, log: logger }),
    states: createCassandraAgentStates(client),
    history: createCassandraHistoryStore(client),
    clock: systemClock,
    log: logger,
  });
  await until(() => projector.stats().calls >= load.calls, 600_000);
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const { user, system } = process.cpuUsage(cpu);

  const lags: number[] = [];
  const liveStartMs = performance.now();
  for (let done = 0; done < load.liveCallsPerSecond * load.liveSeconds; ) {
    const due = ((performance.now() - liveStartMs) / 1_000) * load.liveCallsPerSecond - done;
    // One call in each shard, in turn.
    const some = shards.filter((_, i) => (i + done) % SHARDS < due);
    await Promise.all(some.map((shard) => shard.call(1)));
    done += some.length;
    lags.push(projector.stats().lagMs);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const wanted = shards.reduce((sum, { calls }) => sum + calls, 0);
  await until(() => projector.stats().calls >= wanted, 60_000);
  lags.sort((a, b) => a - b);
  await projector.stop();
  await log.close();
  await client.shutdown();
  await Promise.all([broker.stop('SIGKILL'), node.stop('SIGKILL')]);
  return {
    backlogCallsPerSecond: load.calls / seconds,
    cpuMsPerCall: (user + system) / 1_000 / load.calls,
    liveLagMs: { p50: lags[Math.floor(lags.length / 2)] ?? 0, max: lags.at(-1) ?? 0 },
  };
}
