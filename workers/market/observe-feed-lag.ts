import { Gauge, type Registry } from 'prom-client';
import type { Feed } from '#core/events/kafka-batch-feed.ts';
import type { MarketReader } from './market-pipeline.ts';

/** How far each reader of the exchange's topics is behind. */
export function observeFeedLag(
  registry: Registry,
  feeds: readonly (Pick<MarketReader, 'name' | 'topic'> & { feed: Pick<Feed, 'lagMs'> })[],
): void {
  new Gauge({
    name: 'faregate_feed_lag_ms',
    help: 'Age of the oldest record of a market that waits for its reader, by topic and reader; 0: none waits',
    labelNames: ['topic', 'reader'],
    registers: [registry],
    collect() {
      for (const { name, topic, feed } of feeds) this.set({ topic, reader: name }, feed.lagMs());
    },
  });
}
