import { afterAll, beforeAll, expect, test } from 'vitest';
import { DAY_MS } from '#core/clock.ts';
import { follow, LOG_START } from '#core/ledger/cluster/effective-log.ts';
import { decodeLogRecord } from '#core/ledger/cluster/log-record.ts';
import type { Publisher } from '#core/ledger/cluster/redis-publisher.ts';
import { shardOfAgent } from '#core/ledger/cluster/shards.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { foldEvent } from '#core/ledger/machine/apply.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import { spendableNanoUsd } from '#core/ledger/machine/lots.ts';
import { startTestCluster, type TestCluster } from '../../support/cluster.ts';
import { until } from '../../support/gateway.ts';
import { describeWith } from '../../support/with-services.ts';
import { ok, readAgent, repeated } from '../case.ts';
import { callEnd } from '../commands.ts';
import { ClusterCaller } from './cluster-caller.ts';

describeWith(['redis', 'kafka'], 'a cluster of Redis and Kafka', () => {
  let cluster: TestCluster;
  let ledger: Ledger;
  let caller: ClusterCaller;
  let publisher: Publisher;
  beforeAll(async () => {
    cluster = await startTestCluster();
    publisher = await cluster.publisher();
    ledger = await cluster.ledger();
    caller = new ClusterCaller(ledger, cluster.shards);
    await until(() => publisher.openShards === cluster.shards, 30_000);
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  const ROUNDS = 20;

  test('a call is held, told once the log has it, and charged', async () => {
    await caller.makeAgent(1, 1_000n);
    await caller.call(1, 100n, 30n);
    expect(await readAgent(ledger, 1)).toMatchObject({
      chargedNanoUsd: 30n,
      lots: [{ freeNanoUsd: 970n, heldNanoUsd: 0n }],
    });
  });

  test.each(['FLUSHALL', 'a kill and a restart'])(
    'rule 5, recovery: after %s every shard is as the log has it',
    async (what) => {
      const agents = what === 'FLUSHALL' ? [10, 11, 12, 13] : [20, 21, 22, 23];
      for (const agentId of agents) await caller.makeAgent(agentId, 1_000n);
      for (const agentId of agents) await caller.call(agentId, 100n, 7n);
      const open = caller.reserve(agents[0] ?? 0, 50n);
      expect(await caller.told(open)).toMatchObject({ ok: true });
      const [first = 0] = agents;
      const upload = {
        type: 'start_upload',
        agentId: first,
        uploadId: 'upl_1',
        limits: { uploadsPerDay: 1 },
      } as const;
      const change = {
        type: 'change_key',
        readVersion: null,
        agentId: first,
        keyId: first,
        label: 'desk',
        limit: { limitNanoUsd: 900n, reset: 'monthly' },
        actingKeyId: null,
      } as const;
      for (const command of [upload, change]) expect(await caller.told(command)).toEqual(ok);
      const before = await Promise.all(agents.map((agentId) => readAgent(ledger, agentId)));
      if (what === 'FLUSHALL') await (await cluster.client()).flushall();
      else await cluster.restartRedis();
      const began = performance.now();
      // Whoever asks meanwhile is never told that there is no such agent.
      await expect
        .poll(async () => await ledger.readAgent(agents[0] ?? 0), { timeout: 30_000 })
        .not.toBe('unavailable');
      console.log(`${what}: open again after ${Math.round(performance.now() - began)} ms`);
      for (const agentId of agents) await caller.call(agentId, 100n, 5n);
      for (const [i, agentId] of agents.entries()) {
        const after = await readAgent(ledger, agentId);
        expect(after.chargedNanoUsd).toBe((before[i]?.chargedNanoUsd ?? 0n) + 5n);
        expect(after.holds.map((hold) => hold.callId)).toEqual(before[i]?.holds.map((hold) => hold.callId));
      }
      const lists = async () => [await ledger.listEnded(Date.now() + 9 * DAY_MS), await ledger.listHolds()];
      expect(await lists()).toEqual([
        expect.arrayContaining(agents),
        expect.arrayContaining([expect.objectContaining({ callId: open.callId })]),
      ]);
      // The same call, the same answer.
      expect(await caller.told(open)).toEqual({ ok: true, repeated: true });
      for (const command of [upload, change]) expect(await caller.told(command)).toEqual(repeated);
      expect(await caller.told({ ...upload, uploadId: 'upl_2' })).toMatchObject({
        reason: 'uploads_per_day',
      });
      expect(cluster.logged.filter((line) => line.includes('Gap'))).toEqual([]);
    },
  );

  test('rule 3, log: two publishers at once lose and double nothing', async () => {
    await cluster.publisher();
    await caller.makeAgent(30, 100_000n);
    await Promise.all(Array.from({ length: 50 }, () => caller.call(30, 100n, 3n)));
    expect(await readAgent(ledger, 30)).toMatchObject({ chargedNanoUsd: 150n, holds: [] });
  });

  test('two hundred calls at once through three processes never hold more than there is, and the log justifies every refusal', async () => {
    const agentId = 40;
    const creditNanoUsd = 1_000_000_000n;
    await caller.makeAgent(agentId, creditNanoUsd);
    const processes = [ledger, await cluster.ledger(), await cluster.ledger()];
    const refusals: { nanoUsd: bigint; spendableNanoUsd: bigint }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const commands = Array.from({ length: 200 }, () =>
        caller.reserve(agentId, BigInt(10_000_000 + Math.floor(Math.random() * 90_000_000))),
      );
      const results = await Promise.all(
        commands.map(async (command, i) => {
          const executed = await processes[i % processes.length]?.execute(command);
          await executed?.durable;
          return executed?.result;
        }),
      );
      let heldNanoUsd = 0n;
      for (const [i, { nanoUsd }] of commands.entries()) {
        const result = results[i];
        if (result?.ok) heldNanoUsd += nanoUsd;
        else if (result?.reason === 'balance')
          refusals.push({ nanoUsd, spendableNanoUsd: result.spendableNanoUsd });
        else throw new Error(`refused: ${result?.reason}`);
      }
      expect(heldNanoUsd).toBeLessThanOrEqual(creditNanoUsd);
      const started = commands.filter((_, i) => results[i]?.ok);
      await Promise.all(
        started.map(({ callId }) =>
          caller.told({ type: 'settle', agentId, callId, costNanoUsd: 0n, end: callEnd, cause: 'end' }),
        ),
      );
    }
    const spendable = await spendableByTheLog(agentId);
    const unjustified = refusals.filter(
      (refusal) => refusal.nanoUsd <= refusal.spendableNanoUsd || !spendable.has(refusal.spendableNanoUsd),
    );
    expect(refusals.length).toBeGreaterThan(100);
    expect(unjustified).toEqual([]);
  });

  /** What the agent could spend after each of its events. */
  async function spendableByTheLog(agentId: number): Promise<Set<bigint>> {
    const state = emptyLedger();
    const position = { ...LOG_START };
    const seen = new Set<bigint>();
    await cluster.log.readToEnd(new Map([[shardOfAgent(agentId, cluster.shards), 0n]]), (_, record) => {
      const effect = follow(position, decodeLogRecord(record.bytes));
      if (effect.kind !== 'event') return;
      foldEvent(state, effect.event);
      const agent = state.agents.get(agentId);
      if (agent !== undefined) seen.add(spendableNanoUsd(agent, Date.now()));
    });
    return seen;
  }
});
