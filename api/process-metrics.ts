import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import type { EmbeddedLedger } from '#core/ledger/embedded-ledger.ts';
import type { Settlement } from '../workers/settlement/settlement.ts';
import type { LiveConfig } from './config/watch-config.ts';
import type { Gateway } from './inference/gateway.ts';
import { PlainHistogram } from './inference/plain-histogram.ts';

interface Observed {
  ledger: EmbeddedLedger;
  gateway: Gateway;
  settlement: Settlement;
  config: LiveConfig;
}

const COMMIT_MS_BUCKETS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25, 50, 100, 250, 1_000];

/** State that is read when somebody looks, so that it costs nothing while nobody does. */
export function observeProcess(registry: Registry, { ledger, gateway, settlement, config }: Observed): void {
  collectDefaultMetrics({ register: registry });
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  gauge('faregate_open_calls', 'Calls between their hold and their settlement', () => gateway.openCalls.size);
  gauge('faregate_open_streams', 'Streams among them', () => gateway.openCalls.streams);
  gauge('faregate_pumps', 'Answers read on after a hang-up, for their usage', () => gateway.openCalls.pumps);
  gauge(
    'faregate_capacity_held_usd',
    "Dollars of the operator's pool in use",
    () => Number(gateway.capacity.heldNanoUsd) / 1e9,
  );
  gauge('faregate_pending_prices', 'Ended calls whose cost is not known yet', () => settlement.waiting);
  gauge(
    'faregate_closings_owed',
    'Ended calls that the journal has not confirmed',
    () => gateway.ledgerRetries.waiting,
  );
  gauge('faregate_journal_lag_events', 'Decided events that are not on disk', () => ledger.stats().lagEvents);
  gauge('faregate_journal_lag_ms', 'Age of the oldest of them', () => ledger.stats().lagMs);
  gauge('faregate_ledger_open', '1 while the ledger decides', () => Number(ledger.stats().state === 'open'));
  gauge('faregate_config_reload_ok', '0 after a reload that was refused', () =>
    Number(config.lastReload()?.ok ?? true),
  );
  const commits = new PlainHistogram({
    name: 'faregate_journal_commit_ms',
    help: 'Time from a decision batch to its commit on disk',
    buckets: COMMIT_MS_BUCKETS,
    registers: [registry],
  });
  ledger.onCommit((ms) => commits.note(ms));
}
