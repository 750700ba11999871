import { RecordedCosts } from '#core/bills/recorded-costs.ts';
import { createRedisBillStore } from '#core/bills/redis-bill-store.ts';
import { createLookUpPrice } from '#core/calls/look-up-price.ts';
import { createCatalog } from '#core/catalog/create-catalog.ts';
import { createFetchProviderJson } from '#core/catalog/fetch-provider-json.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { isRedisAway } from '#core/drivers/redis.ts';
import { AGENTS_TOPIC } from '#core/events/agent-change.ts';
import { CREDIT_GRANTS_TOPIC } from '#core/events/credit-grant.ts';
import { type Feed, type FeedOptions, startKafkaFeed } from '#core/events/kafka-batch-feed.ts';
import type { LedgerEvent } from '#core/events/ledger-event.ts';
import { createCassandraAgentStates } from '#core/ledger/cluster/cassandra-agent-states.ts';
import { openKafkaLedgerLog } from '#core/ledger/cluster/kafka-ledger-log.ts';
import { LEDGER_TOPIC, requireSafeLedgerTopic } from '#core/ledger/cluster/kafka-ledger-topic.ts';
import type { ClusterLedger } from '#core/ledger/cluster/open-cluster-ledger.ts';
import { startPublisher } from '#core/ledger/cluster/redis-publisher.ts';
import { createRedisScripts } from '#core/ledger/cluster/redis-scripts.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import { createApplyAgentChange } from '../../../workers/settlement/apply-agent-change.ts';
import { createBookGrant } from '../../../workers/settlement/book-grant.ts';
import { observeSettlements } from '../../../workers/settlement/observe-settlements.ts';
import { ShardSettlements } from '../../../workers/settlement/shard-settlements.ts';
import { toCassandraOptions, toKafkaOptions } from '../../config/store-options.ts';
import { awaitKafka, awaitSchemaIfThere, awaitTopics, reachLedger } from '../../stores/reach.ts';
import type { RunningRole, WorkerParts } from './worker-parts.ts';

/** Of the feeds' consumer groups; the same in every process, so that they share the records out. */
const GROUP = 'faregate-settlement';

/**
 * Takes events to the log and rebuilds shards; ends what a call's own process could not; books credit and agents that
 * others announce.
 */
export async function startSettlementRole(parts: WorkerParts): Promise<RunningRole> {
  const { config, storage, waits, clock, log } = parts;
  const { allowUnsafe } = storage;
  const kafka = connectKafka(toKafkaOptions(storage.kafka, GROUP));
  await awaitTopics(waits, kafka, [LEDGER_TOPIC, CREDIT_GRANTS_TOPIC, AGENTS_TOPIC]);
  const problems = await awaitKafka(waits, () =>
    requireSafeLedgerTopic(kafka, { shards: SHARDS, allowUnsafe }),
  );
  for (const { sentence } of problems) log.warn(sentence);
  await awaitSchemaIfThere({ waits, cassandra: storage.cassandra, log });
  const cluster = await reachLedger(storage, { waits, clock, log });
  const cassandra = connectCassandra(toCassandraOptions(storage.cassandra));
  const ledgerLog = await openKafkaLedgerLog(kafka, { shards: SHARDS, clock, logger: log });
  let settlements: ShardSettlements | null = null;
  const publisher = await waits.until({
    // It was there a moment ago, and may stand still by now.
    store: 'Redis',
    attempt: () =>
      startPublisher({
        redis: cluster.redis,
        scripts: createRedisScripts(cluster.redis),
        log: ledgerLog,
        states: createCassandraAgentStates(cassandra),
        shards: SHARDS,
        clock,
        logger: log,
        onEvent: (event: LedgerEvent) => settlements?.onEvent(event),
        onOpen: (shard) => settlements?.onOpen(shard),
      }),
    isAway: isRedisAway,
  });

  const fetchJson = createFetchProviderJson(clock);
  const catalog = createCatalog({ settings: config, clock, log, fetchJson, bundledSimulatorUrl: null });
  parts.onReload((changed) => catalog.apply(changed));
  observeSettlements(parts.registry, () => ({
    led: publisher.ledShards.length,
    open: publisher.openShards,
    poisoned: publisher.poisonedShards,
    pending: settlements?.waiting ?? 0,
  }));
  const costs = new RecordedCosts({ store: createRedisBillStore(cluster.redis), clock, log });
  settlements = new ShardSettlements({
    shards: SHARDS,
    ofShard: (shard) => cluster.ledger.ofShard(shard),
    ledShards: () => publisher.ledShards,
    logTimeMs: (shard) => publisher.logTimeMs(shard),
    lookUp: createLookUpPrice(catalog, fetchJson),
    onLoss: parts.loss,
    onPriced: parts.charged,
    onCost: (providerId, nanoUsd, factorPpm) => costs.note(providerId, nanoUsd, factorPpm),
    clock,
    log,
  });
  const feeds = await startFeeds(kafka, cluster, parts);

  return {
    checks: { redis: () => cluster.ledger.stats().openShards > 0 },
    async stop() {
      await Promise.all(feeds.map((each) => each.stop()));
      settlements.close();
      await costs.stop();
      await publisher.stop();
      await ledgerLog.close();
      catalog.close();
      await cluster.close();
      await cassandra.shutdown();
    },
  };
}

function startFeeds(
  kafka: FeedOptions['kafka'],
  { ledger }: ClusterLedger,
  { clock, log, feedCounts }: WorkerParts,
): Promise<Feed[]> {
  const start = (topic: string, name: string, handle: FeedOptions['handle']): Promise<Feed> =>
    startKafkaFeed({ kafka, clock, log, ...feedCounts(topic), topic, groupId: `${GROUP}-${name}`, handle });
  return Promise.all([
    start(CREDIT_GRANTS_TOPIC, 'grants', createBookGrant({ ledger, clock })),
    start(AGENTS_TOPIC, 'agents', createApplyAgentChange(ledger)),
  ]);
}
