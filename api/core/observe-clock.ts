import type { Registry } from 'prom-client';
import { SECOND_MS } from './clock.ts';
import { readMetrics } from './read-metrics.ts';
import type { TrustedClock } from './trusted-clock.ts';

export function observeClock(registry: Registry, clock: Pick<TrustedClock, 'doubt'>): void {
  readMetrics(registry).gauge(
    'faregate_clock_doubted_seconds',
    'How far the clock of this machine has jumped ahead without being believed; 0 while it is believed',
    () => (clock.doubt()?.aheadMs ?? 0) / SECOND_MS,
  );
}
