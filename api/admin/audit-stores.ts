import { auditShard, type ShardProblem } from '#core/audit/audit-shard.ts';
import { readCharged } from '#core/calls/cassandra-charged.ts';
import { type Clock, MINUTE_MS } from '#core/clock.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { createCassandraAgentStates } from '#core/ledger/cluster/cassandra-agent-states.ts';
import { openKafkaLedgerLog } from '#core/ledger/cluster/kafka-ledger-log.ts';
import { openClusterLedger } from '#core/ledger/cluster/open-cluster-ledger.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import { createLog } from '#core/log.ts';
import type { ClusterStorage } from '../config/storage-settings.ts';
import { toCassandraOptions, toKafkaOptions, toRedisAddress } from '../config/store-options.ts';

export interface StoresAudit {
  shards: number;
  agents: number;
  events: number;
  /** Shards whose log no longer has their first event: their copies were believed. */
  fromCopies: number;
  problems: (ShardProblem & { shard: number })[];
}

/** A publisher that has just started, or whose machine is busy, takes seconds. */
const LATE_EVENTS_MS = MINUTE_MS;

/** Folds the log of every shard, and holds Redis and Cassandra against it. */
export async function auditStores(
  storage: ClusterStorage,
  { clock }: { clock: Clock },
): Promise<StoresAudit> {
  const logger = createLog();
  const kafka = connectKafka(toKafkaOptions(storage.kafka, 'faregate-audit'));
  const cassandra = connectCassandra(toCassandraOptions(storage.cassandra));
  const { allowUnsafe } = storage;
  const address = toRedisAddress(storage.redis);
  try {
    const log = await openKafkaLedgerLog(kafka, { shards: SHARDS, clock, logger });
    const cluster = await openClusterLedger({ address, shards: SHARDS, clock, log: logger, allowUnsafe });
    try {
      const patience = { leftMs: LATE_EVENTS_MS };
      const sum: StoresAudit = { shards: SHARDS, agents: 0, events: 0, fromCopies: 0, problems: [] };
      for (let shard = 0; shard < SHARDS; shard++) {
        const audit = await auditShard({
          shard,
          log,
          states: createCassandraAgentStates(cassandra),
          readRedis: (of) => cluster.ledger.readShard(of),
          findKey: (hashes) => cluster.ledger.findKey(hashes),
          readCharged: ({ agentId, createdAtMs: fromMs }) =>
            readCharged(cassandra, { agentId, fromMs, toMs: clock.now() }),
          patience,
          clock,
        });
        sum.agents += audit.agents;
        sum.events += audit.events;
        if (!audit.fromFirstEvent) sum.fromCopies += 1;
        for (const problem of audit.problems) sum.problems.push({ shard, ...problem });
      }
      return sum;
    } finally {
      await cluster.close();
      await log.close();
    }
  } finally {
    await cassandra.shutdown();
  }
}
