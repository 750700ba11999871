import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#core/clock.ts';
import { LOG_KEPT_MS } from '#core/limits.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';
import { charged, day, does, ok, START_MS } from './case.ts';
import {
  activeAgent,
  agentWith,
  grant,
  moveIn,
  moveOut,
  putKey,
  reserve,
  reserveVideo,
  revokeKey,
  setAgent,
  settle,
  startUpload,
} from './commands.ts';

async function ledgerWith(rows: typeof activeAgent) {
  const clock = createFakeClock(START_MS);
  const ledger = createMemoryLedger({ clock });
  const world = { ledger, clock, callIds: new Map<number, number>() };
  for (const row of rows) await row(world);
  const agent = ledger.state.agents.get(1);
  if (agent === undefined) throw new Error('no agent');
  return { world, agent, run: async (row: (typeof rows)[number]) => row(world) };
}

describe('what an agent keeps in memory', () => {
  test('ended calls are kept for an hour and at most a minute more, however many there are', async () => {
    const { world, agent, run } = await ledgerWith(agentWith(1_000_000n));
    let most = 0;
    for (let i = 0; i < 6 * 60; i++) {
      world.clock.advance(MINUTE_MS / 2);
      await run(does(reserve(i, 1n), ok));
      await run(does(settle(i, 1n), charged(1n)));
      most = Math.max(most, [...agent.done].length);
    }
    expect(most).toBeGreaterThanOrEqual(120);
    expect(most).toBeLessThanOrEqual(123);
    expect(agent.chargedNanoUsd).toBe(360n);
  });

  test('grants and trades are forgotten on the day after they can no longer be repeated', async () => {
    const { world, agent, run } = await ledgerWith(agentWith(100n));
    await run(does(moveOut('t1', 1n), ok));
    await run(does(moveOut('t2', 999n), { ok: false, repeated: false, reason: 'balance' }));
    await run(does(moveIn('t3', 1n), { ok: true, repeated: false, expiredNanoUsd: 0n }));
    world.clock.set(START_MS + 8 * DAY_MS - 1);
    await run(does(setAgent({ sourceVersion: 2 }), ok));
    expect(agent.grants.size).toBe(1);
    world.clock.set(day(9));
    await run(does(setAgent({ sourceVersion: 3 }), ok));
    expect([agent.grants.size, agent.trades.size]).toEqual([0, 3]);
    world.clock.set(day(9) + LOG_KEPT_MS);
    await run(does(setAgent({ sourceVersion: 4 }), ok));
    expect(agent.trades.size).toBe(0);
  });

  test('a grant every hour for a month leaves no more than nine days of them, and eight lots', async () => {
    const { world, agent, run } = await ledgerWith(activeAgent);
    for (let i = 0; i < 30 * 24; i++) {
      world.clock.advance(HOUR_MS);
      const expiresAtMs = Math.floor(world.clock.now() / DAY_MS) * DAY_MS + 8 * DAY_MS;
      await run(does(grant(1n, { grantId: `g${i}`, expiresAtMs }), ok));
      await world.ledger.execute({ type: 'expire', agentId: 1, endedByMs: world.clock.now() });
      expect(agent.lots.length).toBeLessThanOrEqual(8);
    }
    expect(agent.grants.size).toBeLessThanOrEqual(9 * 24);
  });

  test('slots that have lapsed are forgotten at the next start', async () => {
    const { world, agent, run } = await ledgerWith(agentWith(100n));
    for (let i = 0; i < 30; i++) {
      world.clock.advance(MINUTE_MS);
      await run(does(reserve(i, 1n), ok));
    }
    expect(agent.leases.size).toBe(1);
    expect(agent.holds.size).toBe(30);
  });

  test('no more uploads are kept than may be started in a day, and none after a day or two without any', async () => {
    const { world, agent, run } = await ledgerWith(agentWith(1n));
    const limits = { uploadsPerDay: 20 };
    for (let i = 0; i < 100; i++) {
      world.clock.advance(HOUR_MS);
      await world.ledger.execute(startUpload(`upl_${i}`, { limits })(world));
      expect(agent.uploads.size).toBeLessThanOrEqual(20);
    }
    expect(agent.uploads.size).toBe(20);
    world.clock.advance(2 * DAY_MS);
    await run(does(setAgent({ sourceVersion: 2 }), ok));
    expect(agent.uploads.size).toBe(0);
  });

  test('ended videos are gone a day and at most a minute later, whatever happens meanwhile, and so are stored images', async () => {
    const { world, agent, run } = await ledgerWith(agentWith(1_000n));
    for (let i = 0; i < 48; i++) {
      world.clock.advance(HOUR_MS);
      await run(does(reserveVideo(2 * i, 1n, { idempotencyKey: `order-${i}` }), ok));
      await run(does(settle(2 * i, 0n), charged(0n)));
      await run(does(reserve(2 * i + 1, 1n, { kind: 'image' }), ok));
      const stored = { bytes: 1, untilMs: world.clock.now() + 2 * HOUR_MS };
      await run(does(settle(2 * i + 1, 0n, { stored }), charged(0n)));
      expect(agent.videos.size).toBeLessThanOrEqual(25);
      expect(agent.stored.size).toBeLessThanOrEqual(26);
    }
    expect(agent.videos.findByKey('order-0')).toBeUndefined();
    world.clock.advance(DAY_MS + MINUTE_MS);
    await run(does(setAgent({ sourceVersion: 2 }), ok));
    expect([agent.videos.size, agent.stored.size]).toEqual([0, 0]);
  });

  test('only the last day of keys made over MCP is counted', async () => {
    const { world, agent, run } = await ledgerWith(activeAgent);
    for (let keyId = 2; keyId < 50; keyId++) {
      world.clock.advance(2 * HOUR_MS);
      await run(does(putKey(keyId, { actingKeyId: 1, madeOverMcp: true }), ok));
      await run(does(revokeKey(keyId), ok));
    }
    expect(agent.mcpKeysMadeAtMs).toHaveLength(12);
  });
});
