import { clusterBars } from './bars.ts';
import { measureEmbeddedHistory } from './measure-embedded-history.ts';
import { measureProjector } from './measure-projector.ts';
import { medianAndSpread, shortNumber } from './report.ts';
import { runPart } from './run-part.ts';
import { median } from './statistics.ts';

const AGENTS = [6_400, 640];

/** Cassandra and the projector on the same cores; then the journal, which writes its history itself. */
await runPart('History', { pinned: false }, async ({ report, sizes }) => {
  const wanted = clusterBars.projectedPerSecond;
  const { cassandra: calls, sqlite } = sizes.projectedCalls;
  // Few calls an agent, so that nearly every row is a write of its own; and many, as while catching up.
  for (const agents of AGENTS) {
    const load = { agents, calls, liveCallsPerSecond: 100, liveSeconds: sizes.liveSeconds };
    const { backlogCallsPerSecond, cpuMsPerCall, liveLagMs } = await measureProjector(load);
    report.line(
      `${agents} agents: ${shortNumber(cpuMsPerCall)} ms of CPU a call; at ${load.liveCallsPerSecond} calls/s behind by ` +
        `${Math.round(liveLagMs.p50)} ms (p50), ${Math.round(liveLagMs.max)} ms (most)`,
    );
    report.verdict({
      bar: `projector into Cassandra, ${agents} agents >= ${wanted.cassandra} calls/s`,
      measured: `${Math.round(backlogCallsPerSecond)} calls/s`,
      met: backlogCallsPerSecond >= wanted.cassandra,
    });
  }
  const perSecond = await measureEmbeddedHistory({ calls: sqlite, rounds: sizes.rounds });
  report.verdict({
    bar: `history into SQLite, with the ledger that decides it >= ${wanted.sqlite} calls/s`,
    measured: `${medianAndSpread(perSecond)} calls/s`,
    met: median(perSecond) >= wanted.sqlite,
  });
});
