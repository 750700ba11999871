import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import type { RedisLedger } from '#core/ledger/cluster/redis-ledger.ts';
import { LedgerRetries } from '../../../api/inference/hold/ledger-retries.ts';
import { startTestCluster, type TestCluster } from '../../support/cluster.ts';
import { until } from '../../support/gateway.ts';
import { describeWith } from '../../support/with-services.ts';
import { readAgent } from '../case.ts';
import { callEnd } from '../commands.ts';
import { ClusterCaller } from './cluster-caller.ts';

const AWAY_MS = 30_000;

describeWith(['redis', 'kafka'], 'rule 7, outages: while', () => {
  let cluster: TestCluster;
  let ledger: RedisLedger;
  let caller: ClusterCaller;
  beforeEach(async () => {
    cluster = await startTestCluster();
    const publisher = await cluster.publisher();
    ledger = await cluster.ledger();
    caller = new ClusterCaller(ledger, cluster.shards);
    await until(() => publisher.openShards === cluster.shards, AWAY_MS);
  });
  afterEach(() => cluster[Symbol.asyncDispose]());

  /** What a pod does at the end of a call. */
  function startEnding(agentId: number, callId: number, costNanoUsd: bigint): LedgerRetries {
    const log = { info() {}, warn() {}, error() {} };
    const retries = new LedgerRetries({ ledger, clock: systemClock, log });
    void retries.close({ type: 'settle', agentId, callId, costNanoUsd, end: callEnd, cause: 'end' });
    return retries;
  }

  /** A start that is too late for the log is given up, as a pod does it. */
  async function startsNothing(agentId: number): Promise<boolean> {
    const command = caller.reserve(agentId, 10n);
    const { result, durable } = await ledger.execute(command);
    if (!result.ok) return result.reason === 'unavailable';
    if ((await durable) === 'unknown') startEnding(agentId, command.callId, 0n);
    return false;
  }

  test.each(['is dead', 'answers nobody'])(
    'Kafka %s no call starts, running ones end, and their ends are in the log as soon as it is back',
    async (how) => {
      await caller.makeAgent(1, 1_000n);
      const running = caller.reserve(1, 100n);
      expect(await caller.told(running)).toMatchObject({ ok: true });
      const comeBack = how === 'is dead' ? await cluster.killKafka() : cluster.pauseKafka();
      await until(() => startsNothing(1), AWAY_MS);
      const retries = startEnding(1, running.callId, 30n);
      await until(
        async () => (await (await cluster.client()).hget('faregate:{s01}:a:1', 'charged')) === '30',
        AWAY_MS,
      );
      expect(retries.waiting).toBe(1);
      expect(await startsNothing(1)).toBe(true);
      expect(ledger.stats().openShards).toBe(cluster.shards);
      await comeBack();
      await until(() => retries.waiting === 0, AWAY_MS);
      await caller.call(1, 10n, 1n);
      // Starts of which nobody was told are free again.
      await until(async () => (await readAgent(ledger, 1)).holds.length === 0, AWAY_MS);
      expect(await readAgent(ledger, 1)).toMatchObject({ chargedNanoUsd: 31n });
      expect(cluster.logged.filter((line) => line.includes('Gap'))).toEqual([]);
    },
  );

  test('Redis is away no call starts, and what ran is charged once when it is back', async () => {
    await caller.makeAgent(1, 1_000n);
    const running = caller.reserve(1, 100n);
    expect(await caller.told(running)).toMatchObject({ ok: true });
    const comeBack = await cluster.killRedis();
    expect(await startsNothing(1)).toBe(true);
    expect(await ledger.readAgent(1)).toBe('unavailable');
    expect(await ledger.findKey(['any'])).toBe('unavailable');
    const retries = startEnding(1, running.callId, 30n);
    await until(() => ledger.stats().closedShards === cluster.shards, AWAY_MS);
    await comeBack();
    await until(() => retries.waiting === 0, AWAY_MS);
    await caller.call(1, 10n, 1n);
    expect(await readAgent(ledger, 1)).toMatchObject({ chargedNanoUsd: 31n, holds: [] });
    await until(() => ledger.stats().openShards === cluster.shards, AWAY_MS);
  });
});
