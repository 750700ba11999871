import { expect, test } from 'vitest';
import { DAY_MS, MINUTE_MS, SECOND_MS, startOfDayMs } from '#core/clock.ts';
import type { ShardLedger } from '#core/ledger/cluster/redis-ledger.ts';
import { shardOfAgent } from '#core/ledger/cluster/shards.ts';
import { ORPHAN_MARGIN_MS } from '#core/limits.ts';
import { ShardSettlements } from '../../workers/settlement/shard-settlements.ts';
import { type Operation, readAgent, START_MS, type World } from '../ledger/case.ts';
import { finish, grant, MINUTES_13, pendingPrice, putKey, reserve, setAgent } from '../ledger/commands.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';

const SHARDS = 4;

/** A worker that leads what a test says, over a ledger that knows the agents of all shards. */
async function start(led: number[]) {
  const clock = createFakeClock(START_MS);
  const ledger = createMemoryLedger({ clock });
  const world: World = { ledger, clock, callIds: new Map() };
  const log = { info() {}, warn() {}, error() {} };
  const closed = new Set<number>();
  const behindMs = new Map<number, number>();
  const ofShard = (shard: number): ShardLedger => {
    const isIts = ({ agentId }: { agentId: number }) => shardOfAgent(agentId, SHARDS) === shard;
    const reads = async <T>(read: () => Promise<T>) => (closed.has(shard) ? 'unavailable' : read());
    return {
      execute: (command) => ledger.execute(command),
      readAgent: (agentId) => reads(() => ledger.readAgent(agentId)),
      listHolds: () =>
        reads(async () => {
          const holds = await ledger.listHolds();
          return holds === 'unavailable' ? [] : holds.filter(isIts);
        }),
      listEnded: (byMs) =>
        reads(async () => {
          const ids = await ledger.listEnded(byMs);
          return ids === 'unavailable' ? [] : ids.filter((agentId) => isIts({ agentId }));
        }),
    };
  };
  const losses: string[] = [];
  const settlements = new ShardSettlements({
    clock,
    log,
    shards: SHARDS,
    ofShard,
    ledShards: () => led,
    logTimeMs: (shard) => clock.now() - (behindMs.get(shard) ?? 0),
    lookUp: async () => null,
    onLoss: (cause) => void losses.push(cause),
    onCost: () => undefined,
    onPriced: () => undefined,
  });
  const does = async (operation: Operation) => void (await ledger.execute(operation(world)));
  for (const agentId of [1, 2]) {
    await does(setAgent({ agentId }));
    await does(putKey(agentId, { agentId }));
    await does(grant(1_000n, { agentId }));
  }
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 10 * SECOND_MS) {
      clock.advance(Math.min(left, 10 * SECOND_MS));
      for (let i = 0; i < 3; i++) await new Promise<void>((resolve) => setImmediate(resolve));
    }
  };
  const held = async (agentId: number) => (await readAgent(ledger, agentId)).holds.length;
  return { clock, ledger, settlements, does, pass, held, led, closed, behindMs, losses };
}

const UNTIL_ORPHAN_MS = MINUTES_13 + ORPHAN_MARGIN_MS + 2 * MINUTE_MS;

test('a hold that nobody runs any more is freed where its shard is led, and nowhere else', async () => {
  const { does, pass, held, led, settlements, losses } = await start([1]);
  await does(reserve(1, 100n, { agentId: 1, keyId: 1 }));
  await does(reserve(2, 100n, { agentId: 2, keyId: 2 }));
  await pass(UNTIL_ORPHAN_MS);
  expect([await held(1), await held(2)]).toEqual([0, 1]);
  led.push(2);
  await pass(2 * MINUTE_MS);
  expect(await held(2)).toBe(0);
  expect(losses).toEqual(['orphan', 'orphan']);
  settlements.close();
});

test('a closed shard holds up no other', async () => {
  const { does, pass, held, closed, settlements } = await start([1, 2]);
  closed.add(1);
  await does(reserve(1, 100n, { agentId: 1, keyId: 1 }));
  await does(reserve(2, 100n, { agentId: 2, keyId: 2 }));
  await pass(UNTIL_ORPHAN_MS);
  expect([await held(1), await held(2)]).toEqual([1, 0]);
  closed.clear();
  await pass(2 * MINUTE_MS);
  expect(await held(1)).toBe(0);
  settlements.close();
});

test('a call whose price is open is priced by whoever takes its shard over, in the minute, and by nobody who lost it', async () => {
  const { does, pass, held, led, settlements } = await start([]);
  await does(reserve(1, 100n, { agentId: 1, keyId: 1 }));
  await does(finish(1, { agentId: 1 }));
  await pass(5 * MINUTE_MS);
  expect([await held(1), settlements.waiting]).toEqual([1, 0]);
  led.push(1);
  await pass(MINUTE_MS);
  expect(settlements.waiting + (1 - (await held(1)))).toBe(1);
  await pass(11 * MINUTE_MS);
  expect(await held(1)).toBe(0);
  led.splice(0);
  await pass(2 * SECOND_MS);
  await does(reserve(2, 100n, { agentId: 1, keyId: 1 }));
  await does(finish(2, { agentId: 1 }));
  await pass(15 * MINUTE_MS);
  expect([await held(1), settlements.waiting]).toEqual([1, 0]);
  settlements.close();
});

test('a call that ended while its shard was shut is priced as soon as the shard opens, without an event', async () => {
  const { does, pass, held, settlements } = await start([1]);
  await pass(2 * SECOND_MS);
  await does(reserve(1, 100n, { agentId: 1, keyId: 1 }));
  await does(finish(1, { agentId: 1, pending: { ...pendingPrice, generationId: null } }));
  expect(await held(1)).toBe(1);
  settlements.onOpen(1);
  await pass(30 * SECOND_MS);
  expect(await held(1)).toBe(0);
  // A sweep that is under way when the shard opens may have asked before: another one follows it.
  settlements.onOpen(1);
  const ended = [
    does(reserve(2, 100n, { agentId: 1, keyId: 1 })),
    does(finish(2, { agentId: 1, pending: { ...pendingPrice, generationId: null } })),
  ];
  settlements.onOpen(1);
  await Promise.all(ended);
  await pass(30 * SECOND_MS);
  expect(await held(1)).toBe(0);
  settlements.close();
});

test('a call whose price is open is priced though its shard changes hands every few minutes', async () => {
  const { does, pass, held, led, settlements } = await start([]);
  await does(reserve(1, 100n, { agentId: 1, keyId: 1 }));
  await does(finish(1, { agentId: 1 }));
  for (let turn = 0; turn < 2; turn++) {
    led.push(1);
    await pass(3 * MINUTE_MS);
    led.splice(0);
    await pass(MINUTE_MS);
  }
  expect(await held(1)).toBe(1);
  led.push(1);
  await pass(4 * MINUTE_MS);
  expect(await held(1)).toBe(0);
  settlements.close();
});

test('a hold that nobody runs any more is freed though its shard changes hands every half minute', async () => {
  const { does, pass, held, led, settlements } = await start([1]);
  await does(reserve(1, 100n, { agentId: 1, keyId: 1 }));
  await pass(MINUTES_13);
  for (let turn = 0; turn < 8; turn++) {
    led.splice(0);
    await pass(10 * SECOND_MS);
    led.push(1);
    await pass(20 * SECOND_MS);
  }
  expect(await held(1)).toBe(0);
  settlements.close();
});

test('whoever takes a shard over frees at once what has been due before', async () => {
  const { does, pass, held, led, settlements } = await start([]);
  await does(reserve(1, 100n, { agentId: 1, keyId: 1 }));
  await pass(UNTIL_ORPHAN_MS);
  expect(await held(1)).toBe(1);
  led.push(1);
  await pass(10 * SECOND_MS);
  expect(await held(1)).toBe(0);
  settlements.close();
});

test('a hold that is due before the log’s own clock says so is freed within seconds of it', async () => {
  const { does, pass, held, behindMs, settlements } = await start([1]);
  behindMs.set(1, 30 * MINUTE_MS);
  await does(reserve(1, 100n, { agentId: 1, keyId: 1 }));
  await pass(UNTIL_ORPHAN_MS);
  expect(await held(1)).toBe(1);
  behindMs.set(1, 0);
  await pass(10 * SECOND_MS);
  expect(await held(1)).toBe(0);
  settlements.close();
});

test('credit ends once the log’s own clock says so, however late that is', async () => {
  const { clock, pass, ledger, behindMs, settlements } = await start([1]);
  const endsAtMs = startOfDayMs(START_MS) + 8 * DAY_MS;
  behindMs.set(1, 30 * MINUTE_MS);
  clock.advance(endsAtMs - clock.now());
  await pass(20 * MINUTE_MS);
  expect((await readAgent(ledger, 1)).expiredNanoUsd).toBe(0n);
  await pass(15 * MINUTE_MS);
  expect((await readAgent(ledger, 1)).expiredNanoUsd).toBeGreaterThan(0n);
  settlements.close();
});
