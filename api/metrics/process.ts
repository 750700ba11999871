import { Gauge, type Registry } from 'prom-client';
import type { EventLoopLag } from '#core/capacity/event-loop-lag.ts';
import { observeCapacity } from '#core/capacity/observe-capacity.ts';
import type { LiveCatalog } from '#core/catalog/create-catalog.ts';
import { SECOND_MS } from '#core/clock.ts';
import { collectNodeMetrics } from '#core/collect-node-metrics.ts';
import { observeClock } from '#core/observe-clock.ts';
import { programVersion } from '#core/program-version.ts';
import { observeOpenBreakers } from '#core/provider-health/observe-open-breakers.ts';
import { readMetrics } from '#core/read-metrics.ts';
import type { StartWaits } from '#core/start-waits.ts';
import type { TrustedClock } from '#core/trusted-clock.ts';
import type { LiveConfig } from '../config/watch-config.ts';
import type { ConnectionLimit } from '../http/connection-limit.ts';
import type { Gateway } from '../inference/hold/gateway.ts';
import type { Store } from '../stores/store.ts';

interface Observed {
  clock: TrustedClock;
  store: Pick<Store, 'observe' | 'isReady' | 'lag' | 'times'>;
  gateway: Gateway;
  config: LiveConfig;
  catalog: LiveCatalog;
  loopLag: EventLoopLag;
  /** `null`: connections of one address are not counted. */
  connectionLimit: Pick<ConnectionLimit, 'refused'> | null;
}

/** State that is read when somebody looks, so that it costs nothing while nobody does. */
export function observeProcess(
  registry: Registry,
  { clock, store, gateway, config, catalog, loopLag, connectionLimit }: Observed,
): void {
  collectNodeMetrics(registry);
  const { gauge, counter } = readMetrics(registry);
  gauge('faregate_open_calls', 'Calls between their hold and their settlement', () => gateway.openCalls.size);
  gauge(
    'faregate_open_streams',
    'Streams between their hold and their settlement',
    () => gateway.openCalls.streams,
  );
  counter(
    'faregate_calls_cut_by_drain_total',
    'Calls that a drain had no more time for',
    () => gateway.openCalls.endedByShutdown,
  );
  gauge('faregate_draining', '1 once new calls are refused because the process ends', () =>
    Number(gateway.capacity.ending),
  );
  counter(
    'faregate_connections_refused_total',
    'Connections to the public port that were closed because their address had too many open',
    () => connectionLimit?.refused ?? 0,
  );
  gauge(
    'faregate_usage_drains',
    'Answers read on after a hang-up, for their usage',
    () => gateway.openCalls.usageDrains,
  );
  observeCapacity(registry, () => gateway.capacity.ownNanoUsd);
  gauge('faregate_event_loop_lag_ms', 'How long work waited for its turn in the last second', () =>
    loopLag.lagMs(),
  );
  gauge(
    'faregate_unconfirmed_settlements',
    'Ended calls that the journal has not confirmed',
    () => gateway.ledgerRetries.waiting,
  );
  gauge(
    'faregate_journal_lag_events',
    'Decisions that the journal has not confirmed',
    () => store.lag().events,
  );
  gauge('faregate_journal_lag_ms', 'How late the journal is', () => store.lag().ms);
  gauge('faregate_ledger_open', '1 while the ledger can be reached and decides, 0 while it is not', () =>
    Number(store.isReady()),
  );
  observeClock(registry, clock);
  gauge(
    'faregate_ledger_ahead_seconds',
    "How far the ledger's time is ahead of the clock: above 300 no call starts before the clock has caught up",
    () => store.times().aheadMs / SECOND_MS,
  );
  gauge('faregate_config_reload_ok', '0 after a reload that was refused', () =>
    Number(config.lastReload()?.ok ?? true),
  );
  gauge(
    'faregate_catalog_prices_held_back',
    'Imported models whose price jumped, served at the old one',
    () => catalog.status().reduce((sum, { heldBack }) => sum + heldBack.length, 0),
  );
  gauge(
    'faregate_catalog_lists_stale',
    'Providers whose list of models is missing or too old, so that its models are not served',
    () => catalog.status().filter(({ stale }) => stale).length,
  );
  observeOpenBreakers(registry, () => gateway.health.open());
  store.observe(registry);
}

/** What every process tells from its first moment on. */
export function observeStart(registry: Registry, waits: Pick<StartWaits, 'reasons'>): void {
  const registers = [registry];
  new Gauge({
    name: 'faregate_build_info',
    help: 'Always 1; the release that runs',
    labelNames: ['version'],
    registers,
  }).set({ version: programVersion }, 1);
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
