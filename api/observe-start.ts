import { readFileSync } from 'node:fs';
import { Gauge, type Registry } from 'prom-client';
import type { StartWaits } from '#core/start-waits.ts';

/** What every process tells from its first moment on. */
export function observeStart(registry: Registry, waits: Pick<StartWaits, 'reasons'>): void {
  const registers = [registry];
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  new Gauge({
    name: 'faregate_build_info',
    help: 'Always 1; the release that runs',
    labelNames: ['version'],
    registers,
  }).set({ version }, 1);
  new Gauge({
    name: 'faregate_store_awaited',
    help: '1 for each store that this process needs and has not reached or found ready since its start',
    labelNames: ['store'],
    registers,
    collect() {
      this.reset();
      for (const store of waits.reasons.keys()) this.set({ store }, 1);
    },
  });
}
