import type { Registry } from 'prom-client';
import { readMetrics } from '#core/read-metrics.ts';
import type { MarketPipeline } from './market-pipeline.ts';
import { observeMoves } from './observe-moves.ts';

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
