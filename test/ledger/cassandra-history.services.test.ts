import { cpSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import type { CallHistory } from '#core/calls/call-history.ts';
import type { CallRecord } from '#core/calls/call-record.ts';
import { createCassandraCallHistory } from '#core/calls/cassandra-call-history.ts';
import { CALL_COLUMNS, callDay, toCallValues } from '#core/calls/cassandra-call-rows.ts';
import { createCassandraHistoryStore } from '#core/calls/cassandra-history-store.ts';
import { systemClock } from '#core/clock.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { migrateCassandra } from '#core/drivers/cassandra-migrations.ts';
import { callOf } from '../backup/call-of.ts';
import { cassandraAt } from '../support/cassandra-at.ts';
import { useCassandra } from '../support/cassandra-node.ts';
import { testDataDir } from '../support/data-dir.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryAgentStates } from '../support/memory-agent-states.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';
import { openProjection, ProjectedShard, readAll } from '../support/projected-shard.ts';
import { describeWith } from '../support/with-services.ts';
import { call, type HistoryWorld, list, run, testCallHistory } from './call-history-contract.ts';
import { callIdAt, START_MS } from './case.ts';
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

  test('calls that the release before wrote, before the migration and beside it, are read as counted; a later estimate is marked', async () => {
    await using before = await testDataDir();
    const folder = join(import.meta.dirname, '../../api/core/drivers/cql');
    for (const file of readdirSync(folder).filter((name) => name < '0006')) {
      cpSync(join(folder, file), join(before.path, file));
    }
    const at = cassandraAt(node.service, 'release_before');
    const options = { ...at, replicas: { datacenter1: 1 }, clock: systemClock };
    expect(await migrateCassandra({ ...options, folder: before.path })).toEqual([1, 2, 3, 4, 5]);
    const client = connectCassandra(at);
    const columns = CALL_COLUMNS.split(', ').filter((name) => name !== 'tokens_estimated');
    const marks = columns.map(() => '?').join(', ');
    const writeAsBefore = async (call: CallRecord) => {
      const values = toCallValues(call).slice(0, columns.length);
      for (const table of ['calls_by_agent', 'calls_by_key']) {
        await client.execute(`INSERT INTO ${table} (${columns.join(', ')}) VALUES (${marks})`, values);
      }
      const { agentId, callId } = call;
      const ids = [BigInt(callId), BigInt(agentId)];
      await client.execute('INSERT INTO call_agents (call_id, agent_id) VALUES (?, ?)', ids);
      const dayOfCall = [BigInt(agentId), callDay(callId)];
      await client.execute('INSERT INTO call_days (agent_id, day) VALUES (?, ?)', dayOfCall);
    };
    const readAsBefore = async () => {
      const query = `SELECT ${columns.join(', ')} FROM calls_by_agent WHERE agent_id = ? AND day = ?`;
      return (await client.execute(query, [1n, callDay(4_096)])).rowLength;
    };
    await writeAsBefore(callOf(1, 4_096));
    expect(await readAsBefore()).toBe(1);
    expect(await migrateCassandra({ ...options, folder })).toEqual([6]);
    await writeAsBefore(callOf(1, 4_097));
    expect(await readAsBefore()).toBe(2);

    const history = createCassandraCallHistory(client, systemClock);
    const older = [callOf(1, 4_097), callOf(1, 4_096)];
    expect(await history.list({ agentId: 1, limit: 9 })).toEqual(older);
    expect(await history.list({ agentId: 1, keyId: 1, limit: 9 })).toEqual(older);
    expect(await history.find(4_096)).toEqual(callOf(1, 4_096));
    const estimated = callOf(1, callIdAt(START_MS, 7), {
      tokens: { prompt: 3, completion: 4, reasoning: null, cached: 0, estimated: true },
    });
    const rows = { calls: [estimated], entries: [], usage: [], videos: [] };
    await createCassandraHistoryStore(client).write(rows);
    expect(await history.list({ agentId: 1, limit: 9 })).toEqual([estimated, ...older]);
    await client.shutdown();
  });

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
