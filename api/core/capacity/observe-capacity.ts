import type { Registry } from 'prom-client';
import type { NanoUsd } from '../money.ts';
import { toGraphUsd } from '../operator-losses.ts';
import { readMetrics } from '../read-metrics.ts';

/** Told by whoever holds some of it: calls where they run, videos where they are worked on. */
export function observeCapacity(registry: Registry, heldNanoUsd: () => NanoUsd): void {
  readMetrics(registry).gauge(
    'faregate_capacity_held_usd',
    "Dollars of the operator's pool that calls and videos of this process hold",
    () => toGraphUsd(heldNanoUsd()),
  );
}
