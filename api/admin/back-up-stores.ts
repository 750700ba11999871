import { backUpCluster } from '#core/backup/back-up-cluster.ts';
import type { ArchiveContents } from '#core/backup/read-archive.ts';
import { holdShards } from '#core/backup/redis-shards-hold.ts';
import { restoreCluster } from '#core/backup/restore-cluster.ts';
import { createCassandraCallHistory } from '#core/calls/cassandra-call-history.ts';
import { createCassandraHistoryStore } from '#core/calls/cassandra-history-store.ts';
import type { Clock } from '#core/clock.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { openRedis } from '#core/drivers/redis.ts';
import { createCassandraAgentStates } from '#core/ledger/cluster/cassandra-agent-states.ts';
import { openKafkaLedgerLog } from '#core/ledger/cluster/kafka-ledger-log.ts';
import { requireSafeLedgerTopic } from '#core/ledger/cluster/kafka-ledger-topic.ts';
import { createRedisScripts } from '#core/ledger/cluster/redis-scripts.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import { createLog } from '#core/log.ts';
import { createCassandraVideoHistory } from '#core/videos/cassandra-video-history.ts';
import type { ClusterStorage } from '../config/storage-settings.ts';
import { toCassandraOptions, toKafkaOptions, toRedisAddress } from '../config/store-options.ts';

/** What the stores of a cluster hold, into one file. */
export async function backUpStores(
  storage: ClusterStorage,
  { file, clock }: { file: string; clock: Clock },
): Promise<ArchiveContents> {
  const kafka = connectKafka(toKafkaOptions(storage.kafka, 'faregate-backup'));
  const cassandra = connectCassandra(toCassandraOptions(storage.cassandra));
  try {
    const log = await openKafkaLedgerLog(kafka, { shards: SHARDS, clock, logger: createLog() });
    try {
      return await backUpCluster({
        file,
        shards: SHARDS,
        log,
        states: createCassandraAgentStates(cassandra),
        history: createCassandraCallHistory(cassandra, clock),
        videos: createCassandraVideoHistory(cassandra, clock),
        peppers: storage.peppers,
        clock,
      });
    } finally {
      await log.close();
    }
  } finally {
    await cassandra.shutdown();
  }
}

/** One file, into the empty stores of a cluster. */
export async function restoreStores(
  storage: ClusterStorage,
  {
    archive,
    clock,
    beforeChange,
  }: { archive: string; clock: Clock; beforeChange: (contents: ArchiveContents) => Promise<void> },
): Promise<ArchiveContents> {
  const { allowUnsafe, peppers } = storage;
  const kafka = connectKafka(toKafkaOptions(storage.kafka, 'faregate-restore'));
  await requireSafeLedgerTopic(kafka, { shards: SHARDS, allowUnsafe });
  const cassandra = connectCassandra(toCassandraOptions(storage.cassandra));
  const redis = await openRedis(toRedisAddress(storage.redis));
  try {
    const log = await openKafkaLedgerLog(kafka, { shards: SHARDS, clock, logger: createLog() });
    try {
      return await restoreCluster({
        archive,
        shards: SHARDS,
        log,
        states: createCassandraAgentStates(cassandra),
        history: createCassandraHistoryStore(cassandra),
        peppers,
        hold: () => holdShards({ scripts: createRedisScripts(redis), shards: SHARDS, clock }),
        beforeChange,
        clock,
      });
    } finally {
      await log.close();
    }
  } finally {
    redis.disconnect();
    await cassandra.shutdown();
  }
}
