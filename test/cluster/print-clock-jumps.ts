import { clockTable } from './clock-table.ts';
import { type Jump, jumps, owners } from './cluster-clocks.ts';
import { FaultCluster } from './fault-cluster.ts';
import { ClockRun, type When } from './run-clock-jumps.ts';

/*
 * `make clock-jumps [SEED=n] [JUMPS="+2 h,-3 days"]`: every jump of every clock of a real cluster, while it runs and at a start,
 * and what came of it. Stops at the first jump after which calls are refused without a word or money is not equal.
 */
const seed = Number(process.env.SEED || Date.now() % 1_000_000);
const names = process.env.JUMPS ? process.env.JUMPS.split(',') : Object.keys(jumps);
const isJump = (name: string): name is Jump => name in jumps;

console.log(`seed ${seed}`);
const startedAtMs = performance.now();
await using cluster = await FaultCluster.start({ streamMs: 15_000 });
const run = await ClockRun.open(cluster, seed);
try {
  for (const jump of names.filter(isJump)) {
    for (const owner of owners) {
      const times: When[] = ['running'];
      // A store's clock is wrong at the start of nobody but its own processes, which remember nothing.
      if (owner !== 'Redis') times.push('at start');
      if (owner === 'all') times.push('believed');
      for (const when of times) {
        await run.jump(jump, owner, when);
        console.log(
          `${jump}, ${owner}, ${when}: held after ${Math.round((performance.now() - startedAtMs) / 1000)} s`,
        );
      }
    }
  }
} finally {
  console.log(clockTable(run.rounds));
  await run.close();
}
