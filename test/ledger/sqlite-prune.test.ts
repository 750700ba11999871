import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS } from '#core/clock.ts';
import { PRUNE_PAUSE_MS } from '#core/ledger/embedded/journal-pruning.ts';
import { CALLS_KEPT_MS, LOG_KEPT_MS, PRUNE_ROWS } from '#core/limits.ts';
import { callIdAt, charged, does, ok, readAgent } from './case.ts';
import { agentWith, grant, reserve, settle } from './commands.ts';
import { createJournalTap, type EmbeddedWorld, openWorld, restart, run } from './embedded-harness.ts';

const count = (world: EmbeddedWorld, table: string): number => {
  const db = new DatabaseSync(join(world.dataDir, 'ledger.sqlite'), { readOnly: true });
  const rows = Number(db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
  db.close();
  return rows;
};

/** A day's clearing away, slice by slice. */
async function day(world: EmbeddedWorld): Promise<void> {
  world.clock.advance(MINUTE_MS);
  for (let slice = 0; slice < 20; slice++) {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    world.clock.advance(PRUNE_PAUSE_MS);
  }
}

async function callAt(world: EmbeddedWorld, n: number) {
  const callId = callIdAt(world.clock.now(), n);
  await run(world, does(reserve(n, 1n, { callId }), ok), does(settle(n, 1n, { callId }), charged(1n)));
}

test('old rows of the journal go once the snapshots contain them, and the ledger stays what it is', async () => {
  const world = await openWorld();
  await run(world, ...agentWith(100n));
  await callAt(world, 1);
  world.clock.set(world.clock.now() + LOG_KEPT_MS + DAY_MS);
  await run(
    world,
    does(
      grant(1n, { grantId: 'late', expiresAtMs: world.clock.now() - (world.clock.now() % DAY_MS) + DAY_MS }),
      ok,
    ),
  );
  const again = await restart(world);
  expect(count(again, 'journal')).toBe(6);
  await day(again);
  expect(count(again, 'journal')).toBe(1);
  const view = await readAgent(again.ledger, 1);
  const last = await restart(again);
  expect(await readAgent(last.ledger, 1)).toEqual(view);
});

test('rows that no snapshot contains are kept, however old', async () => {
  const tap = createJournalTap();
  const world = await openWorld({ openJournal: tap.open });
  await run(world, ...agentWith(100n));
  // Time passes without the timers that would write a snapshot.
  world.clock.set(world.clock.now() + LOG_KEPT_MS + DAY_MS);
  await day(world);
  expect(count(world, 'journal')).toBe(3);
});

test('calls and usage are kept ninety days, and no longer', async () => {
  const world = await openWorld();
  await run(world, ...agentWith(100n));
  await callAt(world, 1);
  world.clock.set(world.clock.now() + DAY_MS);
  await callAt(world, 2);
  world.clock.set(world.clock.now() - DAY_MS + CALLS_KEPT_MS + MINUTE_MS);
  const again = await restart(world);
  await day(again);
  expect(await again.ledger.history.list({ agentId: 1, limit: 9 })).toHaveLength(1);
  expect(count(again, 'calls')).toBe(1);
  expect(count(again, 'call_kinds')).toBe(1);
  expect(count(again, 'usage_days')).toBe(2);
  again.clock.set(again.clock.now() + DAY_MS);
  const last = await restart(again);
  await day(last);
  expect(count(last, 'calls')).toBe(0);
  expect(count(last, 'call_kinds')).toBe(0);
  expect(count(last, 'usage_days')).toBe(1);
});

test('one clearing away takes a bounded number of rows at a time, and goes on until none is left', async () => {
  const world = await openWorld();
  await run(world, ...agentWith(100n));
  await world.ledger.close();
  const db = new DatabaseSync(join(world.dataDir, 'ledger.sqlite'));
  db.exec(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${PRUNE_ROWS * 2 + 10})
    INSERT INTO calls SELECT i, 1, 1, '', '', 1, 0, 0, 'ok', 200, NULL, 0, 0, NULL, 0, 0, 0, 0 FROM n`);
  db.close();
  const again = await openWorld({ dataDir: world.dataDir, clock: world.clock });
  const left: number[] = [];
  again.clock.advance(MINUTE_MS);
  for (let slice = 0; slice < 6; slice++) {
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    left.push(count(again, 'calls'));
    again.clock.advance(PRUNE_PAUSE_MS);
  }
  expect(left).toEqual([PRUNE_ROWS * 2 + 10, PRUNE_ROWS + 10, 10, 0, 0, 0]);
});
