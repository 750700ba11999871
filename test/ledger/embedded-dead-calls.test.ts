import { expect, test } from 'vitest';
import { SECOND_MS } from '#core/clock.ts';
import { charged, does, ok, readAgent } from './case.ts';
import { agentWith, finish, renew, reserve, savedPrice, settle } from './commands.ts';
import { copyFiles, openWorld, run } from './embedded-harness.ts';

async function crashed() {
  const world = await openWorld();
  await run(world, ...agentWith(100n));
  await run(world, does(reserve(1, 10n), ok), does(reserve(2, 20n), ok), does(reserve(3, 5n), ok));
  await run(world, does(reserve(4, 7n, { kind: 'video' }), ok), does(reserve(5, 1n), ok));
  world.clock.set(world.clock.now() + 3 * SECOND_MS);
  await run(world, does(renew(2, { generationId: 'gen-2' }), { ok: true }), does(finish(3), ok));
  await run(world, does(settle(5, 1n), charged(1n)));
  const again = await openWorld({ dataDir: copyFiles(world), clock: world.clock });
  again.callIds = world.callIds;
  return again;
}

test('a call that a crash cut off before its answer began is free, and its hold is back at once', async () => {
  const world = await crashed();
  const callId = world.callIds.get(1) ?? 0;
  expect(world.ledger.crashed).toEqual([{ agentId: 1, callId, nanoUsd: 10n }]);
  const record = await world.ledger.history.find(callId);
  expect(record).toMatchObject({
    outcome: 'failed',
    httpStatus: 500,
    errorCode: 'gateway_error',
    chargedNanoUsd: 0n,
    reservedNanoUsd: 10n,
    durationMs: 3 * SECOND_MS,
  });
});

test('a call whose answer had begun waits for the price that the provider records', async () => {
  const world = await crashed();
  const callId = world.callIds.get(2) ?? 0;
  expect(world.ledger.crashedPending).toEqual([{ agentId: 1, callId, nanoUsd: 20n }]);
  const { holds } = await readAgent(world.ledger, 1);
  expect(holds.find((hold) => hold.callId === callId)?.pending).toMatchObject({
    end: { outcome: 'stopped' },
    pending: { generationId: 'gen-2', price: savedPrice, tokensKnown: false, deliveredTokens: 0 },
  });
  await run(world, does(settle(2, 6n), charged(6n)));
  expect(await world.ledger.history.find(callId)).toMatchObject({ outcome: 'ok', chargedNanoUsd: 6n });
});

test('what was pending stays pending, a video runs on, and every slot is free', async () => {
  const world = await crashed();
  const agent = await readAgent(world.ledger, 1);
  const open = agent.holds.map((hold) => [hold.nanoUsd, hold.kind, hold.pending !== null]);
  expect(open).toEqual([
    [20n, 'text', true],
    [5n, 'text', true],
    [7n, 'video', false],
  ]);
  expect(agent.runningCalls).toBe(0);
  expect(world.lines).toEqual([['warn', 'calls cut off by a crash were ended']]);
});

test('after a clean start there is nothing to end', async () => {
  const world = await crashed();
  await world.ledger.close();
  const again = await openWorld({ dataDir: world.dataDir, clock: world.clock });
  expect(again.ledger.crashed).toEqual([]);
  expect(again.ledger.crashedPending).toEqual([]);
  expect(again.lines).toEqual([]);
});
