import type { Registry } from 'prom-client';
import { readMetrics } from '#core/read-metrics.ts';
import type { Projector } from './projector.ts';

export function observeProjector(registry: Registry, projector: Pick<Projector, 'stats'>): void {
  const { gauge, counter } = readMetrics(registry);
  gauge('faregate_projector_shards', 'Shards that this process projects', () => projector.stats().shards);
  gauge('faregate_projector_lag_events', 'Events not yet in the history', () => projector.stats().lagEvents);
  gauge(
    'faregate_projector_lag_ms',
    'Age of the oldest event that is not yet in the history',
    () => projector.stats().lagMs,
  );
  counter(
    'faregate_projected_events_total',
    'Events of the log whose rows are written',
    () => projector.stats().events,
  );
  counter('faregate_projected_calls_total', 'Rows of calls written', () => projector.stats().calls);
}
