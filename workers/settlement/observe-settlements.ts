import type { Registry } from 'prom-client';
import { readMetrics } from '#core/read-metrics.ts';

export interface SettlementCounts {
  led: number;
  open: number;
  /** Given up for good. */
  poisoned: number;
  pending: number;
}

export function observeSettlements(registry: Registry, read: () => SettlementCounts): void {
  const { gauge } = readMetrics(registry);
  gauge('faregate_shards_led', 'Shards whose events this process takes to the log', () => read().led);
  gauge(
    'faregate_shards_published',
    'Shards that this process takes to the log and that decide',
    () => read().open,
  );
  gauge(
    'faregate_shards_poisoned',
    'Shards given up for good, because their log holds what nobody can read',
    () => read().poisoned,
  );
  gauge('faregate_pending_prices', 'Ended calls whose cost is not known yet', () => read().pending);
}
