import { Histogram, type Registry } from 'prom-client';
import type { RedisLedger } from '#core/ledger/cluster/redis-ledger.ts';
import type { EmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import { readMetrics } from '#core/read-metrics.ts';

const COMMIT_MS_BUCKETS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25, 50, 100, 250, 1_000];

export function observeJournal(registry: Registry, ledger: Pick<EmbeddedLedger, 'onCommit'>): void {
  const commits = new Histogram({
    name: 'faregate_journal_commit_ms',
    help: 'Time from a decision batch to its commit on disk',
    buckets: COMMIT_MS_BUCKETS,
    registers: [registry],
  });
  ledger.onCommit((ms) => commits.observe(ms));
}

/** A cluster's ledger, as an API process sees it. */
export function observeShards(registry: Registry, ledger: Pick<RedisLedger, 'stats'>): void {
  const { gauge, counter } = readMetrics(registry);
  gauge(
    'faregate_shards_open',
    'Shards that decide, as this process was told last',
    () => ledger.stats().openShards,
  );
  gauge('faregate_shards_closed', 'Shards that are being rebuilt', () => ledger.stats().closedShards);
  counter(
    'faregate_gate_timeouts_total',
    'Starts that the log did not have in time',
    () => ledger.stats().gateTimeouts,
  );
  counter(
    'faregate_dispatch_waits_total',
    'Starts whose provider was asked late, because the log was slow',
    () => ledger.stats().dispatchWaits,
  );
  counter(
    'faregate_clocks_apart_total',
    'Starts refused because the clocks of this process and of Redis are more than five minutes apart',
    () => ledger.stats().clocksApart,
  );
  counter(
    'faregate_ledger_unavailable_total',
    'Commands and reads that Redis, or a shard, did not answer',
    () => ledger.stats().unavailable,
  );
}
