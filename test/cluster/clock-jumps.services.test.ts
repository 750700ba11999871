import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseNanoUsd } from '#core/money.ts';
import { until } from '../support/gateway.ts';
import { PATIENT_API } from '../support/patience.ts';
import { describeWith } from '../support/with-services.ts';
import { clockTable } from './clock-table.ts';
import { FaultCluster } from './fault-cluster.ts';
import { ClockRun } from './run-clock-jumps.ts';

const SEED = Date.now() % 1_000_000;

// `make clock-jumps` runs every jump of every clock.
describeWith(['redis', 'kafka', 'cassandra'], `a cluster whose clocks jump (seed ${SEED})`, () => {
  let cluster: FaultCluster;
  let run: ClockRun;
  beforeAll(async () => {
    // No jump is about how soon Redis answers on a busy machine.
    cluster = await FaultCluster.start({ streamMs: 15_000, apiEntry: PATIENT_API });
    run = await ClockRun.open(cluster, SEED);
  });
  afterAll(async () => {
    if (run !== undefined) {
      console.log(clockTable(run.rounds));
      await run.close();
    }
    await cluster?.[Symbol.asyncDispose]();
  });

  test('serves every agent in every process while one API process is two hours ahead for two minutes, and afterwards', async () => {
    if (!cluster.redisClock.moves) return;
    const round = await run.jump('+2 h', 'an API process', 'running');
    // On a busy machine a shard is without a leader for a moment, whatever the clocks say, and its calls are refused with it.
    expect(round).toMatchObject({ remedy: 'nothing', readyz: '200' });
    expect(round.served).toBeGreaterThan(20);
  });

  test("says why it refuses calls while Redis' clock is three days ahead, and serves them once it is right", async () => {
    if (!cluster.redisClock.moves) return;
    const round = await run.jump('+3 days', 'Redis', 'running');
    expect(round).toMatchObject({ remedy: 'nothing' });
    expect(round.readyz).toContain("Redis' clock is 3 d ahead");
  });

  test('believes three days that every clock has confirmed; after clock repair it serves calls, and what ended meanwhile does not come back', async () => {
    if (!cluster.redisClock.moves) return;
    const ending = await cluster.newAgent(parseNanoUsd('1') ?? 0n);
    expect(await run.statuses(ending)).toEqual([200, 200, 200]);
    const round = await run.jump('+3 days', 'all', 'believed');
    expect(round).toMatchObject({ remedy: 'clock repair' });
    await until(async () => {
      const view = await cluster.ledger.readAgent(ending.agentId);
      return view !== null && view !== 'unavailable' && view.expiredNanoUsd > 0n && view.holds.length === 0;
    });
    expect(await run.statuses(ending)).toEqual([402, 402, 402]);
  });
});
