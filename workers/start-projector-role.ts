import { createCassandraHistoryStore } from '#core/calls/cassandra-history-store.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { createCassandraAgentStates } from '#core/ledger/cluster/cassandra-agent-states.ts';
import { joinKafkaShardGroup } from '#core/ledger/cluster/kafka-shard-group.ts';
import { readMetrics } from '#core/read-metrics.ts';
import { toCassandraOptions, toKafkaOptions } from '../api/config/store-options.ts';
import { startProjector } from './projector/projector.ts';
import type { RunningRole, WorkerParts } from './worker-parts.ts';

const GROUP = 'faregate-projector';

/** Makes the log readable: history, usage, movements of money, and the copies that a recovery starts from. */
export async function startProjectorRole({
  storage,
  registry,
  clock,
  log,
}: WorkerParts): Promise<RunningRole> {
  const kafka = connectKafka(toKafkaOptions(storage.kafka, GROUP));
  const cassandra = connectCassandra(toCassandraOptions(storage.cassandra));
  const projector = await startProjector({
    join: (openReader) => joinKafkaShardGroup({ kafka, groupId: GROUP, openReader, clock, log }),
    states: createCassandraAgentStates(cassandra),
    history: createCassandraHistoryStore(cassandra),
    clock,
    log,
  });
  const { gauge, counter } = readMetrics(registry);
  gauge('faregate_projector_shards', 'Shards that this process projects', () => projector.stats().shards);
  gauge('faregate_projector_lag_events', 'Events not yet in the history', () => projector.stats().lagEvents);
  gauge('faregate_projector_lag_ms', 'Age of the oldest of them', () => projector.stats().lagMs);
  counter('faregate_projected_events_total', 'Events projected', () => projector.stats().events);
  counter('faregate_projected_calls_total', 'Rows of calls written', () => projector.stats().calls);
  return {
    checks: {},
    async stop() {
      await projector.stop();
      await cassandra.shutdown();
    },
  };
}
