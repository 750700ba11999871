import { describe, expect, it } from 'vitest';
import type { LookedUpPrice } from '#core/calls/look-up-price.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { Command } from '#core/ledger/command.ts';
import type { Durability, Ledger } from '#core/ledger/ledger.ts';
import { ORPHAN_MARGIN_MS, PRICE_LOOKUP_MS } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import { Settlement } from '../../workers/settlement/settlement.ts';
import { atto } from '../inference/support.ts';
import { type Operation, readAgent, START_MS, type World } from '../ledger/case.ts';
import {
  callEnd,
  finish,
  grant,
  MINUTES_13,
  pendingPrice,
  putKey,
  renew,
  reserve,
  reserveVideo,
  savedPrice,
  setAgent,
  settle,
} from '../ledger/commands.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createMemoryLedger, type MemoryLedger } from '../support/memory-ledger.ts';

interface Trouble {
  unavailable: boolean;
  /** The journal confirms nothing. */
  unconfirmed: boolean;
  /** The ledger itself fails. */
  broken: boolean;
}

/** The memory ledger, which can be made to fail in every way that the port knows. */
function troubled(ledger: MemoryLedger, trouble: Trouble): Ledger {
  const reads = <T>(read: () => Promise<T>): Promise<T | 'unavailable'> => {
    if (trouble.broken) throw new Error('a fault of the ledger');
    return trouble.unavailable ? Promise.resolve('unavailable') : read();
  };
  return {
    async execute<C extends Command>(command: C) {
      if (trouble.broken) throw new Error('a fault of the ledger');
      if (trouble.unavailable) {
        return {
          result: { ok: false, reason: 'unavailable' },
          durable: Promise.resolve<Durability>('unknown'),
        };
      }
      const executed = await ledger.execute(command);
      return trouble.unconfirmed
        ? { ...executed, durable: Promise.resolve<Durability>('unknown') }
        : executed;
    },
    findKey: (hashes) => reads(() => ledger.findKey(hashes)),
    recallKey: (hashes) => ledger.recallKey(hashes),
    readAgent: (agentId) => reads(() => ledger.readAgent(agentId)),
    listAgents: () => reads(() => ledger.listAgents()),
    listEnded: (byMs) => reads(() => ledger.listEnded(byMs)),
    listHolds: () => reads(() => ledger.listHolds()),
    readVideo: (agentId, videoId) => reads(() => ledger.readVideo(agentId, videoId)),
    findVideoByKey: (agentId, idempotencyKey) => reads(() => ledger.findVideoByKey(agentId, idempotencyKey)),
    listOpenVideos: () => reads(() => ledger.listOpenVideos()),
    close: () => ledger.close(),
  };
}

const soon = () => new Promise<void>((resolve) => setImmediate(resolve));

/** An agent with credit, a settlement loop that runs, and a provider that says what a test tells it. */
async function settlementWorld(startMs = START_MS) {
  const clock = createFakeClock(startMs);
  const memory = createMemoryLedger({ clock });
  const trouble: Trouble = { unavailable: false, unconfirmed: false, broken: false };
  const ledger = troubled(memory, trouble);
  const world: World = { ledger: memory, clock, callIds: new Map() };
  const provider: { answer: () => Promise<LookedUpPrice | null>; asked: number[] } = {
    answer: async () => null,
    asked: [],
  };
  const heard = {
    priced: [] as bigint[],
    losses: [] as string[],
    costs: [] as string[],
    logged: [] as string[],
  };
  const log: Log = {
    info: () => {},
    warn: () => {},
    error: (event) => void heard.logged.push(event),
  };
  const running = new Set<number>();
  const journal = { behindMs: 0 };
  const make = () =>
    new Settlement({
      ledger,
      clock,
      log,
      lookUp: (_providerId, _generationId) => {
        provider.asked.push(clock.now());
        return provider.answer();
      },
      onCost: (providerId, nanoUsd, factorPpm) =>
        void heard.costs.push(`${providerId} ${nanoUsd} ${factorPpm}`),
      onLoss: (cause, nanoUsd) => void heard.losses.push(`${cause} ${nanoUsd}`),
      onPriced: (chargedNanoUsd) => void heard.priced.push(chargedNanoUsd),
      logTimeMs: () => clock.now() - journal.behindMs,
      sweepMs: HOUR_MS,
      firstSweepMs: 5 * MINUTE_MS,
      knownSinceMs: new Map(),
      isOpen: (callId) => running.has(callId),
    });
  const does = async (operation: Operation) => {
    const { result } = await memory.execute(operation(world));
    expect(result, 'the test’s own step').toMatchObject({ ok: true });
  };
  const settlement = make();
  const view = () => readAgent(memory, 1);
  const outside = {
    clock,
    memory,
    trouble,
    provider,
    heard,
    does,
    settlement,
    make,
    running,
    journal,
    view,
    /** Time goes by in small steps, and whatever falls due is done. */
    async passes(ms: number, stepMs = SECOND_MS) {
      for (let passed = 0; passed < ms; passed += stepMs) {
        clock.advance(Math.min(stepMs, ms - passed));
        await soon();
        await soon();
      }
    },
    callId: (call: number) => world.callIds.get(call) ?? 0,
    /** A call that ended with its cost unknown. */
    async pends(call: number, holdNanoUsd: bigint, more: Partial<typeof pendingPrice> = {}) {
      await does(reserve(call, holdNanoUsd));
      await does(finish(call, { pending: { ...pendingPrice, ...more } }));
    },
    heldNanoUsd: async () => (await view()).lots.reduce((sum, lot) => sum + lot.heldNanoUsd, 0n),
  };
  await does(setAgent());
  await does(putKey(1));
  await does(grant(10_000_000n, { expiresAtMs: startOfDay(startMs) + 8 * DAY_MS }));
  return outside;
}

const startOfDay = (atMs: number) => atMs - (atMs % DAY_MS);
const price = (usd: string): LookedUpPrice => ({ attoUsd: atto(usd), tokens: null });

describe('a call whose cost was not known at its end', () => {
  it('is charged what the provider’s record says, as soon as there is one', async () => {
    const world = await settlementWorld();
    await world.settlement.start();
    await world.pends(1, 5_000n);
    await world.settlement.watch(1, world.callId(1));
    expect(world.settlement.waiting).toBe(1);
    await world.passes(7 * SECOND_MS);
    expect(await world.heldNanoUsd()).toBe(5_000n);
    world.provider.answer = async () => price('0.000002');
    await world.passes(8 * SECOND_MS);
    expect(world.heard.priced).toEqual([2_000n]);
    expect((await world.view()).chargedNanoUsd).toBe(2_000n);
    expect(await world.heldNanoUsd()).toBe(0n);
    expect(world.settlement.waiting).toBe(0);
    expect(world.heard.losses).toEqual([]);
  });

  it('is asked for ever more rarely, and never more than once a minute in the end', async () => {
    const world = await settlementWorld();
    await world.pends(1, 5_000n);
    await world.settlement.watch(1, world.callId(1));
    await world.passes(PRICE_LOOKUP_MS, 100);
    const gaps = world.provider.asked
      .slice(1)
      .map((at, i) => Math.floor((at - (world.provider.asked[i] ?? 0)) / SECOND_MS));
    expect(gaps.slice(0, 7)).toEqual([1, 2, 4, 8, 16, 30, 60]);
    expect(new Set(gaps.slice(6))).toEqual(new Set([60]));
  });

  it('counts the margin in, and the one rounding up', async () => {
    const world = await settlementWorld();
    await world.pends(1, 5_000n, { price: { ...savedPrice, factorPpm: '1055000' } });
    world.provider.answer = async () => price('0.0000001234');
    await world.settlement.watch(1, world.callId(1));
    await world.passes(SECOND_MS);
    expect(world.heard.priced).toEqual([131n]);
    // For the comparison with the provider's bill, which has no margin of ours.
    expect(world.heard.costs).toEqual(['simulator 131 1055000']);
  });

  it('keeps an explicit zero', async () => {
    const world = await settlementWorld();
    await world.pends(1, 5_000n);
    world.provider.answer = async () => price('0');
    await world.settlement.watch(1, world.callId(1));
    await world.passes(SECOND_MS);
    expect([world.heard.priced, world.heard.losses]).toEqual([[0n], []]);
    expect(await world.heldNanoUsd()).toBe(0n);
  });

  it('does not take a record that counts no answer for the price of one that was delivered', async () => {
    const world = await settlementWorld();
    await world.pends(1, 9_000n);
    const none = { prompt: 10, completion: 0, reasoning: null, cached: 0 };
    world.provider.answer = async () => ({ attoUsd: 0n, tokens: none });
    await world.settlement.watch(1, world.callId(1));
    await world.passes(8 * SECOND_MS);
    expect(world.heard.priced).toEqual([]);
    // The record is complete at last.
    world.provider.answer = async () => ({ attoUsd: atto('0.000003'), tokens: { ...none, completion: 20 } });
    await world.passes(MINUTE_MS);
    expect([world.heard.priced, world.heard.losses]).toEqual([[3_000n], []]);
  });

  it('pays the estimate where the record never counts the answer that was delivered', async () => {
    const world = await settlementWorld();
    await world.pends(1, 10_000n);
    world.provider.answer = async () => ({
      attoUsd: 0n,
      tokens: { prompt: 0, completion: 0, reasoning: null, cached: 0 },
    });
    await world.settlement.watch(1, world.callId(1));
    await world.passes(PRICE_LOOKUP_MS + 2 * MINUTE_MS);
    expect([world.heard.priced, world.heard.losses]).toEqual([[9_200n], ['price_estimated 0']]);
  });

  it('never costs the agent more than was held; the rest is the operator’s', async () => {
    const world = await settlementWorld();
    await world.pends(1, 5_000n);
    world.provider.answer = async () => price('0.00001');
    await world.settlement.watch(1, world.callId(1));
    await world.passes(SECOND_MS);
    expect(world.heard.priced).toEqual([5_000n]);
    expect(world.heard.losses).toEqual(['cost_above_hold 5000']);
    expect((await world.view()).chargedNanoUsd).toBe(5_000n);
  });

  it.each<[string, Partial<typeof pendingPrice>, bigint, string[]]>([
    ['its counted tokens', { tokensKnown: true }, 9_000n, []],
    ['its estimate and what was delivered', { tokensKnown: false }, 9_200n, ['price_estimated 0']],
    [
      'nothing, where nothing was delivered',
      { tokensKnown: false, deliveredTokens: 0 },
      0n,
      ['price_unknown 0'],
    ],
  ])(
    'is charged %s when the provider has told nothing for ten minutes',
    async (_what, more, charged, losses) => {
      const world = await settlementWorld();
      await world.pends(1, 50_000n, more);
      await world.settlement.watch(1, world.callId(1));
      await world.passes(PRICE_LOOKUP_MS - MINUTE_MS);
      expect(await world.heldNanoUsd()).toBe(50_000n);
      await world.passes(3 * MINUTE_MS);
      expect(world.heard.priced).toEqual([charged]);
      expect(world.heard.losses).toEqual(losses);
      expect(await world.heldNanoUsd()).toBe(0n);
    },
  );

  it('is priced at once where there is nobody to ask', async () => {
    const world = await settlementWorld();
    await world.pends(1, 50_000n, { generationId: null, tokensKnown: true });
    await world.settlement.watch(1, world.callId(1));
    await world.passes(SECOND_MS);
    expect(world.heard.priced).toEqual([9_000n]);
    expect(world.provider.asked).toEqual([]);
  });

  it('is found again after a restart, and again only once', async () => {
    const world = await settlementWorld();
    await world.pends(1, 5_000n);
    await world.settlement.watch(1, world.callId(1));
    await world.passes(5 * SECOND_MS);
    world.settlement.close();
    expect(world.settlement.waiting).toBe(0);
    expect(world.clock.pendingTimers()).toBe(0);

    const next = world.make();
    await next.start();
    await next.watch(1, world.callId(1));
    expect(next.waiting).toBe(1);
    world.provider.answer = async () => price('0.000001');
    await world.passes(5 * SECOND_MS);
    expect(world.heard.priced).toEqual([1_000n]);
    next.close();
  });

  it('that a restart finds late is asked for ten minutes all the same: the network may be late, too', async () => {
    const world = await settlementWorld();
    await world.pends(1, 50_000n, { tokensKnown: true });
    world.clock.advance(PRICE_LOOKUP_MS + HOUR_MS);
    await world.settlement.start();
    await world.passes(PRICE_LOOKUP_MS - MINUTE_MS);
    expect(world.heard.priced).toEqual([]);
    await world.passes(3 * MINUTE_MS);
    expect(world.heard.priced).toEqual([9_000n]);
    world.settlement.close();
  });

  it('loses none of the ten minutes to a step of the wall clock', async () => {
    const world = await settlementWorld();
    await world.pends(1, 50_000n, { tokensKnown: true });
    await world.settlement.start();
    await world.passes(SECOND_MS);
    world.clock.set(world.clock.now() + HOUR_MS);
    await world.passes(MINUTE_MS);
    world.provider.answer = async () => price('0.000001');
    await world.passes(2 * MINUTE_MS);
    expect(world.heard.priced).toEqual([1_000n]);
    world.settlement.close();
  });

  it('is read again until the journal has its end', async () => {
    const world = await settlementWorld();
    await world.does(reserve(1, 5_000n));
    await world.settlement.watch(1, world.callId(1));
    world.trouble.unavailable = true;
    await world.passes(5 * SECOND_MS);
    world.trouble.unavailable = false;
    world.trouble.broken = true;
    await world.passes(5 * SECOND_MS);
    world.trouble.broken = false;
    world.provider.answer = async () => price('0.000001');
    await world.passes(5 * SECOND_MS);
    expect(world.settlement.waiting).toBe(1);
    await world.does(finish(1, { pending: pendingPrice }));
    await world.passes(5 * SECOND_MS);
    expect(world.heard.priced).toEqual([1_000n]);
    expect(world.settlement.waiting).toBe(0);
  });

  it('that somebody else has settled is let go, and counted by nobody twice', async () => {
    const world = await settlementWorld();
    await world.pends(1, 5_000n);
    await world.settlement.watch(1, world.callId(1));
    await world.does(settle(1, 3_000n));
    await world.passes(2 * HOUR_MS, MINUTE_MS);
    expect(world.settlement.waiting).toBe(0);
    expect((await world.view()).chargedNanoUsd).toBe(3_000n);
    await world.settlement.watch(1, world.callId(1));
    await world.settlement.watch(99, world.callId(1));
    expect(world.settlement.waiting).toBe(0);
  });

  it('survives a look-up that throws', async () => {
    const world = await settlementWorld();
    await world.pends(1, 5_000n);
    world.provider.answer = () => Promise.reject(new Error('a fault of the look-up'));
    await world.settlement.watch(1, world.callId(1));
    await world.passes(5 * SECOND_MS);
    world.provider.answer = async () => price('0.000001');
    await world.passes(10 * SECOND_MS);
    expect(world.heard.priced).toEqual([1_000n]);
    expect(world.heard.logged.length).toBeGreaterThan(0);
  });

  it.each(['unavailable', 'broken', 'unconfirmed'] as const)(
    'is charged once, though the ledger is %s',
    async (how) => {
      const world = await settlementWorld();
      await world.pends(1, 5_000n);
      world.provider.answer = async () => price('0.000001');
      await world.settlement.watch(1, world.callId(1));
      world.trouble[how] = true;
      await world.passes(5 * MINUTE_MS);
      expect([world.heard.priced, world.settlement.waiting]).toEqual([[], 1]);
      world.trouble[how] = false;
      await world.passes(2 * MINUTE_MS);
      expect([world.heard.priced, world.settlement.waiting]).toEqual([[1_000n], 0]);
      expect((await world.view()).chargedNanoUsd).toBe(1_000n);
    },
  );

  it('is one of few that are looked up at a time, and none is forgotten', async () => {
    const world = await settlementWorld();
    const calls = Array.from({ length: 100 }, (_, i) => i + 1);
    for (const call of calls) {
      await world.pends(call, 10n);
      world.clock.advance(SECOND_MS);
    }
    let open = 0;
    let most = 0;
    const answers: (() => void)[] = [];
    world.provider.answer = () => {
      most = Math.max(most, ++open);
      return new Promise((resolve) => {
        answers.push(() => {
          open--;
          resolve(price('0.000000001'));
        });
      });
    };
    await world.settlement.start();
    await world.passes(5 * SECOND_MS);
    expect(most).toBe(32);
    for (let minute = 0; minute < 15; minute++) {
      for (const answer of answers.splice(0)) answer();
      await world.passes(MINUTE_MS);
    }
    expect(world.heard.priced).toEqual(calls.map(() => 1n));
    expect(most).toBe(32);
    world.settlement.close();
  });

  it('waits for its turn to be looked up for ten minutes, not for ever', async () => {
    const world = await settlementWorld();
    for (let call = 1; call <= 40; call++) await world.pends(call, 9_000n, { tokensKnown: true });
    world.provider.answer = () => new Promise(() => undefined);
    await world.settlement.start();
    await world.passes(PRICE_LOOKUP_MS - MINUTE_MS);
    expect([world.provider.asked.length, world.heard.priced]).toEqual([32, []]);
    await world.passes(3 * MINUTE_MS);
    // Eight never had a turn; the others hang at the provider.
    expect(world.heard.priced).toEqual(Array(8).fill(9_000n));
    world.settlement.close();
  });

  it('has its turn also where many waited for hours, as after an outage', async () => {
    const world = await settlementWorld();
    for (let call = 1; call <= 200; call++) {
      await world.pends(call, 10n, { tokensKnown: true });
      world.clock.advance(SECOND_MS);
    }
    world.clock.advance(3 * HOUR_MS);
    world.provider.answer = () =>
      new Promise((resolve) => world.clock.setTimer(30 * SECOND_MS, () => resolve(price('0.000000001'))));
    await world.settlement.start();
    await world.passes(5 * MINUTE_MS);
    expect(world.heard.priced).toEqual(Array(200).fill(1n));
    world.settlement.close();
  });
});

describe('a hold that nobody runs', () => {
  const dueMs = MINUTES_13 + ORPHAN_MARGIN_MS;

  it('is free again two minutes after its call’s time is up, and not a minute sooner', async () => {
    const world = await settlementWorld();
    await world.settlement.start();
    await world.does(reserve(1, 5_000n));
    await world.passes(dueMs - MINUTE_MS);
    expect(await world.heldNanoUsd()).toBe(5_000n);
    await world.passes(HOUR_MS, MINUTE_MS);
    expect(await world.heldNanoUsd()).toBe(0n);
    expect((await world.view()).chargedNanoUsd).toBe(0n);
    expect(world.heard.losses).toEqual(['orphan 0']);
    expect(world.memory.journal.at(-1)).toMatchObject({
      type: 'settled',
      chargedNanoUsd: '0',
      end: { outcome: 'failed', errorCode: 'gateway_error', httpStatus: 500 },
    });
    world.settlement.close();
  });

  it('is left to this process while it runs the call, whatever a step of the wall clock makes of its age', async () => {
    const world = await settlementWorld();
    await world.settlement.start();
    await world.does(reserve(1, 5_000n));
    world.running.add(world.callId(1));
    world.clock.set(world.clock.now() + HOUR_MS);
    await world.passes(2 * HOUR_MS, MINUTE_MS);
    expect(await world.heldNanoUsd()).toBe(5_000n);
    world.running.clear();
    await world.passes(2 * HOUR_MS, MINUTE_MS);
    expect(await world.heldNanoUsd()).toBe(0n);
    world.settlement.close();
  });

  it('that was there at the start is freed when it falls due, not an hour later', async () => {
    const world = await settlementWorld();
    await world.does(reserve(1, 5_000n));
    await world.settlement.start();
    await world.passes(dueMs + MINUTE_MS);
    expect(await world.heldNanoUsd()).toBe(0n);
    world.settlement.close();
  });

  it('rule 11, time: lives until the journal’s own clock has come so far', async () => {
    const world = await settlementWorld();
    await world.does(reserve(1, 5_000n));
    await world.settlement.start();
    world.journal.behindMs = 10 * MINUTE_MS;
    await world.passes(dueMs + 9 * MINUTE_MS, 10 * SECOND_MS);
    expect(await world.heldNanoUsd()).toBe(5_000n);
    await world.passes(3 * MINUTE_MS);
    expect(await world.heldNanoUsd()).toBe(0n);
    world.settlement.close();
  });

  it('lives while its call may run, and while its price is pending, and where it is a video', async () => {
    const world = await settlementWorld();
    await world.settlement.start();
    await world.does(reserve(1, 100n, { timeLimitMs: 30 * MINUTE_MS }));
    await world.does(reserveVideo(2, 100n));
    await world.pends(3, 50_000n);
    await world.passes(20 * MINUTE_MS, 10 * SECOND_MS);
    await world.does(renew(1));
    expect((await world.view()).holds.map((hold) => hold.callId)).toEqual([world.callId(1), world.callId(2)]);
    expect(world.heard.losses).not.toContain('orphan 0');
    world.settlement.close();
  });

  it('that is a video lives for six hours, in which its worker ends it, and no longer', async () => {
    const world = await settlementWorld();
    await world.settlement.start();
    await world.does(reserveVideo(1, 100n));
    await world.passes(6 * HOUR_MS, MINUTE_MS);
    expect(await world.heldNanoUsd()).toBe(100n);
    await world.passes(5 * MINUTE_MS, MINUTE_MS);
    expect(await world.heldNanoUsd()).toBe(0n);
    world.settlement.close();
  });

  it('is found pending by the sweep, even where nobody said so', async () => {
    const world = await settlementWorld();
    await world.settlement.start();
    await world.passes(2 * SECOND_MS);
    await world.pends(1, 100n, { generationId: null, tokensKnown: true });
    await world.passes(HOUR_MS + MINUTE_MS, MINUTE_MS);
    expect(world.heard.priced).toEqual([100n]);
    world.settlement.close();
  });

  it.each([
    ['unavailable', 10 * SECOND_MS],
    ['unconfirmed', 10 * SECOND_MS],
    ['broken', MINUTE_MS + SECOND_MS],
  ] as const)('is free soon after a ledger was %s: within %i ms', async (how, withinMs) => {
    const world = await settlementWorld();
    await world.does(reserve(1, 5_000n));
    world.clock.advance(dueMs);
    await world.settlement.start();
    world.trouble[how] = true;
    await world.passes(6 * MINUTE_MS);
    expect(world.heard.losses).toEqual([]);
    world.trouble[how] = false;
    await world.passes(withinMs);
    expect(await world.heldNanoUsd()).toBe(0n);
    world.settlement.close();
  });
});

describe('credit that has ended', () => {
  it('expires within seconds of midnight, and only what has ended', async () => {
    const world = await settlementWorld(START_MS);
    await world.does(grant(700n, { grantId: 'short', expiresAtMs: startOfDay(START_MS) + DAY_MS }));
    await world.settlement.start();
    await world.passes(14 * HOUR_MS - MINUTE_MS, MINUTE_MS);
    expect((await world.view()).expiredNanoUsd).toBe(0n);
    await world.passes(MINUTE_MS + 5 * SECOND_MS);
    expect((await world.view()).expiredNanoUsd).toBe(700n);
    expect((await world.view()).lots).toHaveLength(1);
    world.settlement.close();
  });

  it('rule 11, time: stays until the journal’s own clock has come so far, and goes within a minute of that', async () => {
    const world = await settlementWorld(START_MS);
    await world.does(grant(700n, { grantId: 'short', expiresAtMs: startOfDay(START_MS) + DAY_MS }));
    await world.settlement.start();
    world.journal.behindMs = 10 * MINUTE_MS;
    await world.passes(14 * HOUR_MS + 9 * MINUTE_MS, MINUTE_MS);
    expect((await world.view()).expiredNanoUsd).toBe(0n);
    await world.passes(2 * MINUTE_MS);
    expect((await world.view()).expiredNanoUsd).toBe(700n);
    world.settlement.close();
  });

  it('expires soon after the start, where it ended while nothing ran', async () => {
    const world = await settlementWorld();
    world.clock.advance(9 * DAY_MS);
    await world.settlement.start();
    // Not at once: a machine that has just started may still learn the time.
    await world.passes(4 * MINUTE_MS);
    expect((await world.view()).expiredNanoUsd).toBe(0n);
    await world.passes(2 * MINUTE_MS);
    expect((await world.view()).expiredNanoUsd).toBe(10_000_000n);
    world.settlement.close();
  });

  it('is looked for once an hour while nothing is held', async () => {
    const world = await settlementWorld();
    await world.settlement.start();
    await world.passes(6 * MINUTE_MS, SECOND_MS);
    expect(world.clock.pendingTimers()).toBe(1);
    const readings: number[] = [];
    const { listEnded } = world.memory;
    world.memory.listEnded = (byMs) => {
      readings.push(world.clock.now());
      return listEnded(byMs);
    };
    await world.passes(5 * HOUR_MS, 10 * SECOND_MS);
    expect(readings).toHaveLength(5);
    for (const at of readings) expect(at % HOUR_MS).toBeLessThan(15 * SECOND_MS);
    world.settlement.close();
    expect(world.clock.pendingTimers()).toBe(0);
  });

  it('a loop that was closed does nothing more', async () => {
    const world = await settlementWorld();
    await world.settlement.start();
    world.clock.advance(SECOND_MS);
    world.settlement.close();
    await world.passes(2 * HOUR_MS, MINUTE_MS);
    expect(world.clock.pendingTimers()).toBe(0);
    await world.settlement.watch(1, 5);
    expect(world.settlement.waiting).toBe(0);
  });
});

// What these figures rest on, so that a changed fixture does not look like a changed promise.
it('the fixture’s price: 10 and 20 tokens at 0.1 and 0.4 micro-dollars', () => {
  expect([callEnd.tokens.prompt, callEnd.tokens.completion]).toEqual([10, 20]);
  expect([savedPrice.promptAtto, savedPrice.completionAtto]).toEqual(['100000000000', '400000000000']);
});
