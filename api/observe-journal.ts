import type { Registry } from 'prom-client';
import type { EmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import { PlainHistogram } from './inference/hold/plain-histogram.ts';

const COMMIT_MS_BUCKETS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25, 50, 100, 250, 1_000];

export function observeJournal(registry: Registry, ledger: Pick<EmbeddedLedger, 'onCommit'>): void {
  const commits = new PlainHistogram({
    name: 'faregate_journal_commit_ms',
    help: 'Time from a decision batch to its commit on disk',
    buckets: COMMIT_MS_BUCKETS,
    registers: [registry],
  });
  ledger.onCommit((ms) => commits.note(ms));
}
