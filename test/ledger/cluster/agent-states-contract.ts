import { expect, test } from 'vitest';
import type { AgentStates } from '#core/ledger/cluster/agent-states.ts';
import type { LogPosition } from '#core/ledger/cluster/effective-log.ts';
import { apply } from '#core/ledger/machine/apply.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import type { AgentState } from '#core/ledger/machine/state.ts';
import { drawLedgerEvents } from '../../support/ledger-events.ts';

const place = (seq: number, epoch = 1): LogPosition => ({ epoch, nonce: `nonce ${epoch}`, seq });

/** What every store of copies promises. Each test has a shard of its own. */
export function testAgentStates(states: () => AgentStates): void {
  let lastShard = 0;

  const agentsAfter = (events: number): AgentState[] => {
    const state = emptyLedger();
    for (const event of drawLedgerEvents(3, 400).slice(0, events)) apply(state, event);
    return [...state.agents.values()];
  };

  async function read(shard: number): Promise<AgentState[]> {
    const agents: AgentState[] = [];
    await states().readAgents(shard, (agent) => void agents.push(agent));
    return agents.sort((a, b) => a.agentId - b.agentId);
  }

  test('a shard that was never copied has no checkpoint and no agents', async () => {
    const shard = ++lastShard;
    expect(await states().readCheckpoint(shard)).toBeNull();
    expect(await read(shard)).toEqual([]);
  });

  test('agents and the checkpoint come back as they were', async () => {
    const shard = ++lastShard;
    const agents = agentsAfter(150);
    const checkpoint = { position: place(150), offset: 9_007_199_254_740_993n, lastAtMs: 1_795_000_000_123 };
    await states().writeAgents(shard, place(150), agents);
    await states().writeCheckpoint(shard, checkpoint);
    expect(agents.length).toBeGreaterThan(1);
    expect(await read(shard)).toEqual(agents);
    expect(await states().readCheckpoint(shard)).toEqual(checkpoint);
    expect(await read(shard + 1_000)).toEqual([]);
  });

  test('a slower writer changes nothing, neither with an older agent nor with an older checkpoint', async () => {
    const shard = ++lastShard;
    const newer = agentsAfter(150);
    const checkpoint = { position: place(150, 2), offset: 200n, lastAtMs: 2 };
    await states().writeAgents(shard, place(150, 2), newer);
    await states().writeCheckpoint(shard, checkpoint);
    for (const behind of [place(50), place(149, 2), place(50, 2)]) {
      // Several, so that no accident of their bytes decides.
      for (const events of [20, 50, 90, 120]) await states().writeAgents(shard, behind, agentsAfter(events));
      await states().writeCheckpoint(shard, { position: behind, offset: 999n, lastAtMs: 999 });
    }
    expect(await read(shard)).toEqual(newer);
    expect(await states().readCheckpoint(shard)).toEqual(checkpoint);
  });

  test('an epoch that began without an event is further than the end of the one before', async () => {
    const shard = ++lastShard;
    const next = { position: place(150, 2), offset: 151n, lastAtMs: 1 };
    await states().writeCheckpoint(shard, next);
    await states().writeCheckpoint(shard, { position: place(150, 1), offset: 150n, lastAtMs: 1 });
    expect(await states().readCheckpoint(shard)).toEqual(next);
  });

  test('of two checkpoints of one place the one that is further in the log stays, whichever came last', async () => {
    const shard = ++lastShard;
    for (const offset of [200n, 300n, 250n, 9n]) {
      await states().writeCheckpoint(shard, { position: place(150), offset, lastAtMs: 1 });
    }
    expect(await states().readCheckpoint(shard)).toMatchObject({ offset: 300n });
  });
}
