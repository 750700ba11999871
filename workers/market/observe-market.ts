import { Gauge, type Registry } from 'prom-client';
import type { Feed } from '#core/events/kafka-batch-feed.ts';
import { toGraphUsd } from '#core/operator-losses.ts';
import { readMetrics } from '#core/read-metrics.ts';
import type { CreditMover } from './credit-mover.ts';
import type { MarketPipeline, MarketReader } from './market-pipeline.ts';

export function observeMarket(
  registry: Registry,
  { books, mover }: Pick<MarketPipeline, 'books' | 'mover'>,
): void {
  readMetrics(registry).gauge(
    'faregate_books_stopped',
    'Markets whose book waits for its next snapshot, and is shown to nobody',
    () => books.stoppedMarkets.length,
  );
  observeMoves(registry, mover);
}

/** What operators see of credit that changes hands. */
export function observeMoves(
  registry: Registry,
  mover: Pick<CreditMover, 'counts' | 'inTransitNanoUsd'>,
): void {
  const { gauge, counter } = readMetrics(registry);
  gauge(
    'faregate_credit_in_transit_usd',
    'Dollars that have left their sellers and not yet come to their buyers, in this process',
    () => toGraphUsd(mover.inTransitNanoUsd),
  );
  counter('faregate_market_moves_total', 'Trades whose credit was moved', () => mover.counts.moved);
  counter('faregate_trades_rejected_total', 'Trades that have moved nothing', () => mover.counts.rejected);
  counter(
    'faregate_market_expired_usd_total',
    'Dollars of bought credit that expired as they came in: it had ended, or its buyer was at the cap',
    () => toGraphUsd(mover.counts.expiredNanoUsd),
  );
}

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
