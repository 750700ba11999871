import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { CallHistory } from '#core/calls/call-history.ts';
import { createCassandraCallHistory } from '#core/calls/cassandra-call-history.ts';
import { systemClock } from '#core/clock.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { migrateCassandra } from '#core/drivers/cassandra-migrations.ts';
import { openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import { createLog } from '#core/log.ts';
import { startCassandra } from '../services/start-cassandra.ts';
import { cassandraAt } from '../support/cassandra-at.ts';
import { historyBars } from './bars.ts';
import { fillCassandra, fillSqlite } from './fill-history.ts';
import { measureHistoryReads } from './measure-history-reads.ts';
import { percentiles } from './report.ts';
import { type Bench, runPart } from './run-part.ts';
import { quantile } from './statistics.ts';

const CACHE = join(import.meta.dirname, '../../.cache');

/** One agent with so many calls that whatever looks at all of them is late. */
await runPart('Reads of a long history', { pinned: false }, async (bench) => {
  const { sqlite, cassandra } = bench.sizes.keptCalls;
  const nowMs = systemClock.now();
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, 'bench-reads-'));
  bench.later(() => rm(folder, { recursive: true, force: true }));

  const dataDir = join(folder, 'data');
  await mkdir(dataDir, { mode: 0o700 });
  await filled(bench, `${sqlite} calls into SQLite`, () => fillSqlite(dataDir, sqlite, nowMs));
  const ledger = await openEmbeddedLedger({ dataDir, clock: systemClock, log: createLog() });
  await measure(bench, `SQLite, ${sqlite} calls`, ledger.history, nowMs);
  await ledger.close();

  const node = await startCassandra({ dir: join(folder, 'cassandra'), asOperated: true });
  bench.later(() => node.stop('SIGKILL'));
  await migrateCassandra({ ...cassandraAt(node), replicas: { datacenter1: 1 }, clock: systemClock });
  const client = connectCassandra(cassandraAt(node));
  bench.later(() => client.shutdown());
  await filled(bench, `${cassandra} calls into Cassandra`, () => fillCassandra(client, cassandra, nowMs));
  const history = createCassandraCallHistory(client, systemClock);
  await measure(bench, `Cassandra, ${cassandra} calls`, history, nowMs);
});

async function filled({ report }: Bench, what: string, fill: () => Promise<void>): Promise<void> {
  const startedMs = performance.now();
  await fill();
  report.line(`${what} in ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`);
}

async function measure(
  { report, sizes }: Bench,
  where: string,
  history: CallHistory,
  nowMs: number,
): Promise<void> {
  for (const { what, ms } of await measureHistoryReads(history, { reads: sizes.historyReads, nowMs })) {
    report.verdict({
      bar: `${where}: ${what}, p99 <= ${historyBars.readMs} ms`,
      measured: `${percentiles(ms)} ms`,
      met: quantile(ms, 0.99) <= historyBars.readMs,
    });
  }
}
