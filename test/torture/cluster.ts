import { FaultCluster } from '../cluster/fault-cluster.ts';
import { faultTable } from '../cluster/fault-table.ts';
import { faults } from '../cluster/faults.ts';
import { FaultRun } from '../cluster/run-faults.ts';
import { runStorm } from '../cluster/storm.ts';
import { createDraw, pick } from '../ledger/history/random.ts';

const STORMS = 200;
const REDIS_AWAY_MS = 61_000;
/** Longer than any stream here. */
const STREAM_MS = 90_000;
/** For the last orphan: its time limit, two minutes, two more after its shard's last opening, and a look each minute. */
const ORPHANS_END_MS = 10 * 60_000;

/**
 * Storms, then random faults on real processes; after each of them all money is compared, and at the end nothing may be
 * held any more. Rejects, with the seed, at the first broken promise.
 */
export async function tortureCluster(seed: number, rounds: number): Promise<string> {
  await using cluster = await FaultCluster.start({ streamMs: STREAM_MS });
  const { problems, ...storms } = await runStorm(cluster, STORMS, seed);
  if (problems.length > 0) throw new Error(`seed ${seed}: ${problems.join('\n')}`);
  console.log(storms);
  const run = await FaultRun.open({ cluster, seed, redisAwayMs: REDIS_AWAY_MS });
  const draw = createDraw(seed);
  try {
    while (run.rounds.length < rounds) {
      const name = pick(draw, Object.keys(faults));
      await run.strike(name).catch((error) => {
        throw new Error(`seed ${seed}, round ${run.rounds.length}, ${name}`, { cause: error });
      });
      console.log(`${run.rounds.length}/${rounds}: ${name}`);
    }
    await run.untilRight(ORPHANS_END_MS, false);
    return faultTable(run.rounds);
  } catch (error) {
    console.log(faultTable(run.rounds));
    throw error;
  } finally {
    await run.close();
  }
}
