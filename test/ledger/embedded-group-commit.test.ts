import { expect, test } from 'vitest';
import { JOURNAL_BATCH_EVENTS_MAX, JOURNAL_QUEUE_EVENTS_MAX } from '#core/ledger/embedded/journal-queue.ts';
import { does, ok, repeated } from './case.ts';
import { agentWith, grant, reserve, setAgent, settle } from './commands.ts';
import { createJournalTap, type EmbeddedWorld, openWorld, restart, run, until } from './embedded-harness.ts';

const many = { callsPerMinute: 600_000, burst: 100_000, runningCalls: 100_000, dailyShareNanoUsd: null };

async function openTapped() {
  const tap = createJournalTap();
  const world = await openWorld({ openJournal: tap.open });
  await run(world, ...agentWith(1_000_000n));
  tap.batches.length = 0;
  return { tap, world };
}

const start = (world: EmbeddedWorld, call: number) =>
  world.ledger.execute(reserve(call, 1n, { limits: many })(world));

/** `undefined` while the promise waits. */
async function peek<T>(promise: Promise<T>): Promise<T | undefined> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  return Promise.race([promise, Promise.resolve(undefined)]);
}

test('a call is decided at once, and durable only when the disk has it', async () => {
  const { tap, world } = await openTapped();
  tap.hold();
  const { result, durable } = await start(world, 1);
  expect(result).toEqual(ok);
  expect(await peek(durable)).toBeUndefined();
  expect(world.ledger.stats()).toMatchObject({ state: 'open', lagEvents: 1 });
  tap.release();
  expect(await durable).toBe('durable');
  expect(world.ledger.stats().lagEvents).toBe(0);
});

test('what is decided while a commit runs shares the next one', async () => {
  const { tap, world } = await openTapped();
  tap.hold();
  const first = await start(world, 0);
  await peek(first.durable);
  const others = await Promise.all(Array.from({ length: 50 }, (_, i) => start(world, i + 1)));
  tap.release();
  await Promise.all(others.map(({ durable }) => durable));
  expect(tap.batches.map(({ firstSeq, lastSeq }) => lastSeq - firstSeq + 1)).toEqual([1, 50]);
});

test('an idle ledger commits a call without waiting for company', async () => {
  const { tap, world } = await openTapped();
  for (let call = 1; call <= 3; call++) await (await start(world, call)).durable;
  expect(tap.batches).toHaveLength(3);
});

test('calls decided in one turn share one commit', async () => {
  const { tap, world } = await openTapped();
  const started = await Promise.all(Array.from({ length: 64 }, (_, i) => start(world, i)));
  await Promise.all(started.map(({ durable }) => durable));
  expect(tap.batches).toHaveLength(1);
});

test('a call is on the disk only when everything decided before it is', async () => {
  const { tap, world } = await openTapped();
  const told: number[] = [];
  tap.hold();
  for (let call = 0; call < 40; call++) {
    const { durable } = await start(world, call);
    void durable.then(() => told.push(call));
    if (call % 7 === 0) await peek(durable);
  }
  tap.release();
  await until(() => told.length === 40);
  expect(told).toEqual(Array.from({ length: 40 }, (_, i) => i));
  expect(tap.batches.every((batch, i) => batch.firstSeq === (tap.batches[i - 1]?.lastSeq ?? 3) + 1)).toBe(
    true,
  );
});

test('a repeated command is answered only when the first is on the disk', async () => {
  const { tap, world } = await openTapped();
  tap.hold();
  await start(world, 1);
  const again = await start(world, 1);
  expect(again.result).toEqual(repeated);
  expect(await peek(again.durable)).toBeUndefined();
  tap.release();
  expect(await again.durable).toBe('durable');
});

test('events are told in order, and only once the disk has them', async () => {
  const { tap, world } = await openTapped();
  const told: string[] = [];
  const commits: [number, number][] = [];
  world.ledger.onEvent((event) => told.push(event.type));
  world.ledger.onCommit((durationMs, events) => commits.push([durationMs, events]));
  tap.hold();
  await start(world, 1);
  const { durable } = await world.ledger.execute(settle(1, 1n)(world));
  expect(await peek(durable)).toBeUndefined();
  expect(told).toEqual([]);
  tap.release();
  await durable;
  expect(told).toEqual(['reserved', 'settled']);
  expect(commits).toEqual([[0, 2]]);
});

test('a disk that falls far behind stops new decisions, and not the memory', async () => {
  const { tap, world } = await openTapped();
  tap.hold();
  const upserts = JOURNAL_QUEUE_EVENTS_MAX;
  for (let i = 0; i < upserts; i++) {
    await world.ledger.execute(setAgent({ agentId: 2, sourceVersion: i + 1 })(world));
  }
  expect((await start(world, 1)).result).toEqual({ ok: false, reason: 'unavailable' });
  tap.release();
  await until(() => world.ledger.stats().lagEvents === 0);
  expect((await start(world, 1)).result).toEqual(ok);
  expect(Math.max(...tap.batches.map((batch) => batch.lastSeq - batch.firstSeq + 1))).toBe(
    JOURNAL_BATCH_EVENTS_MAX,
  );
});

test('all that was told durable is there after a restart', async () => {
  const world = await openWorld();
  await run(world, ...agentWith(100n), does(grant(5n, { grantId: 'grant-2' }), ok));
  const again = await restart(world);
  expect(await again.ledger.readAgent(1)).toMatchObject({ grantedNanoUsd: 105n, version: 4 });
});
