import { connectCassandra } from '#core/drivers/cassandra.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { startKafkaBatchFeed } from '#core/events/kafka-batch-feed.ts';
import { feedTopics } from '#core/events/kafka-feed-topics.ts';
import { createCassandraMarketStore } from '#core/market/cassandra-market-store.ts';
import { createRedisLiveMarkets } from '#core/market/redis-live-markets.ts';
import { marketGroup } from '#core/worker-names.ts';
import { openKafkaExchange } from '../../../workers/market/kafka-exchange.ts';
import { createMarketPipeline } from '../../../workers/market/market-pipeline.ts';
import { askForMissingBooks } from '../../../workers/market/missing-books.ts';
import { observeFeedLag, observeMarket } from '../../../workers/market/observe-market.ts';
import { toCassandraOptions, toKafkaOptions } from '../../config/store-options.ts';
import { awaitSchema, awaitTopics, reachLedger } from '../../stores/reach.ts';
import type { RunningRole, WorkerParts } from './worker-parts.ts';

/** Keeps books, candles and the list of markets, and moves the credit of their trades. */
export async function startMarketRole(parts: WorkerParts): Promise<RunningRole> {
  const { config, storage, registry, waits, clock, log } = parts;
  if (config.market === 'off') {
    log.info('market is off, so there is nothing to do for it');
    return { checks: {}, stop: async () => {} };
  }
  const kafka = connectKafka(toKafkaOptions(storage.kafka, 'faregate-market'));
  await awaitTopics(waits, kafka, feedTopics);
  await awaitSchema({ waits, cassandra: storage.cassandra, log });
  const cluster = await reachLedger(storage, { waits, clock, log });
  const cassandra = connectCassandra(toCassandraOptions(storage.cassandra));
  const exchange = await openKafkaExchange(kafka, clock);
  const pipeline = createMarketPipeline({
    store: createCassandraMarketStore(cassandra),
    live: createRedisLiveMarkets(cluster.redis),
    ledger: cluster.ledger,
    reject: exchange.reject,
    requestSnapshot: exchange.requestSnapshot,
    clock,
    log,
  });
  observeMarket(registry, pipeline);
  const feeds = await Promise.all(
    pipeline.readers.map(async ({ name, topic, handler }) => {
      const groupId = marketGroup(name);
      const feed = await startKafkaBatchFeed({
        ...{ kafka, topic, groupId, handler, clock, log },
        ...parts.feedCounts(topic),
      });
      return { name, topic, feed };
    }),
  );
  observeFeedLag(registry, feeds);
  // Which partition a market has is its writer's choice; one process asks for all, that which reads the first one.
  const asking = askForMissingBooks({
    find: pipeline.missingBooks,
    isOurs: () => feeds.some(({ name, feed }) => name === 'books' && feed.partitions().includes(0)),
    requestSnapshot: exchange.requestSnapshot,
    clock,
    log,
  });
  return {
    checks: { market: () => cluster.ledger.stats().openShards > 0 },
    async stop() {
      await asking.stop();
      await Promise.all(feeds.map(({ feed }) => feed.stop()));
      await pipeline.stop();
      await exchange.close();
      await cluster.close();
      await cassandra.shutdown();
    },
  };
}
