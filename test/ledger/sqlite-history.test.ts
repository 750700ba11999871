import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { CALLS } from '#core/calls/sqlite-call-history.ts';
import type { CallEnd } from '#core/events/ledger-event.ts';
import { PROJECTION_ROWS } from '#core/ledger/embedded/sqlite-journal.ts';
import { SNAPSHOT_MS } from '#core/limits.ts';
import { call, type HistoryWorld, list, run, testCallHistory } from './call-history-contract.ts';
import { charged, does, ok } from './case.ts';
import { agentWith, callEnd, finish, reserve, settle } from './commands.ts';
import {
  copyFiles,
  type EmbeddedOptions,
  type EmbeddedWorld,
  openWorld,
  restart,
  until,
} from './embedded-harness.ts';

async function newWorld(options: EmbeddedOptions = {}): Promise<EmbeddedWorld & HistoryWorld> {
  return withHistory(await openWorld(options));
}

const withHistory = (world: EmbeddedWorld): EmbeddedWorld & HistoryWorld => ({
  ...world,
  history: world.ledger.history,
});

testCallHistory(newWorld);

const estimatedEnd: CallEnd = { ...callEnd, tokens: { ...callEnd.tokens, estimated: true } };

test('a page reads an index, whatever the table holds', async () => {
  const world = await newWorld();
  const db = new DatabaseSync(join(world.dataDir, 'ledger.sqlite'), { readOnly: true });
  const plan = (where: string) =>
    db
      .prepare(`EXPLAIN QUERY PLAN ${CALLS} WHERE ${where} ORDER BY call_id DESC LIMIT 5`)
      .all()
      .map((row) => row.detail);
  expect(plan('agent_id = 1 AND call_id < 9')).toEqual([
    'SEARCH calls USING INDEX calls_by_agent (agent_id=? AND call_id<?)',
    'SEARCH call_kinds USING INTEGER PRIMARY KEY (rowid=?)',
  ]);
  expect(plan('agent_id = 1 AND key_id = 2 AND call_id < 9')).toEqual([
    'SEARCH calls USING INDEX calls_by_key (agent_id=? AND key_id=? AND call_id<?)',
    'SEARCH call_kinds USING INTEGER PRIMARY KEY (rowid=?)',
  ]);
  db.close();
});

test('a call that a snapshot contains is in the history after a crash, once', async () => {
  const world = await newWorld();
  await run(world, ...agentWith(100n), ...call(1, 1n), does(reserve(2, 10n), ok), does(finish(2), ok));
  const commits = world.ledger.stats().commits;
  world.clock.advance(SNAPSHOT_MS);
  await until(() => world.ledger.stats().commits > commits);
  await run(world, ...call(3, 3n));
  const crashed = await newWorld({ dataDir: copyFiles(world), clock: world.clock });
  expect((await list(crashed, {})).map((each) => [each.outcome, each.chargedNanoUsd])).toEqual([
    ['ok', 3n],
    ['pending', 0n],
    ['ok', 1n],
  ]);
  const usage = await crashed.history.usage({
    agentId: 1,
    fromDay: '2026-11-18',
    toDay: '2026-11-18',
  });
  expect(usage).toMatchObject([{ calls: 2, chargedNanoUsd: 4n }]);
});

test('a call keeps the mark of its estimate over a restart and over a crash', async () => {
  const world = await newWorld();
  await run(world, ...agentWith(100n), does(reserve(1, 10n), ok));
  await run(world, does(settle(1, 6n, { end: estimatedEnd }), charged(6n)), ...call(2, 1n));
  const marks = [undefined, true];
  const crashed = await newWorld({ dataDir: copyFiles(world), clock: world.clock });
  expect((await list(crashed, {})).map(({ tokens }) => tokens.estimated)).toEqual(marks);
  const restarted = withHistory(await restart(world));
  expect((await list(restarted, {})).map(({ tokens }) => tokens.estimated)).toEqual(marks);
});

/** The step back from this release's schema: the file is then as the release with schema 3 wrote it. */
const TO_VERSION_3 = 'ALTER TABLE calls DROP COLUMN tokens_estimated; PRAGMA user_version = 3';

test('the calls in a file of the release before are read as counted, and an estimate is marked from then on', async () => {
  const world = await newWorld();
  await run(world, ...agentWith(100n), ...call(1, 1n));
  const [before] = await list(world, {});
  await world.ledger.close();
  const file = join(world.dataDir, 'ledger.sqlite');
  const tableIn = (path: string) => {
    const db = new DatabaseSync(path, { readOnly: true });
    const columns = db.prepare('PRAGMA table_info(calls)').all();
    db.close();
    return columns;
  };
  const made = tableIn(file);
  const db = new DatabaseSync(file);
  db.exec(TO_VERSION_3);
  db.close();
  const upgraded = await newWorld({ dataDir: world.dataDir, clock: world.clock });
  expect(await list(upgraded, {})).toEqual([before]);
  expect(before?.tokens).not.toHaveProperty('estimated');
  await run(upgraded, does(reserve(2, 10n), ok), does(settle(2, 6n, { end: estimatedEnd }), charged(6n)));
  expect((await list(upgraded, {})).map(({ tokens }) => tokens.estimated)).toEqual([true, undefined]);
  await upgraded.ledger.close();
  // The writer gives the values of a row in the order of the columns.
  expect(tableIn(file)).toEqual(made);
});

/** Rows wait until there are enough of them: after a crash the waiting ones come from the events again. */
test.each([1, PROJECTION_ROWS - 1, PROJECTION_ROWS + 3])(
  'after a crash the history has each of %i calls once',
  async (count) => {
    const world = await newWorld();
    await run(world, ...agentWith(10_000n));
    for (let n = 1; n <= count; n++) {
      const limits = { callsPerMinute: 600_000, burst: 10_000, runningCalls: 8, dailyShareNanoUsd: null };
      await run(world, does(reserve(n, 1n, { limits }), ok), does(settle(n, 1n), charged(1n)));
    }
    const crashed = await newWorld({ dataDir: copyFiles(world), clock: world.clock });
    for (const each of [crashed, withHistory(await restart(world))]) {
      const usage = await each.history.usage({
        agentId: 1,
        fromDay: '2026-11-18',
        toDay: '2026-11-18',
      });
      expect(usage).toMatchObject([{ calls: count, chargedNanoUsd: BigInt(count) }]);
      expect(await each.history.list({ agentId: 1, limit: 10_000 })).toHaveLength(count);
    }
  },
);
