import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { executeDurably } from '#core/accounts/execute-durably.ts';
import { DAY_MS, isoTime, startOfDayMs, systemClock } from '#core/clock.ts';
import { openEmbeddedLedger } from '#core/ledger/embedded/embedded-ledger.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { createLog } from '#core/log.ts';
import { formatUsd } from '#core/money.ts';
import { StartWaits } from '#core/start-waits.ts';
import { trustedClock } from '#core/trusted-clock.ts';
import { auditLedger } from '../../api/admin/audit-ledger.ts';
import { reachLedger } from '../../api/stores/reach.ts';
import { CreditMover } from '../../workers/market/credit-mover.ts';
import { createDraw } from '../ledger/history/random.ts';
import { marketBars } from './bars.ts';
import { startBenchCluster } from './bench-cluster.ts';
import type { Bench } from './run-part.ts';

/** So few that trades often wait for another of the same agent. */
const AGENTS = 500;
const GRANTED_NANO_USD = 1_000_000n;
/** As a feed hands them in. */
const BATCH = 500;
const CACHE = join(import.meta.dirname, '../../.cache');

/** Credit that changes hands, both halves of each trade in the journal; then the books have to be right. */
export async function benchMoves(bench: Bench): Promise<void> {
  const { report, sizes } = bench;
  const wanted = marketBars.movesPerSecond;
  report.heading(`Moves of credit among ${AGENTS} agents`);
  const cluster = await startBenchCluster(bench);
  await cluster.startWorker();
  const [clock, log] = [systemClock, createLog()];
  const waits = new StartWaits(clock, log);
  const { ledger, close } = await reachLedger(cluster.storage, { waits, clock: trustedClock(clock), log });
  bench.later(close);
  using _core = bench.measureSelf();
  const onCluster = await measure(ledger, sizes.moves.cluster);
  report.verdict({
    bar: `moves of credit on a cluster >= ${wanted.cluster} moves/s`,
    measured: `${Math.round(onCluster)} moves/s`,
    met: onCluster >= wanted.cluster,
  });

  await mkdir(CACHE, { recursive: true });
  const dataDir = await mkdtemp(join(CACHE, 'bench-moves-'));
  bench.later(() => rm(dataDir, { recursive: true, force: true }));
  const here = await openEmbeddedLedger({ dataDir, clock: systemClock, log: createLog() });
  bench.later(() => here.close());
  const embedded = await measure(here, sizes.moves.embedded);
  report.verdict({
    bar: `moves of credit, embedded >= ${wanted.embedded} moves/s`,
    measured: `${Math.round(embedded)} moves/s`,
    met: embedded >= wanted.embedded,
  });
}

/** Moves a second. */
async function measure(ledger: Ledger, trades: number): Promise<number> {
  const expiresAtMs = startOfDayMs(systemClock.now()) + 8 * DAY_MS;
  const grants = Array.from({ length: AGENTS }, (_, i) =>
    executeDurably(ledger, {
      ...{ type: 'grant', agentId: i + 1, grantId: 'bench', expiresAtMs, nanoUsd: GRANTED_NANO_USD },
    }),
  );
  for (const granted of await Promise.all(grants)) if (!granted.ok) throw new Error(granted.reason);
  const mover = new CreditMover({
    ledger,
    reject: async (_, reason) => {
      throw new Error(`a trade was rejected: ${reason}`);
    },
    log: createLog(),
  });
  const records = drawRecords(trades, isoTime(expiresAtMs).slice(0, 10));
  const startedMs = performance.now();
  for (let at = 0; at < records.length; at += BATCH) {
    const { outcomes } = await mover.handle({ partition: 0, records: records.slice(at, at + BATCH) });
    if (outcomes.some(({ outcome }) => outcome !== 'done')) throw new Error('a trade was not moved');
  }
  const perSecond = (trades * 1_000) / (performance.now() - startedMs);
  const audit = await auditLedger(ledger, systemClock.now());
  if (audit === 'unavailable' || !audit.ok || audit.totals.in_transit_usd !== '0') {
    throw new Error('the books are not right');
  }
  if (mover.counts.moved !== trades) throw new Error(`${mover.counts.moved} of ${trades} trades were moved`);
  return perSecond;
}

function drawRecords(trades: number, date: string): { offset: bigint; bytes: Buffer }[] {
  const draw = createDraw(1);
  return Array.from({ length: trades }, (_, i) => {
    const trade = {
      ...{ v: 1, type: 'traded', market: `credit-${date}`, seq: i + 1, tradeId: `bench-${i}` },
      ...{ at: isoTime(systemClock.now()), price: '0.97', size: formatUsd(BigInt(1 + draw(100))) },
      ...{ sellerAgentId: 1 + draw(AGENTS), buyerAgentId: 1 + draw(AGENTS) },
    };
    return { offset: BigInt(i), bytes: Buffer.from(JSON.stringify(trade)) };
  });
}
