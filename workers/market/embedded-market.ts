import type { Registry } from 'prom-client';
import { createFeedMetrics } from '#core/events/feed-metrics.ts';
import type { DirectFeeds } from '#core/market/direct-feeds.ts';
import { FedTopic } from './fed-topic.ts';
import { createMarketPipeline, type MarketParts } from './market-pipeline.ts';
import { observeMarket } from './observe-market.ts';

export interface EmbeddedMarket {
  feeds: DirectFeeds;
  /** After the last records. */
  stop(): Promise<void>;
}

/** A gateway by itself: records come to this process, and their feeder is told what comes of each. */
export function startEmbeddedMarket({
  registry,
  ...parts
}: Omit<MarketParts, 'reject' | 'requestSnapshot'> & { registry: Registry }): EmbeddedMarket {
  const told = async () => {};
  const pipeline = createMarketPipeline({ ...parts, reject: told, requestSnapshot: told });
  observeMarket(registry, pipeline);
  const countsOf = createFeedMetrics(registry);
  const topics = new Map(
    [...new Set(pipeline.readers.map(({ topic }) => topic))].map((topic) => {
      const handlers = pipeline.readers
        .filter((reader) => reader.topic === topic)
        .map(({ handler }) => handler);
      return [topic, new FedTopic({ topic, handlers, counts: countsOf(topic), log: parts.log })];
    }),
  );
  return {
    feeds: {
      feed: async (topic, records) => (await topics.get(topic)?.feed(records)) ?? 'unknown_topic',
      async wantedSnapshots() {
        // Where the list cannot be read, those that have stopped are known all the same.
        const missing = await pipeline.missingBooks().catch(() => []);
        return [...pipeline.books.stoppedMarkets, ...missing];
      },
    },
    async stop() {
      await Promise.all(Array.from(topics.values(), (topic) => topic.idle()));
      await pipeline.stop();
    },
  };
}
