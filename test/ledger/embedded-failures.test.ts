import { expect, test } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { JOURNAL_RETRY_MS, JOURNAL_RETRY_MS_MAX } from '#core/ledger/embedded/journal-recovery.ts';
import { GATE_TIMEOUT_MS, HOLD_LEASE_MS } from '#core/limits.ts';
import { charged, does, ok, repeated } from './case.ts';
import { agentWith, grant, renew, reserve, settle } from './commands.ts';
import { createJournalTap, type EmbeddedWorld, openWorld, run, until } from './embedded-harness.ts';

const unavailable = { ok: false, reason: 'unavailable' };

async function openTapped() {
  const tap = createJournalTap();
  const world = await openWorld({ openJournal: tap.open });
  await run(world, ...agentWith(100n));
  return { tap, world };
}

const grantMore = (world: EmbeddedWorld) => world.ledger.execute(grant(7n, { grantId: 'grant-2' })(world));

const stateOf = (world: EmbeddedWorld) => world.ledger.stats().state;

/** Lets the time of one attempt pass, and the attempt end. */
async function reopen(world: EmbeddedWorld, waitMs = JOURNAL_RETRY_MS): Promise<void> {
  await until(() => world.clock.pendingTimers() > 0);
  world.clock.advance(waitMs);
  await until(() => stateOf(world) === 'open');
}

test('a commit that fails is told as unknown, and nothing is decided until the disk was read', async () => {
  const { tap, world } = await openTapped();
  tap.failNext('before');
  const { result, durable } = await grantMore(world);
  expect(result).toEqual(ok);
  expect(await durable).toBe('unknown');
  expect(stateOf(world)).toBe('recovering');
  expect((await grantMore(world)).result).toEqual(unavailable);
  await reopen(world);
  expect(await world.ledger.readAgent(1)).toMatchObject({ grantedNanoUsd: 100n });
  await does(grant(7n, { grantId: 'grant-2' }), ok)(world);
});

test('a batch that reached the disk although its commit failed is there afterwards, once', async () => {
  const { tap, world } = await openTapped();
  tap.failNext('after');
  expect(await (await grantMore(world)).durable).toBe('unknown');
  await reopen(world);
  expect(await world.ledger.readAgent(1)).toMatchObject({ grantedNanoUsd: 107n });
  await does(grant(7n, { grantId: 'grant-2' }), repeated)(world);
});

test('a start that is refused for credit that another one holds waits for that one’s commit', async () => {
  const { tap, world } = await openTapped();
  tap.hold();
  const first = await world.ledger.execute(reserve(1, 80n)(world));
  const second = await world.ledger.execute(reserve(2, 80n)(world));
  expect(second.result).toMatchObject({ ok: false, reason: 'balance' });
  tap.failNext('before');
  tap.release();
  expect([await first.durable, await second.durable]).toEqual(['unknown', 'unknown']);
  await reopen(world);
  await does(reserve(3, 80n), ok)(world);
});

test('all that waits behind a failed commit is unknown, and none of it is there', async () => {
  const { tap, world } = await openTapped();
  tap.hold();
  const answers = [await grantMore(world)];
  for (let call = 1; call <= 5; call++) answers.push(await world.ledger.execute(reserve(call, 1n)(world)));
  tap.failNext('before');
  tap.release();
  for (const { durable } of answers) expect(await durable).toBe('unknown');
  await reopen(world);
  expect(await world.ledger.readAgent(1)).toMatchObject({ grantedNanoUsd: 100n, holds: [] });
});

test('keys are never told as unknown while the ledger recovers', async () => {
  const { tap, world } = await openTapped();
  tap.failNext('before');
  await (await grantMore(world)).durable;
  expect(await world.ledger.findKey(['hash-1'])).toBe('unavailable');
  await reopen(world);
  expect(await world.ledger.findKey(['hash-1'])).toMatchObject({ found: true });
});

test('a thread that dies is replaced, and nothing that it had written is lost', async () => {
  const { tap, world } = await openTapped();
  await does(reserve(1, 10n), ok)(world);
  tap.kill();
  expect(stateOf(world)).toBe('recovering');
  await reopen(world);
  expect(tap.openings).toBe(2);
  await does(settle(1, 4n), charged(4n))(world);
});

test('calls that run while the journal recovers keep their holds, their slots and their charges', async () => {
  const { tap, world } = await openTapped();
  for (let call = 1; call <= 8; call++) await does(reserve(call, 1n), ok)(world);
  world.clock.set(world.clock.now() + HOLD_LEASE_MS - SECOND_MS);
  for (let call = 1; call <= 8; call++) await does(renew(call), { ok: true })(world);
  // As far as the journal knows, the other seven have left their slots by now.
  world.clock.set(world.clock.now() + 2 * SECOND_MS);
  await run(world, does(settle(1, 1n), charged(1n)), does(reserve(9, 1n), ok));
  tap.kill();
  await reopen(world);
  expect((await world.ledger.execute(reserve(10, 1n)(world))).result).toMatchObject({
    reason: 'running_calls',
  });
  expect(world.ledger.crashed).toEqual([]);
  await run(world, does(settle(2, 1n), charged(1n)), does(reserve(11, 1n), ok));
});

test('attempts to open again come ever more slowly, and say little', async () => {
  const { tap, world } = await openTapped();
  tap.failOpening(200);
  tap.kill();
  const gaps: number[] = [];
  let lastMs = 0;
  for (let elapsedMs = 0; elapsedMs < 10 * MINUTE_MS; elapsedMs += 100) {
    const before = tap.openings;
    world.clock.advance(100);
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (tap.openings === before) continue;
    gaps.push(elapsedMs - lastMs);
    lastMs = elapsedMs;
  }
  expect(gaps.slice(1, 5)).toEqual([200, 400, 800, 1_600]);
  expect(Math.max(...gaps)).toBe(JOURNAL_RETRY_MS_MAX);
  expect(stateOf(world)).toBe('recovering');
  expect(world.lines.length).toBeLessThanOrEqual(11);
  tap.failOpening(0);
  await reopen(world, JOURNAL_RETRY_MS_MAX);
  expect(world.lines.at(-1)).toEqual(['info', 'journal open again']);
  await does(reserve(1, 1n), ok)(world);
});

test('a disk that hangs stops new calls after two seconds and loses none when it goes on', async () => {
  const { tap, world } = await openTapped();
  tap.hold();
  const waiting = await world.ledger.execute(reserve(1, 1n)(world));
  world.clock.advance(GATE_TIMEOUT_MS - 1);
  expect((await world.ledger.execute(reserve(2, 1n)(world))).result).toEqual(ok);
  world.clock.advance(1);
  expect((await world.ledger.execute(reserve(3, 1n)(world))).result).toEqual(unavailable);
  expect(world.ledger.stats()).toMatchObject({ state: 'open', lagEvents: 2, lagMs: GATE_TIMEOUT_MS });
  tap.release();
  expect(await waiting.durable).toBe('durable');
  await does(reserve(3, 1n), ok)(world);
  expect(await world.ledger.listHolds()).toHaveLength(3);
});

test('a ledger that recovers can be closed', async () => {
  const { tap, world } = await openTapped();
  tap.failOpening(1_000);
  tap.kill();
  await world.ledger.close();
  expect(stateOf(world)).toBe('closed');
  expect(world.clock.pendingTimers()).toBe(0);
});

test('closing waits for what was decided', async () => {
  const { tap, world } = await openTapped();
  tap.hold();
  const { durable } = await grantMore(world);
  const closing = world.ledger.close();
  expect((await grantMore(world)).result).toEqual(unavailable);
  tap.release();
  await closing;
  expect(await durable).toBe('durable');
  expect(world.clock.pendingTimers()).toBe(0);
  const again = await openWorld({ dataDir: world.dataDir });
  expect(await again.ledger.readAgent(1)).toMatchObject({ grantedNanoUsd: 107n });
});
