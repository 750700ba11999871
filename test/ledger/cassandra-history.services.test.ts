import { beforeEach, expect, test } from 'vitest';
import type { CallHistory } from '#core/calls/call-history.ts';
import { createCassandraCallHistory } from '#core/calls/cassandra-call-history.ts';
import { createCassandraHistoryStore } from '#core/calls/cassandra-history-store.ts';
import { systemClock } from '#core/clock.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { cassandraAt } from '../support/cassandra-at.ts';
import { useCassandra } from '../support/cassandra-node.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryAgentStates } from '../support/memory-agent-states.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';
import { openProjection, ProjectedShard, readAll } from '../support/projected-shard.ts';
import { describeWith } from '../support/with-services.ts';
import { call, type HistoryWorld, list, run, testCallHistory } from './call-history-contract.ts';
import { START_MS } from './case.ts';
import { agentWith } from './commands.ts';

describeWith(['cassandra'], 'the history in Cassandra', () => {
  const node = useCassandra();
  beforeEach(async () => {
    const tables = [
      'ledger_entries',
      'calls_by_agent',
      'calls_by_key',
      'call_agents',
      'call_days',
      'usage_days',
    ];
    for (const table of tables) await node.client.execute(`TRUNCATE ${table}`, [], { prepare: false });
  });

  /** All that the ledger has journaled is projected before anything is read. */
  async function newWorld(): Promise<HistoryWorld> {
    const clock = createFakeClock(START_MS);
    const ledger = createMemoryLedger({ clock });
    const history = createCassandraHistoryStore(node.client);
    const projection = await openProjection(0, { states: createMemoryAgentStates(), history });
    const shard = new ProjectedShard(0);
    const read = createCassandraCallHistory(node.client, systemClock);
    let seq = 0;
    const projected = async (): Promise<CallHistory> => {
      shard.append(...ledger.journal.slice(seq));
      seq = ledger.journal.length;
      await readAll(projection, shard);
      return read;
    };
    return {
      ledger,
      clock,
      callIds: new Map(),
      history: {
        list: async (page) => (await projected()).list(page),
        find: async (callId) => (await projected()).find(callId),
        usage: async (range) => (await projected()).usage(range),
      },
    };
  }

  testCallHistory(newWorld);

  test('answers `unavailable` within its time while the node is stopped, and again when it goes on', async () => {
    const world = await newWorld();
    await run(world, ...agentWith(100n), ...call(1, 1n));
    expect(await list(world, {})).toHaveLength(1);
    const client = connectCassandra(cassandraAt(node.service));
    const history = createCassandraCallHistory(client, systemClock);
    const page = { agentId: 1, limit: 1 };
    const usage = { agentId: 1, fromDay: '2026-11-18', toDay: '2026-11-18' };
    await history.list(page);
    node.service.signal('SIGSTOP');
    try {
      // The node stays stopped until the answers are here, so a query without a bound would never end.
      const answers = await Promise.all([history.list(page), history.find(1), history.usage(usage)]);
      expect(answers).toEqual(['unavailable', 'unavailable', 'unavailable']);
    } finally {
      node.service.signal('SIGCONT');
    }
    await expect.poll(() => history.list(page), { timeout: 20_000 }).toHaveLength(1);
    await client.shutdown();
  });

  test('answers `unavailable` when there is no node, and with what was written once there is one', async () => {
    const world = await newWorld();
    await run(world, ...agentWith(100n), ...call(1, 1n));
    expect(await list(world, {})).toHaveLength(1);
    await node.service.stop('SIGKILL');
    const client = connectCassandra(cassandraAt(node.service));
    const history = createCassandraCallHistory(client, systemClock);
    const page = { agentId: 1, limit: 1 };
    expect(await history.list(page)).toBe('unavailable');
    expect(await history.find(1)).toBe('unavailable');
    node.service = await node.service.restart();
    await expect.poll(() => history.list(page), { timeout: 20_000 }).toHaveLength(1);
    await client.shutdown();
  });
});
