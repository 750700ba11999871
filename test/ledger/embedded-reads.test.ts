import { expect, test } from 'vitest';
import { GATE_TIMEOUT_MS } from '#core/limits.ts';
import { does, ok } from './case.ts';
import { agentWith, grant, putKey, reserve, revokeKey } from './commands.ts';
import { createJournalTap, openWorld, run } from './embedded-harness.ts';

async function openTapped() {
  const tap = createJournalTap();
  const world = await openWorld({ openJournal: tap.open });
  await run(world, ...agentWith(100n));
  return { tap, world };
}

const turns = async () => {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
};

test('a balance is told only once the disk has all of it, and without what came later', async () => {
  const { tap, world } = await openTapped();
  tap.hold();
  await world.ledger.execute(grant(7n, { grantId: 'grant-2' })(world));
  let told = false;
  const reading = world.ledger.readAgent(1).then((agent) => {
    told = true;
    return agent;
  });
  await world.ledger.execute(grant(9n, { grantId: 'grant-3' })(world));
  await turns();
  expect(told).toBe(false);
  tap.release();
  expect(await reading).toMatchObject({ grantedNanoUsd: 107n });
});

test('lists wait for the disk like a balance does', async () => {
  const { tap, world } = await openTapped();
  tap.hold();
  await world.ledger.execute(reserve(1, 1n)(world));
  const reading = [world.ledger.listAgents(), world.ledger.listHolds()];
  let told = 0;
  for (const each of reading) void each.then(() => told++);
  await turns();
  expect(told).toBe(0);
  tap.release();
  expect((await Promise.all(reading)).map((list) => list.length)).toEqual([1, 1]);
});

test('a revoked key is refused before its revocation is on the disk', async () => {
  const { tap, world } = await openTapped();
  tap.hold();
  await world.ledger.execute(revokeKey(1)(world));
  expect(await world.ledger.findKey(['hash-1'])).toMatchObject({ found: true, revoked: true });
  expect((await world.ledger.execute(reserve(1, 1n)(world))).result).toMatchObject({ reason: 'key_revoked' });
  tap.release();
});

test('a known key is found at once while commits wait', async () => {
  const { tap, world } = await openTapped();
  tap.hold();
  await world.ledger.execute(putKey(2)(world));
  expect(await world.ledger.findKey(['hash-1'])).toMatchObject({ found: true, keyId: 1 });
  tap.release();
});

test('a read whose commit fails is unavailable, never a guess', async () => {
  const { tap, world } = await openTapped();
  tap.failNext('before');
  await world.ledger.execute(grant(7n, { grantId: 'grant-2' })(world));
  expect(await world.ledger.readAgent(1)).toBe('unavailable');
});

test('a read is not kept waiting by a disk that hangs', async () => {
  const { tap, world } = await openTapped();
  tap.hold();
  await world.ledger.execute(grant(7n, { grantId: 'grant-2' })(world));
  const reading = world.ledger.readAgent(1);
  await turns();
  world.clock.advance(GATE_TIMEOUT_MS);
  expect(await reading).toBe('unavailable');
  expect(await world.ledger.readAgent(1)).toBe('unavailable');
  expect(await world.ledger.history.list({ agentId: 1, limit: 5 })).toBe('unavailable');
  tap.release();
});

test('reading leaves no timer behind', async () => {
  const { tap, world } = await openTapped();
  const timers = world.clock.pendingTimers();
  tap.hold();
  await world.ledger.execute(grant(7n, { grantId: 'grant-2' })(world));
  const reading = world.ledger.readAgent(1);
  await turns();
  tap.release();
  await reading;
  await turns();
  expect(world.clock.pendingTimers()).toBe(timers);
  await does(reserve(1, 1n), ok)(world);
});
