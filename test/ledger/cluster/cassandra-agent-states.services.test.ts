import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { createCassandraAgentStates } from '#core/ledger/cluster/cassandra-agent-states.ts';
import { newAgent } from '#core/ledger/machine/empty-ledger.ts';
import type { AgentState } from '#core/ledger/machine/state.ts';
import { useCassandra } from '../../support/cassandra-node.ts';
import { describeWith } from '../../support/with-services.ts';
import { testAgentStates } from './agent-states-contract.ts';

describeWith(['cassandra'], 'copies of agents in Cassandra', () => {
  const node = useCassandra();
  testAgentStates(() => createCassandraAgentStates(node.client));

  const SHARD = 60;
  const at = (seq: number) => ({ epoch: 1, nonce: 'a', seq });

  /** An hour of calls, with as little to compress as there may be. */
  function busyAgent(agentId: number, calls: number): AgentState {
    const agent = newAgent(agentId, 'busy', 1);
    for (let i = 0; i < calls; i++) {
      agent.done.set(i, { nonce: randomBytes(8).toString('hex'), chargedNanoUsd: 0n, settledAtMs: i });
    }
    return agent;
  }

  async function readAll(): Promise<Map<number, number>> {
    const calls = new Map<number, number>();
    await createCassandraAgentStates(node.client).readAgents(SHARD, ({ agentId, done }) => {
      calls.set(agentId, [...done].length);
    });
    return calls;
  }

  async function pieces(agentId: number): Promise<number> {
    const { rows } = await node.client.execute('SELECT seq FROM agent_state_pieces WHERE agent_id = ?', [
      BigInt(agentId),
    ]);
    return rows.length;
  }

  test('an agent may be larger than a mutation, and of its older copies nothing is left', async () => {
    const states = createCassandraAgentStates(node.client);
    // More than the four megabytes that this node takes at once.
    const large = busyAgent(1, 500_000);
    await states.writeAgents(SHARD, at(10), [large, busyAgent(2, 3)]);
    const first = await pieces(1);
    expect(first * 64).toBeGreaterThan(4_096);
    expect(await readAll()).toEqual(
      new Map([
        [1, 500_000],
        [2, 3],
      ]),
    );
    await states.writeAgents(SHARD, at(20), [busyAgent(1, 50_000)]);
    expect(await readAll()).toEqual(
      new Map([
        [1, 50_000],
        [2, 3],
      ]),
    );
    expect(await pieces(1)).toBeLessThan(first);
    // A writer that is late leaves neither its agent nor its pieces.
    const left = await pieces(1);
    await states.writeAgents(SHARD, at(15), [busyAgent(1, 60_000)]);
    expect(await readAll()).toEqual(
      new Map([
        [1, 50_000],
        [2, 3],
      ]),
    );
    expect(await pieces(1)).toBe(left);
  });

  test('a writer that dies between two pieces leaves the copy before', async () => {
    const states = createCassandraAgentStates(node.client);
    await states.writeAgents(SHARD, at(30), [busyAgent(3, 50_000)]);
    let writes = 0;
    const dying: typeof node.client = Object.create(node.client);
    dying.execute = (async (query: string, values: unknown[]) => {
      if (++writes > 4) throw new Error('killed');
      return node.client.execute(query, values);
    }) as typeof node.client.execute;
    const written = createCassandraAgentStates(dying).writeAgents(SHARD, at(40), [busyAgent(3, 70_000)]);
    await expect(written).rejects.toThrow('killed');
    expect((await readAll()).get(3)).toBe(50_000);
  });
});
