import { DatabaseSync } from 'node:sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import type { CallRecord } from '#core/calls/call-record.ts';
import { createCassandraCallHistory } from '#core/calls/cassandra-call-history.ts';
import { createCassandraHistoryStore } from '#core/calls/cassandra-history-store.ts';
import type { HistoryRows, HistoryStore } from '#core/calls/history-store.ts';
import { projectCall } from '#core/calls/project-call.ts';
import { createSqliteCallHistory } from '#core/calls/sqlite-call-history.ts';
import { createCallWriter, parseCallRows, printCallRows } from '#core/calls/sqlite-call-rows.ts';
import { systemClock } from '#core/clock.ts';
import { createTransact } from '#core/drivers/sqlite.ts';
import { createCassandraAgentStates } from '#core/ledger/cluster/cassandra-agent-states.ts';
import {
  checkVersions,
  type FoldedShard,
  foldRecord,
  readCopy,
  ShardGapError,
} from '#core/ledger/cluster/shard-fold.ts';
import { prepareSchema } from '#core/ledger/embedded/sqlite-schema.ts';
import { apply } from '#core/ledger/machine/apply.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import { createDraw, pick } from '../ledger/history/random.ts';
import { useCassandra } from '../support/cassandra-node.ts';
import { drawLedgerEvents } from '../support/ledger-events.ts';
import { createMemoryAgentStates } from '../support/memory-agent-states.ts';
import { chargedIn, createMemoryHistoryStore, type StoredHistory } from '../support/memory-history-store.ts';
import { openProjection, ProjectedShard, readAll } from '../support/projected-shard.ts';
import { expectHistory, readCassandraHistory } from '../support/read-cassandra-history.ts';
import { describeWith } from '../support/with-services.ts';

const STEPS = 600;
const SHARD = 7;

/** The rows of a clean run, portion by portion, as a projection hands them to its store. */
async function portionsOf(
  shard: ProjectedShard,
): Promise<{ portions: HistoryRows[]; expected: StoredHistory }> {
  const memory = createMemoryHistoryStore();
  const portions: HistoryRows[] = [];
  const history: HistoryStore = {
    ...memory,
    async write(rows) {
      portions.push(structuredClone(rows));
      await memory.write(rows);
    },
  };
  const projection = await openProjection(SHARD, { states: createMemoryAgentStates(), history });
  while (projection.next < shard.end) {
    await projection.read(shard.from(projection.next, projection.next + 7n), shard.end);
  }
  return { portions, expected: memory.stored() };
}

const shardOf = (seed: number): ProjectedShard =>
  new ProjectedShard(SHARD).append(...drawLedgerEvents(seed, STEPS));

describeWith(['cassandra'], 'the projector over Cassandra', () => {
  const node = useCassandra();
  beforeEach(async () => {
    const tables = [
      'ledger_entries',
      'calls_by_agent',
      'calls_by_key',
      'call_agents',
      'call_days',
      'usage_days',
      'videos',
      'video_keys',
    ];
    for (const table of [...tables, 'agent_state', 'shard_ckpt']) {
      await node.client.execute(`TRUNCATE ${table}`, [], { prepare: false });
    }
  });
  const stores = () => ({
    states: createCassandraAgentStates(node.client),
    history: createCassandraHistoryStore(node.client),
  });

  test.each([1, 2, 3])(
    'rows that are written again and in any order end as if written once and in order (seed %i)',
    async (seed) => {
      const { portions, expected } = await portionsOf(shardOf(seed));
      const draw = createDraw(seed);
      const history = createCassandraHistoryStore(node.client);
      const left = [...portions, ...portions, pick(draw, portions)];
      while (left.length > 0) {
        const some = Array.from(
          { length: Math.min(4, left.length) },
          () => left.splice(draw(left.length), 1)[0],
        );
        await Promise.all(some.map((rows) => rows && history.write(rows)));
      }
      await expectHistory(node.client, expected);
      expect(portions.length).toBeGreaterThan(10);
    },
  );

  test('an older writer changes nothing', async () => {
    const { portions, expected } = await portionsOf(shardOf(4));
    const history = createCassandraHistoryStore(node.client);
    for (const rows of portions) await history.write(rows);
    const before = await readCassandraHistory(node.client);
    for (const rows of portions.toReversed()) await history.write(rows);
    expect(await readCassandraHistory(node.client)).toEqual(before);
    await expectHistory(node.client, expected);
  });

  test.each([5, 6])(
    'what is charged adds up after projectors died between any two writes (seed %i)',
    async (seed) => {
      const draw = createDraw(seed);
      const shard = shardOf(seed);
      const { expected } = await portionsOf(shard);
      let kills = 0;
      for (let lives = 0; lives < 12; lives++) {
        const { states, history } = stores();
        let writesLeft = draw(6);
        const orDie = () => {
          if (--writesLeft === 0) throw new Error('killed');
        };
        const projection = await openProjection(SHARD, {
          states: {
            ...states,
            async writeCheckpoint(...args) {
              orDie();
              await states.writeCheckpoint(...args);
            },
          },
          history: {
            ...history,
            async write(rows) {
              await history.write(rows);
              orDie();
            },
          },
          log: { info() {}, warn() {}, error: () => projection.close() },
        });
        const done = async () => {
          for (let i = 0; i < 4; i++) {
            await projection.read(shard.from(projection.next, projection.next + 11n), shard.end);
            await projection.copyAtEnd();
          }
        };
        await done().catch(() => kills++);
      }
      await readAll(await openProjection(SHARD, stores()), shard);
      const stored = await readCassandraHistory(node.client);
      await expectHistory(node.client, expected);
      const { calls, entries, usage } = chargedIn(stored);
      expect([entries, usage]).toEqual([calls, calls]);
      expect(calls).toBeGreaterThan(0n);
      expect(kills).toBeGreaterThan(2);
    },
  );

  test('two projectors at once, one of them behind, end in the same rows', async () => {
    const shard = shardOf(8);
    const { expected } = await portionsOf(shard);
    const both = await Promise.all([openProjection(SHARD, stores()), openProjection(SHARD, stores())]);
    await Promise.all(
      both.map(async (projection, i) => {
        while (projection.next < shard.end) {
          await projection.read(shard.from(projection.next, projection.next + BigInt(5 + 8 * i)), shard.end);
          await projection.copyAtEnd();
        }
      }),
    );
    await expectHistory(node.client, expected);
  });

  describe('a recovery', () => {
    async function recover(shard: ProjectedShard, from: bigint): Promise<FoldedShard> {
      const folded = await readCopy(createCassandraAgentStates(node.client), SHARD);
      if (folded.offset < from) throw new Error('nothing was copied');
      for (const record of shard.from(folded.offset)) foldRecord(folded, record);
      checkVersions(folded);
      return folded;
    }

    /** As it is found when its projector died in the middle of the log. */
    async function copied(seed: number) {
      const shard = shardOf(seed);
      const projection = await openProjection(SHARD, stores());
      const middle = shard.end / 2n;
      await projection.read(shard.from(0n, middle), shard.end);
      await projection.copyAtEnd();
      return { shard, middle };
    }

    test.each([9, 10, 11])('from the copies is the fold of the whole log (seed %i)', async (seed) => {
      const { shard, middle } = await copied(seed);
      const whole = await readCopy(createMemoryAgentStates(), SHARD);
      for (const record of shard.from(0n)) foldRecord(whole, record);
      expect(await recover(shard, middle)).toEqual(whole);
    });

    test('is refused over a lost agent, by its version or by the sum of all', async () => {
      const { shard, middle } = await copied(9);
      const lose = (agentId: bigint) =>
        node.client.execute('DELETE FROM agent_state WHERE shard = ? AND agent_id = ?', [SHARD, agentId]);
      await lose(1n);
      await expect(recover(shard, middle)).rejects.toThrow(
        /the copy of an agent is missing or too old \(agent 1/,
      );
      await lose(2n);
      const quiet = new ProjectedShard(SHARD).append(
        ...drawLedgerEvents(9, STEPS).slice(0, Number(middle) - 1),
      );
      await expect(recover(quiet, middle)).rejects.toThrow(/versions add up to \d+, and the log stands at/);
      await expect(recover(quiet, middle)).rejects.toBeInstanceOf(ShardGapError);
    });
  });

  test.each([12, 13])('both histories answer the same, field by field (seed %i)', async (seed) => {
    const events = drawLedgerEvents(seed, 2_000);
    await readAll(await openProjection(SHARD, stores()), new ProjectedShard(SHARD).append(...events));
    const cassandra = createCassandraCallHistory(node.client, systemClock);
    const db = new DatabaseSync(':memory:');
    prepareSchema(db, createTransact(db), ':memory:');
    const write = createCallWriter(db);
    const state = emptyLedger();
    const calls: CallRecord[] = [];
    for (const event of events) {
      const call = projectCall(state, event);
      apply(state, event);
      if (call === null) continue;
      calls.push(call);
      write(parseCallRows(printCallRows([call])));
    }
    const sqlite = createSqliteCallHistory(db);
    const draw = createDraw(seed);
    for (let i = 0; i < 200; i++) {
      const { agentId, callId, key } = pick(draw, calls);
      const limit = 1 + draw(20);
      const page = {
        ...{ agentId, limit },
        ...(draw(2) === 0 && { keyId: key.keyId }),
        ...(draw(3) > 0 && { beforeCallId: callId + draw(3) - 1 }),
      };
      expect(await cassandra.list(page)).toEqual(sqlite.list(page));
      const asked = callId + draw(2);
      expect(await cassandra.find(asked)).toEqual(sqlite.find(asked));
    }
    for (const agentId of state.agents.keys()) {
      const range = { agentId, fromDay: '2026-01-01', toDay: '2027-12-31' };
      expect(await cassandra.usage(range)).toEqual(sqlite.usage(range));
    }
    expect(calls.length).toBeGreaterThan(20);
  });
});
