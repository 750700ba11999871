import { afterAll, beforeAll, expect, test } from 'vitest';
import { auditShard, type ChargedByHistory } from '#core/audit/audit-shard.ts';
import { systemClock } from '#core/clock.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import type { RedisLedger } from '#core/ledger/cluster/redis-ledger.ts';
import { foldToEnd, readCopy } from '#core/ledger/cluster/shard-fold.ts';
import { shardOfAgent } from '#core/ledger/cluster/shards.ts';
import { ClusterCaller } from '../ledger/cluster/cluster-caller.ts';
import { startTestCluster, type TestCluster } from '../support/cluster.ts';
import { until } from '../support/gateway.ts';
import { createMemoryAgentStates } from '../support/memory-agent-states.ts';
import { describeWith } from '../support/with-services.ts';

describeWith(['redis', 'kafka'], 'an audit of a shard', () => {
  let cluster: TestCluster;
  let ledger: RedisLedger;
  let caller: ClusterCaller;
  let history: (agentId: number) => ChargedByHistory | null | Promise<null> = () => null;
  beforeAll(async () => {
    cluster = await startTestCluster();
    const publisher = await cluster.publisher();
    ledger = await cluster.ledger();
    caller = new ClusterCaller(ledger, cluster.shards);
    await until(() => publisher.openShards === cluster.shards, 30_000);
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  const audit = async (
    agentId: number,
    states = createMemoryAgentStates(),
    { log = cluster.log, patience = { leftMs: 5_000 } } = {},
  ) => {
    // A process that has learned nothing of keys yet.
    const fresh = await cluster.ledger();
    return auditShard({
      shard: shardOfAgent(agentId, cluster.shards),
      ...{ log, patience },
      states,
      readRedis: (shard) => ledger.readShard(shard),
      findKey: (hashes) => fresh.findKey(hashes),
      readCharged: async (agent) => history(agent.agentId),
      clock: systemClock,
    });
  };

  async function agentWithCalls(agentId: number): Promise<void> {
    await caller.makeAgent(agentId, 1_000n);
    for (let i = 0; i < 3; i++) await caller.call(agentId, 100n, 7n);
    // Left open: what is held counts, too.
    await caller.told(caller.reserve(agentId, 50n));
  }

  /** Of the agent's hash in Redis. */
  async function tamper(agentId: number, field: string, by: number): Promise<void> {
    const keys = new ShardKeys(shardOfAgent(agentId, cluster.shards));
    await (await cluster.client()).hincrby(keys.agent(agentId), field, by);
  }

  test('finds nothing where Redis and the history are as the log has it, while calls go on', async () => {
    await agentWithCalls(1);
    history = (agentId) => (agentId === 1 ? { chargedNanoUsd: 21n, version: 10 } : null);
    await caller.makeAgent(5, 1_000_000n);
    let isOver = false;
    const load = (async () => {
      while (!isOver) await caller.call(5, 10n, 1n);
    })();
    for (let i = 0; i < 5; i++) expect(await audit(1)).toMatchObject({ fromFirstEvent: true, problems: [] });
    isOver = true;
    await load;
    history = () => null;
  });

  test('waits for what is late on its way to the log, of all shards together no longer than it was told', async () => {
    await caller.makeAgent(9, 1_000n);
    let looks = 0;
    const late: TestCluster['log'] = Object.assign(Object.create(cluster.log), {
      async readToEnd(...args: Parameters<TestCluster['log']['readToEnd']>) {
        if (++looks > 3) await cluster.log.readToEnd(...args);
      },
    });
    const patience = { leftMs: 10_000 };
    const shown = await audit(9, undefined, { log: late, patience });
    expect(shown.problems).toEqual([]);
    expect(patience.leftMs).toBeLessThan(10_000);
    looks = Number.NEGATIVE_INFINITY;
    const none = { leftMs: 100 };
    for (let shards = 0; shards < 2; shards++) {
      const { problems } = await audit(9, undefined, { log: late, patience: none });
      expect(problems.map(({ problem }) => problem)).toContainEqual(
        expect.stringMatching(/^A store has it at version \d+, the log only up to 0\.$/),
      );
    }
    expect(none.leftMs).toBe(0);
  });

  test('names each amount that Redis has otherwise, with both', async () => {
    await agentWithCalls(2);
    await tamper(2, 'charged', 5);
    expect((await audit(2)).problems).toEqual([
      { agentId: 2, problem: 'The log and Redis: chargedNanoUsd is 21 and 26.' },
    ]);
    await tamper(2, 'charged', -5);
    expect((await audit(2)).problems).toEqual([]);
  });

  test('names an agent that Redis has lost', async () => {
    await agentWithCalls(3);
    const keys = new ShardKeys(shardOfAgent(3, cluster.shards));
    await (await cluster.client()).srem(keys.agents, 3);
    expect((await audit(3)).problems).toEqual([{ agentId: 3, problem: 'The log has it, Redis does not.' }]);
    await (await cluster.client()).sadd(keys.agents, 3);
  });

  test('names a key that Redis does not find any more, whose owner would be sent away', async () => {
    await agentWithCalls(7);
    const { keyHashes } = new ShardKeys(shardOfAgent(7, cluster.shards));
    const redis = await cluster.client();
    const owners = await redis.hgetall(keyHashes);
    const [hash = ''] = Object.keys(owners).filter((name) => owners[name]?.startsWith('7:'));
    await redis.hdel(keyHashes, hash);
    expect((await audit(7)).problems).toEqual([
      { agentId: 7, problem: 'The log has its key 7, and by its hash Redis does not find it.' },
    ]);
    await redis.hset(keyHashes, hash, owners[hash] ?? '');
    expect((await audit(7)).problems).toEqual([]);
  });

  test('says that a recovery would be refused, where the copy of an agent is lost', async () => {
    await agentWithCalls(6);
    await agentWithCalls(10);
    const shard = shardOfAgent(6, cluster.shards);
    const states = createMemoryAgentStates();
    const folded = await readCopy(states, shard);
    await foldToEnd(cluster.log, folded);
    const { position, offset, lastAtMs, state } = folded;
    await states.writeAgents(
      shard,
      position,
      [...state.agents.values()].filter(({ agentId }) => agentId !== 6),
    );
    await states.writeCheckpoint(shard, { position, offset, lastAtMs });
    history = (agentId) =>
      agentId === 10 ? { chargedNanoUsd: 0n, version: 3 } : { chargedNanoUsd: 21n, version: 10 };
    const { problems } = await audit(6, states);
    expect(problems).toContainEqual({
      agentId: null,
      problem: expect.stringMatching(/^A recovery would be refused: .*versions add up/),
    });
    expect(problems).toContainEqual({
      agentId: 10,
      problem: 'The history has its movements up to version 3, not up to 10.',
    });
    history = () => null;
  });

  test('finds nothing where the projector writes its rows and its checkpoint while they are read', async () => {
    await agentWithCalls(8);
    const shard = shardOfAgent(8, cluster.shards);
    const states = createMemoryAgentStates();
    const write = async () => {
      const folded = await readCopy(states, shard);
      await foldToEnd(cluster.log, folded);
      const { position, offset, lastAtMs, state } = folded;
      await states.writeAgents(shard, position, [...state.agents.values()]);
      await states.writeCheckpoint(shard, { position, offset, lastAtMs });
      return null;
    };
    history = write;
    expect((await audit(8, states)).problems).toEqual([]);
    expect(await states.readCheckpoint(shard)).not.toBeNull();
    history = () => null;
  });

  test('names a copy that is not what the log makes, and what the history was charged otherwise', async () => {
    await agentWithCalls(4);
    const shard = shardOfAgent(4, cluster.shards);
    const states = createMemoryAgentStates();
    const folded = await readCopy(states, shard);
    await foldToEnd(cluster.log, folded);
    const agent = folded.state.agents.get(4);
    if (agent === undefined) throw new Error('no agent');
    await states.writeAgents(shard, folded.position, [
      { ...agent, grantedNanoUsd: 1_001n, chargedNanoUsd: 22n },
    ]);
    history = (agentId) => (agentId === 4 ? { chargedNanoUsd: 20n, version: agent.version } : null);
    expect((await audit(4, states)).problems).toEqual([
      { agentId: 4, problem: 'The log and the copy in Cassandra: grantedNanoUsd is 1000 and 1001.' },
      { agentId: 4, problem: 'The log and the copy in Cassandra: chargedNanoUsd is 21 and 22.' },
      { agentId: 4, problem: 'The log and the history: charged is 21 and 20.' },
    ]);
    history = () => null;
  });
});
