import type { Registry } from 'prom-client';
import { createFeedMetrics } from '#core/events/feed-metrics.ts';
import { createOperatorLosses, toGraphUsd } from '#core/operator-losses.ts';
import { readMetrics } from '#core/read-metrics.ts';
import type { WorkerParts } from './worker-parts.ts';

/** What all roles of a process count together. */
export function countForAll(registry: Registry): Pick<WorkerParts, 'loss' | 'charged' | 'feedCounts'> {
  let chargedUsd = 0;
  readMetrics(registry).counter('faregate_charged_usd_total', 'Dollars charged', () => chargedUsd);
  return {
    loss: createOperatorLosses(registry),
    charged: (nanoUsd) => {
      chargedUsd += toGraphUsd(nanoUsd);
    },
    feedCounts: createFeedMetrics(registry),
  };
}
