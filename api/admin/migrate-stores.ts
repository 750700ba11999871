import type { Clock } from '#core/clock.ts';
import { migrateCassandra } from '#core/drivers/cassandra-migrations.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { ensureFeedTopics } from '#core/events/kafka-feed-topics.ts';
import {
  checkLedgerTopic,
  ensureLedgerTopic,
  type TopicProblem,
} from '#core/ledger/cluster/kafka-ledger-topic.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import { LOG_KEPT_MS } from '#core/limits.ts';
import type { ClusterStorage } from '../config/storage-settings.ts';
import { toCassandraOptions, toKafkaOptions } from '../config/store-options.ts';

export interface Migrated {
  /** Versions of Cassandra's schema that were applied now; empty: it was up to date. */
  versions: number[];
  /** How the ledger's topic differs from what keeps money safe. */
  problems: TopicProblem[];
}

/**
 * Makes what is missing in the stores of a cluster, and brings Cassandra to this release's schema. May be repeated, and
 * run by several at once.
 */
export async function migrateStores(storage: ClusterStorage, clock: Clock): Promise<Migrated> {
  const { replicationFactor, localDataCenter } = storage.cassandra;
  const versions = await migrateCassandra({
    ...toCassandraOptions(storage.cassandra),
    replicas: { [localDataCenter]: replicationFactor },
    clock,
  });
  const kafka = connectKafka(toKafkaOptions(storage.kafka, 'faregate-migrate'));
  const copies = storage.kafka.replicationFactor;
  await ensureLedgerTopic(kafka, clock, {
    shards: SHARDS,
    replicationFactor: copies,
    minInsyncReplicas: Math.max(1, copies - 1),
    retentionMs: LOG_KEPT_MS,
  });
  await ensureFeedTopics(kafka, clock, copies);
  return { versions, problems: await checkLedgerTopic(kafka, SHARDS) };
}
