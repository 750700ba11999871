import { Gauge, type Registry } from 'prom-client';
import type { OpenBreaker } from './provider-health.ts';

/** One series for each provider and cause of an open circuit breaker, which is gone when the last of them has closed. */
export function observeOpenBreakers(registry: Registry, open: () => readonly OpenBreaker[]): void {
  new Gauge({
    name: 'faregate_circuit_breakers_open',
    help: 'Circuit breakers that keep calls from a provider, its key or one of its endpoints, by cause',
    labelNames: ['provider', 'cause'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { providerId, cause } of open()) this.inc({ provider: providerId, cause });
    },
  });
}
