import { afterAll, beforeAll, expect, test } from 'vitest';
import { describeWith } from '../support/with-services.ts';
import { FaultCluster } from './fault-cluster.ts';
import { faultTable } from './fault-table.ts';
import { faults } from './faults.ts';
import { FaultRun } from './run-faults.ts';
import { runStorm } from './storm.ts';

const SEED = Date.now() % 1_000_000;
const REDIS_AWAY_MS = 4_000;
const STORMS = 10;

describeWith(['redis', 'kafka', 'cassandra'], `a cluster of processes under load (seed ${SEED})`, () => {
  let cluster: FaultCluster;
  let run: FaultRun;
  beforeAll(async () => {
    cluster = await FaultCluster.start({ streamMs: 15_000 });
    run = await FaultRun.open({ cluster, seed: SEED, redisAwayMs: REDIS_AWAY_MS });
  });
  afterAll(async () => {
    if (run !== undefined) {
      console.log(faultTable(run.rounds));
      await run.close();
    }
    await cluster?.[Symbol.asyncDispose]();
  });

  test('200 calls at once through three processes never hold more than there is, and the log justifies every refusal', async () => {
    const { problems, ...summary } = await runStorm(cluster, STORMS, SEED);
    console.log(`${STORMS} storms:`, summary);
    expect(problems).toEqual([]);
    expect(summary).toMatchObject({ rounds: STORMS, statuses: { 402: expect.any(Number) } });
    expect(summary.started).toBeGreaterThan(10 * STORMS);
  });

  test.each(Object.keys(faults))(
    '%s: every cost that was shown is what was charged, and nothing is held for ever',
    async (name) => {
      const round = await run.strike(name);
      // A round that showed nothing, or that nobody noticed, proves nothing.
      expect(round.shown).toBeGreaterThan(20);
    },
  );
});
