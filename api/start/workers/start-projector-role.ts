import { createCassandraHistoryStore } from '#core/calls/cassandra-history-store.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { createCassandraAgentStates } from '#core/ledger/cluster/cassandra-agent-states.ts';
import { LEDGER_TOPIC } from '#core/ledger/cluster/kafka-ledger-topic.ts';
import { joinKafkaShardGroup } from '#core/ledger/cluster/kafka-shard-group.ts';
import { PROJECTOR_GROUP } from '#core/worker-names.ts';
import { observeProjector } from '../../../workers/projector/observe-projector.ts';
import { startProjector } from '../../../workers/projector/projector.ts';
import { toCassandraOptions, toKafkaOptions } from '../../config/store-options.ts';
import { awaitSchema, awaitTopics } from '../../stores/reach.ts';
import type { RunningRole, WorkerParts } from './worker-parts.ts';

/** Makes the log readable: history, usage, movements of money, and the copies that a recovery starts from. */
export async function startProjectorRole({
  storage,
  registry,
  waits,
  clock,
  log,
}: WorkerParts): Promise<RunningRole> {
  const kafka = connectKafka(toKafkaOptions(storage.kafka, PROJECTOR_GROUP));
  await awaitTopics(waits, kafka, [LEDGER_TOPIC]);
  await awaitSchema({ waits, cassandra: storage.cassandra, log });
  const cassandra = connectCassandra(toCassandraOptions(storage.cassandra));
  const projector = await startProjector({
    join: (openReader) => joinKafkaShardGroup({ kafka, groupId: PROJECTOR_GROUP, openReader, clock, log }),
    states: createCassandraAgentStates(cassandra),
    history: createCassandraHistoryStore(cassandra),
    clock,
    log,
  });
  observeProjector(registry, projector);
  return {
    checks: {},
    async stop() {
      await projector.stop();
      await cassandra.shutdown();
    },
  };
}
