import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HOUR_MS } from '#core/clock.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';
import { day, does, type LedgerCase, ok, readAgent, START_MS, type World } from './case.ts';
import { setAgentCases } from './cases/agent-cases.ts';
import { finishCases, renewCases, settleCases } from './cases/call-cases.ts';
import { changeKeyCases } from './cases/change-key-cases.ts';
import { clockCases } from './cases/clock-cases.ts';
import { expireCases, grantCases, moveCases } from './cases/credit-cases.ts';
import { putKeyCases, revokeKeyCases } from './cases/key-cases.ts';
import { keyLimitCases } from './cases/key-limit-cases.ts';
import { reserveCases } from './cases/reserve-cases.ts';
import { reserveOrderCases } from './cases/reserve-order-cases.ts';
import { storedCases } from './cases/stored-cases.ts';
import { startUploadCases } from './cases/upload-cases.ts';
import { videoCases } from './cases/video-cases.ts';
import {
  activeAgent,
  agentWith,
  changeKey,
  claimVideo,
  expire,
  finish,
  grant,
  moveIn,
  moveOut,
  putKey,
  renew,
  reserve,
  reserveVideo,
  revokeKey,
  setAgent,
  settle,
  startUpload,
  submitVideo,
  withdrawVideo,
} from './commands.ts';

export type MakeLedger = (options: { clock: FakeClock }) => Promise<Pick<World, 'ledger' | 'setTimeBack'>>;

const cases: readonly [string, readonly LedgerCase[]][] = [
  ['reserve', reserveCases],
  ['reserve, in order', reserveOrderCases],
  ['key limits', keyLimitCases],
  ['settle', settleCases],
  ['finish', finishCases],
  ['renew', renewCases],
  ['grant', grantCases],
  ['expire', expireCases],
  ['moves', moveCases],
  ['put_key', putKeyCases],
  ['change_key', changeKeyCases],
  ['revoke_key', revokeKeyCases],
  ['start_upload', startUploadCases],
  ['videos', videoCases],
  ['stored images', storedCases],
  ['set_agent', setAgentCases],
  ['a clock that was ahead', clockCases],
];

/**
 * What any ledger must do, told through the port alone. Each case gets a ledger of its own, at a fixed time that
 * only the case moves.
 */
export function describeLedgerContract(name: string, makeLedger: MakeLedger): void {
  describe(`the ledger contract, ${name}`, () => {
    let world: World;

    beforeEach(async () => {
      const clock = createFakeClock(START_MS);
      world = { ...(await makeLedger({ clock })), clock, callIds: new Map() };
    });

    afterEach(async () => {
      await everyIdentityHolds(world.ledger);
      await world.ledger.close();
    });

    for (const [command, ofCommand] of cases) {
      describe(command, () => {
        test.each(ofCommand.map((one) => [one.promise, one] as const))('%s', async (_, one) => {
          for (const row of one.rows) await row(world);
        });
      });
    }

    describe('reading', () => describeReading(() => world));
    describe('at the same moment', () => describeConcurrency(() => world));
    describe('time', () => describeTime(() => world));
    describe('closing', () => describeClosing(() => world));
  });
}

/** The money identity (`api/core/ledger/README.md`): granted + moved in = free + held + charged + expired + moved out, at all times. */
async function everyIdentityHolds(ledger: Ledger): Promise<void> {
  const agents = await ledger.listAgents();
  if (agents === 'unavailable') return;
  for (const { agentId } of agents) {
    const agent = await readAgent(ledger, agentId);
    const sum = (amounts: bigint[]) => amounts.reduce((total, amount) => total + amount, 0n);
    const free = sum(agent.lots.map((lot) => lot.freeNanoUsd));
    const held = sum(agent.lots.map((lot) => lot.heldNanoUsd));
    expect(agent.grantedNanoUsd + agent.movedInNanoUsd, `identity of agent ${agentId}`).toBe(
      free + held + agent.chargedNanoUsd + agent.expiredNanoUsd + agent.movedOutNanoUsd,
    );
    expect(sum(agent.holds.map((hold) => hold.nanoUsd)), `holds of agent ${agentId}`).toBe(held);
  }
}

function describeReading(world: () => World): void {
  test('an unknown agent reads as none, and an empty ledger lists nothing', async () => {
    const { ledger } = world();
    expect(await ledger.readAgent(1)).toBeNull();
    expect(await ledger.listAgents()).toEqual([]);
    expect(await ledger.listHolds()).toEqual([]);
    expect(await ledger.findKey(['hash-1'])).toEqual({ found: false });
    expect(await ledger.findKey([])).toEqual({ found: false });
  });

  test('every agent is listed with its status', async () => {
    const { ledger } = world();
    await does(setAgent({ token: '0xabc' }), ok)(world());
    await does(grant(1n, { agentId: 2 }), ok)(world());
    expect(await ledger.listAgents()).toEqual([
      { agentId: 1, name: 'Ada', token: '0xabc', status: 'active', createdAtMs: START_MS },
      { agentId: 2, name: 'agent 2', token: null, status: 'inactive', createdAtMs: START_MS },
    ]);
  });

  test('agents with credit that has ended are listed until it is expired', async () => {
    const { ledger, clock } = world();
    await does(setAgent(), ok)(world());
    await does(grant(5n, { expiresAtMs: day(1) }), ok)(world());
    await does(grant(5n, { agentId: 2, expiresAtMs: day(2) }), ok)(world());
    expect(await ledger.listEnded(day(1) - 1)).toEqual([]);
    expect(await ledger.listEnded(day(1))).toEqual([1]);
    expect(await ledger.listEnded(day(2))).toEqual([1, 2]);
    clock.set(day(1));
    await does(expire(1), { ok: true, expiredNanoUsd: 5n })(world());
    expect(await ledger.listEnded(day(1))).toEqual([]);
  });

  test('the open holds of all agents are listed, running and pending', async () => {
    for (const row of agentWith(10n)) await row(world());
    await does(setAgent({ agentId: 2 }), ok)(world());
    await does(putKey(2, { agentId: 2 }), ok)(world());
    await does(reserve(1, 1n), ok)(world());
    await does(reserve(2, 2n), ok)(world());
    await does(reserve(3, 0n, { agentId: 2, keyId: 2, kind: 'video' }), ok)(world());
    await does(finish(2), ok)(world());
    const holds = await world().ledger.listHolds();
    if (holds === 'unavailable') throw new Error('unavailable');
    expect(holds.map((hold) => [hold.agentId, hold.nanoUsd, hold.kind, hold.pending !== null])).toEqual([
      [1, 1n, 'text', false],
      [1, 2n, 'text', true],
      [2, 0n, 'video', false],
    ]);
  });

  test('the first hash that belongs to a key finds it, with the status of its agent', async () => {
    const { ledger } = world();
    for (const row of activeAgent) await row(world());
    await does(putKey(2), ok)(world());
    const first = { found: true, agentId: 1, keyId: 1, revoked: false, agentStatus: 'active' };
    expect(await ledger.findKey(['hash-1'])).toEqual(first);
    expect(await ledger.findKey(['old-pepper', 'hash-1'])).toEqual(first);
    expect(await ledger.findKey(['hash-2', 'hash-1'])).toEqual({ ...first, keyId: 2 });
    expect(await ledger.findKey(['hash-3'])).toEqual({ found: false });
    await does(setAgent({ sourceVersion: 2, status: 'suspended' }), ok)(world());
    expect(await ledger.findKey(['hash-1'])).toEqual({ ...first, agentStatus: 'suspended' });
  });

  test('a revoked key is told from an unknown one', async () => {
    for (const row of activeAgent) await row(world());
    await does(revokeKey(1), ok)(world());
    expect(await world().ledger.findKey(['hash-1'])).toMatchObject({ found: true, revoked: true });
  });

  test('a start may begin with a key that was found live, never with one that was found to have ended', async () => {
    const { ledger } = world();
    for (const row of activeAgent) await row(world());
    await does(putKey(2), ok)(world());
    expect(ledger.recallKey(['hash-3'])).toBeNull();
    await ledger.findKey(['hash-1']);
    await ledger.findKey(['hash-2']);
    expect(ledger.recallKey(['old-pepper', 'hash-1'])).toMatchObject({ agentId: 1, keyId: 1 });
    await does(revokeKey(1), ok)(world());
    await ledger.findKey(['hash-1']);
    expect(ledger.recallKey(['hash-1'])).toBeNull();
    await does(setAgent({ sourceVersion: 2, status: 'suspended' }), ok)(world());
    await ledger.findKey(['hash-2']);
    expect(ledger.recallKey(['hash-2'])).toBeNull();
  });

  test('what one agent does never shows at another', async () => {
    for (const row of agentWith(50n)) await row(world());
    await does(setAgent({ agentId: 2 }), ok)(world());
    const before = await readAgent(world().ledger, 2);
    await does(reserve(1, 10n), ok)(world());
    await does(moveOut('t1', 5n), ok)(world());
    await does(putKey(3), ok)(world());
    expect(await readAgent(world().ledger, 2)).toEqual(before);
  });

  test('what was read does not change under its reader', async () => {
    for (const row of agentWith(50n)) await row(world());
    const read = await readAgent(world().ledger, 1);
    const copy = structuredClone(read);
    await does(reserve(1, 10n), ok)(world());
    await does(finish(1), ok)(world());
    expect(read).toEqual(copy);
  });

  test('each accepted change moves the version of its agent by one; refusals and repetitions do not', async () => {
    const version = async () => (await readAgent(world().ledger, 1)).version;
    for (const row of agentWith(50n)) await row(world());
    expect(await version()).toBe(3);
    await does(reserve(1, 10n), ok)(world());
    expect(await version()).toBe(4);
    await does(reserve(1, 10n), { ok: true, repeated: true })(world());
    await does(renew(1), { ok: true })(world());
    await world().ledger.execute(reserve(2, 51n)(world()));
    await does(expire(), { ok: true, expiredNanoUsd: 0n })(world());
    expect(await version()).toBe(4);
  });
}

function describeConcurrency(world: () => World): void {
  test('two hundred calls at once hold no more than there is', async () => {
    for (const row of agentWith(100n)) await row(world());
    const results = await Promise.all(
      Array.from({ length: 200 }, (_, i) => {
        const limits = { callsPerMinute: 600, burst: 1_000, runningCalls: 1_000, dailyShareNanoUsd: null };
        return world().ledger.execute(reserve(i, 7n, { limits })(world()));
      }),
    );
    expect(results.filter(({ result }) => result.ok)).toHaveLength(14);
    expect(await readAgent(world().ledger, 1)).toMatchObject({
      lots: [{ expiresAtMs: day(8), freeNanoUsd: 2n, heldNanoUsd: 98n }],
      runningCalls: 14,
    });
  });

  test('forty calls at once get eight slots', async () => {
    for (const row of agentWith(100n)) await row(world());
    const results = await Promise.all(
      Array.from({ length: 40 }, (_, i) => world().ledger.execute(reserve(i, 1n)(world()))),
    );
    expect(results.filter(({ result }) => result.ok)).toHaveLength(8);
  });

  test('a settle that is sent many times at once charges once', async () => {
    for (const row of agentWith(100n)) await row(world());
    await does(reserve(1, 50n), ok)(world());
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, i) => world().ledger.execute(settle(1, BigInt(i + 1))(world()))),
    );
    const first = results.filter(({ result }) => result.ok && 'repeated' in result && !result.repeated);
    expect(first).toHaveLength(1);
    const agent = await readAgent(world().ledger, 1);
    for (const { result } of results) expect(result).toMatchObject({ chargedNanoUsd: agent.chargedNanoUsd });
  });

  test('thirty orders at once with one Idempotency-Key make one video, and all are told of it', async () => {
    for (const row of agentWith(100n)) await row(world());
    const results = await Promise.all(
      Array.from({ length: 30 }, (_, i) =>
        world().ledger.execute(
          reserveVideo(i, 10n, { idempotencyKey: 'my-order', openVideosMax: 1 })(world()),
        ),
      ),
    );
    expect(results.filter(({ result }) => result.ok)).toHaveLength(1);
    const open = await world().ledger.listOpenVideos();
    if (open === 'unavailable') throw new Error('unavailable');
    expect(open).toHaveLength(1);
    for (const { result } of results) {
      if (!result.ok)
        expect(result).toEqual({ ok: false, reason: 'video_exists', videoId: open[0]?.videoId });
    }
    expect(await readAgent(world().ledger, 1)).toMatchObject({ lots: [{ heldNanoUsd: 10n }] });
  });

  test('of twenty workers that claim one video at once, one gets it', async () => {
    for (const row of [...agentWith(100n), does(reserveVideo(1, 10n), ok)]) await row(world());
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        world().ledger.execute(claimVideo(1, { nonce: `worker-${i}` })(world())),
      ),
    );
    expect(results.filter(({ result }) => result.ok)).toHaveLength(1);
  });

  test('a grant that is sent many times at once counts once', async () => {
    for (const row of activeAgent) await row(world());
    await Promise.all(Array.from({ length: 30 }, () => world().ledger.execute(grant(5n)(world()))));
    expect((await readAgent(world().ledger, 1)).grantedNanoUsd).toBe(5n);
  });
}

function describeTime(world: () => World): void {
  test('credit that has ended does not come back when the clock is set back', async () => {
    for (const row of activeAgent) await row(world());
    await does(grant(10n, { expiresAtMs: day(1) }), ok)(world());
    world().clock.set(day(1));
    await does(reserve(1, 1n), { ok: false, reason: 'balance', spendableNanoUsd: 0n, heldNanoUsd: 0n })(
      world(),
    );
    world().clock.set(day(1) - 1_000);
    const { result } = await world().ledger.execute(reserve(2, 1n)(world()));
    expect(result).toMatchObject({ ok: false, reason: 'balance' });
  });

  test('a clock that is set back far stops new calls but ends running ones', async () => {
    for (const row of agentWith(10n)) await row(world());
    await does(reserve(1, 5n), ok)(world());
    world().clock.set(START_MS - HOUR_MS);
    const late = reserve(2, 1n)(world());
    expect((await world().ledger.execute(late)).result).toMatchObject({ ok: false, reason: 'clock_apart' });
    expect((await world().ledger.execute(settle(1, 3n)(world()))).result).toMatchObject({ ok: true });
  });
}

function describeClosing(world: () => World): void {
  test('a closed ledger answers every command and every question with unavailable', async () => {
    for (const row of agentWith(10n)) await row(world());
    await world().ledger.close();
    const operations = [
      reserve(1, 1n),
      renew(1),
      finish(1),
      settle(1, 1n),
      grant(1n),
      expire(),
      moveOut('t', 1n),
      moveIn('t', 1n),
      putKey(1),
      changeKey(1),
      revokeKey(1),
      startUpload('upl_1'),
      claimVideo(1),
      submitVideo(1),
      withdrawVideo(1),
      setAgent(),
    ];
    for (const operation of operations) {
      const { result } = await world().ledger.execute(operation(world()));
      expect(result).toEqual({ ok: false, reason: 'unavailable' });
    }
    expect(await world().ledger.readAgent(1)).toBe('unavailable');
    expect(await world().ledger.listAgents()).toBe('unavailable');
    expect(await world().ledger.listHolds()).toBe('unavailable');
    expect(await world().ledger.readVideo(1, 'vid_1')).toBe('unavailable');
    expect(await world().ledger.findVideoByKey(1, 'my-order')).toBe('unavailable');
    expect(await world().ledger.listOpenVideos()).toBe('unavailable');
    expect(await world().ledger.findKey(['hash-1'])).toBe('unavailable');
  });

  test('closing twice is closing once', async () => {
    await world().ledger.close();
    await world().ledger.close();
  });
}
