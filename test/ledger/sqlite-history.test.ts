import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { CALLS } from '#core/calls/sqlite-call-history.ts';
import { DAY_MS } from '#core/clock.ts';
import type { Settle } from '#core/ledger/command.ts';
import { PROJECTION_ROWS, SNAPSHOT_MS } from '#core/limits.ts';
import { callIdAt, charged, does, ok, type Row } from './case.ts';
import {
  agentWith,
  callEnd,
  callFacts,
  finish,
  grant,
  putKey,
  reserve,
  setAgent,
  settle,
} from './commands.ts';
import { copyFiles, type EmbeddedWorld, openWorld, restart, run, until } from './embedded-harness.ts';

const call = (n: number, cost: bigint, more: object = {}): Row[] => [
  does(reserve(n, 10n, more), ok),
  does(settle(n, cost, more), charged(cost)),
];

async function list(world: EmbeddedWorld, page: { agentId?: number; keyId?: number; beforeCallId?: number }) {
  const calls = await world.ledger.history.list({ agentId: 1, limit: 3, ...page });
  if (calls === 'unavailable') throw new Error('unavailable');
  return calls;
}

test('an ended call shows every field of its record, at once', async () => {
  const world = await openWorld();
  await run(world, ...agentWith(100n), does(reserve(1, 10n), ok));
  const end = { ...callEnd, tokens: { prompt: 11, completion: 22, reasoning: 3, cached: 4 } };
  await run(world, does(settle(1, 6n, { end }), charged(6n)));
  const callId = world.callIds.get(1);
  expect(await list(world, {})).toEqual([
    {
      callId,
      agentId: 1,
      startedAtMs: world.clock.now(),
      durationMs: 1_500,
      key: { keyId: 1, label: 'key 1', prefix: 'fg_prefix001' },
      call: callFacts,
      outcome: 'ok',
      httpStatus: 200,
      errorCode: null,
      tokens: { prompt: 11, completion: 22, reasoning: 3, cached: 4 },
      reservedNanoUsd: 10n,
      chargedNanoUsd: 6n,
    },
  ]);
  expect(await world.ledger.history.find(callId ?? 0)).toEqual((await list(world, {}))[0]);
  expect(await world.ledger.history.find(1)).toBeNull();
});

test('calls that were written together keep what each was a call of', async () => {
  const world = await openWorld();
  await run(world, ...agentWith(100n));
  const facts = [
    callFacts,
    { ...callFacts, model: 'another/model' },
    { ...callFacts, modelName: 'Another' },
    { ...callFacts, endpoint: 'messages' },
    { ...callFacts, stream: !callFacts.stream },
    callFacts,
  ];
  for (const [n, of] of facts.entries()) await run(world, does(reserve(n + 1, 1n, { call: of }), ok));
  // All in one commit.
  const settles = await Promise.all(
    facts.map((_, n) => world.ledger.execute(settle(n + 1, 1n)(world) as Settle)),
  );
  await Promise.all(settles.map(({ durable }) => durable));
  const calls = await world.ledger.history.list({ agentId: 1, limit: 9 });
  if (calls === 'unavailable') throw new Error('unavailable');
  expect(calls.map((each) => each.call)).toEqual(facts.toReversed());
});

test('pages go back through the calls of an agent, newest first, each call once', async () => {
  const world = await openWorld();
  await run(world, ...agentWith(100n));
  for (let n = 1; n <= 8; n++) await run(world, ...call(n, 1n));
  const pages: number[][] = [];
  let beforeCallId: number | undefined;
  for (;;) {
    const page = await list(world, beforeCallId === undefined ? {} : { beforeCallId });
    if (page.length === 0) break;
    pages.push(page.map((each) => each.callId % 4096));
    beforeCallId = page.at(-1)?.callId;
  }
  expect(pages).toEqual([
    [8, 7, 6],
    [5, 4, 3],
    [2, 1],
  ]);
});

test("one key's calls, and never another agent's, even with the same id", async () => {
  const world = await openWorld();
  await run(world, ...agentWith(100n), does(putKey(2), ok));
  await run(world, does(setAgent({ agentId: 2 }), ok), does(putKey(3, { agentId: 2 }), ok));
  await run(world, does(grant(100n, { agentId: 2 }), ok));
  await run(world, ...call(1, 1n), ...call(2, 2n, { keyId: 2 }), ...call(1, 3n, { agentId: 2, keyId: 3 }));
  expect((await list(world, { keyId: 2 })).map((each) => each.chargedNanoUsd)).toEqual([2n]);
  expect((await list(world, {})).map((each) => each.chargedNanoUsd)).toEqual([2n, 1n]);
  expect((await list(world, { agentId: 2 })).map((each) => each.chargedNanoUsd)).toEqual([3n]);
});

test('a page reads an index, whatever the table holds', async () => {
  const world = await openWorld();
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

test('a pending call costs nothing yet, and counts once when it is priced', async () => {
  const world = await openWorld();
  await run(world, ...agentWith(100n), does(reserve(1, 10n), ok), does(finish(1), ok));
  expect((await list(world, {}))[0]).toMatchObject({ outcome: 'pending', chargedNanoUsd: 0n });
  const range = { agentId: 1, fromDay: '2026-11-18', toDay: '2026-11-18' };
  expect(await world.ledger.history.usage(range)).toEqual([]);
  await run(world, does(settle(1, 6n), charged(6n)));
  expect(await list(world, {})).toMatchObject([{ outcome: 'ok', chargedNanoUsd: 6n }]);
  expect(await world.ledger.history.usage(range)).toEqual([
    {
      day: '2026-11-18',
      model: 'acme/small',
      modelName: 'Acme Small',
      calls: 1,
      tokens: 30,
      chargedNanoUsd: 6n,
    },
  ]);
});

test('usage is summed by agent, the day on which a call started, and model', async () => {
  const world = await openWorld();
  await run(world, ...agentWith(100n), ...call(1, 1n), ...call(2, 2n), does(reserve(3, 10n), ok));
  await run(world, ...call(4, 4n, { call: { ...callFacts, model: 'acme/large', modelName: 'Acme Large' } }));
  world.clock.set(world.clock.now() + DAY_MS);
  await run(world, does(settle(3, 3n), charged(3n)));
  await run(world, ...call(5, 5n, { callId: callIdAt(world.clock.now(), 5) }));
  await run(world, does(setAgent({ agentId: 2 }), ok), does(putKey(3, { agentId: 2 }), ok));
  await run(world, does(grant(100n, { agentId: 2 }), ok));
  await run(world, ...call(6, 7n, { agentId: 2, keyId: 3, callId: callIdAt(world.clock.now(), 6) }));
  const usage = await world.ledger.history.usage({ agentId: 1, fromDay: '2026-11-18', toDay: '2026-11-19' });
  if (usage === 'unavailable') throw new Error('unavailable');
  expect(usage.map((row) => [row.day, row.model, row.calls, row.tokens, row.chargedNanoUsd])).toEqual([
    ['2026-11-18', 'acme/large', 1, 30, 4n],
    ['2026-11-18', 'acme/small', 3, 90, 6n],
    ['2026-11-19', 'acme/small', 1, 30, 5n],
  ]);
  expect(
    await world.ledger.history.usage({ agentId: 1, fromDay: '2026-11-19', toDay: '2026-11-19' }),
  ).toHaveLength(1);
  expect(
    await world.ledger.history.usage({ agentId: 2, fromDay: '2026-11-18', toDay: '2026-11-19' }),
  ).toMatchObject([{ day: '2026-11-19', calls: 1, tokens: 30, chargedNanoUsd: 7n }]);
  expect(
    await world.ledger.history.usage({ agentId: 3, fromDay: '2026-11-18', toDay: '2026-11-19' }),
  ).toEqual([]);
});

test('sums of money pass 2^53 exactly', async () => {
  const world = await openWorld();
  await run(world, ...agentWith(8_999_999_999_999_999n));
  await run(world, does(reserve(1, 8_999_999_999_999_999n), ok));
  await run(world, does(settle(1, 8_999_999_999_999_999n), charged(8_999_999_999_999_999n)));
  await run(world, does(grant(8_999_999_999_999_998n, { grantId: 'grant-2' }), ok));
  await run(world, does(reserve(2, 8_999_999_999_999_998n), ok));
  await run(world, does(settle(2, 8_999_999_999_999_998n), charged(8_999_999_999_999_998n)));
  const usage = await world.ledger.history.usage({ agentId: 1, fromDay: '2026-11-18', toDay: '2026-11-18' });
  expect(usage).toMatchObject([{ calls: 2, chargedNanoUsd: 17_999_999_999_999_997n }]);
});

test('a call that a snapshot contains is in the history after a crash, once', async () => {
  const world = await openWorld();
  await run(world, ...agentWith(100n), ...call(1, 1n), does(reserve(2, 10n), ok), does(finish(2), ok));
  const commits = world.ledger.stats().commits;
  world.clock.advance(SNAPSHOT_MS);
  await until(() => world.ledger.stats().commits > commits);
  await run(world, ...call(3, 3n));
  const crashed = await openWorld({ dataDir: copyFiles(world), clock: world.clock });
  expect((await list(crashed, {})).map((each) => [each.outcome, each.chargedNanoUsd])).toEqual([
    ['ok', 3n],
    ['pending', 0n],
    ['ok', 1n],
  ]);
  const usage = await crashed.ledger.history.usage({
    agentId: 1,
    fromDay: '2026-11-18',
    toDay: '2026-11-18',
  });
  expect(usage).toMatchObject([{ calls: 2, chargedNanoUsd: 4n }]);
});

/** Rows wait until there are enough of them: after a crash the waiting ones come from the events again. */
test.each([1, PROJECTION_ROWS - 1, PROJECTION_ROWS + 3])(
  'after a crash the history has each of %i calls once',
  async (count) => {
    const world = await openWorld();
    await run(world, ...agentWith(10_000n));
    for (let n = 1; n <= count; n++) {
      const limits = { callsPerMinute: 600_000, burst: 10_000, runningCalls: 8, dailyShareNanoUsd: null };
      await run(world, does(reserve(n, 1n, { limits }), ok), does(settle(n, 1n), charged(1n)));
    }
    const crashed = await openWorld({ dataDir: copyFiles(world), clock: world.clock });
    for (const each of [crashed, await restart(world)]) {
      const usage = await each.ledger.history.usage({
        agentId: 1,
        fromDay: '2026-11-18',
        toDay: '2026-11-18',
      });
      expect(usage).toMatchObject([{ calls: count, chargedNanoUsd: BigInt(count) }]);
      expect(await each.ledger.history.list({ agentId: 1, limit: 10_000 })).toHaveLength(count);
    }
  },
);
