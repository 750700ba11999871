import { Registry } from 'prom-client';
import { describe, expect, test } from 'vitest';
import { DAY_MS } from '#core/clock.ts';
import type { RecordOutcome } from '#core/events/feed-record.ts';
import type { Command } from '#core/ledger/command.ts';
import type { Executed } from '#core/ledger/ledger.ts';
import { BALANCE_CAP_NANO_USD } from '#core/limits.ts';
import { MOVES_AT_ONCE } from '../../workers/market/credit-mover.ts';
import { observeMoves } from '../../workers/market/observe-market.ts';
import { day, START_MS } from '../ledger/case.ts';
import { expire, putKey, reserve, setAgent } from '../ledger/commands.ts';
import { createMoverWorld } from './mover-world.ts';
import { batchOf, marketOf, tradeRecord } from './trades.ts';

const DONE: RecordOutcome = { outcome: 'done' };
const TRY_AGAIN: RecordOutcome = { outcome: 'try_again' };
const away: Executed<never> = {
  result: { ok: false, reason: 'unavailable' },
  durable: Promise.resolve('durable'),
};
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

describe('a trade', () => {
  test("moves its size from the seller's credit of the market's date to the buyer's, once, however often it comes", async () => {
    const world = createMoverWorld();
    await world.grant(1, 100n);
    await world.grant(1, 50n, 3);
    const mover = world.newMover();
    const sold = tradeRecord({ nanoUsd: 30n });
    for (let i = 0; i < 3; i++) {
      expect(await mover.handle(batchOf([sold, sold], BigInt(i)))).toEqual({
        outcomes: [DONE, DONE],
        resumeOffset: BigInt(i + 2),
      });
    }
    await world.newMover().handle(batchOf([sold]));
    expect([world.free(1), world.free(1, 3), world.free(2)]).toEqual([70n, 50n, 30n]);
    expect([world.inTransit(), mover.inTransitNanoUsd]).toEqual([0n, 0n]);
  });

  const refusals: [string, string, Record<string, unknown>][] = [
    ['more than is free', 'seller_lacks_credit', tradeRecord({ nanoUsd: 101n })],
    ['of credit of another date', 'seller_lacks_credit', tradeRecord({ market: marketOf(7) })],
    ['of a date that no credit can have yet', 'seller_lacks_credit', tradeRecord({ market: marketOf(30) })],
    ['of more than anybody can have', 'seller_lacks_credit', { ...tradeRecord(), size: '9999999.999999999' }],
    ['of a market that has ended', 'market_ended', tradeRecord({ market: marketOf(0) })],
    ['of a seller whom nobody knows', 'unknown_seller', tradeRecord({ sellerAgentId: 9 })],
  ];
  test.each(refusals)(
    '%s is rejected, moves nothing, and a repetition says the same',
    async (_, reason, record) => {
      const world = createMoverWorld();
      await world.grant(1, 100n);
      const outcome = { outcome: 'done', rejected: reason };
      expect(await world.newMover().handle(batchOf([record]))).toEqual({
        outcomes: [outcome],
        resumeOffset: 1n,
      });
      // Even when the credit has come since.
      await world.grant(1, 100n);
      await world.grant(1, 100n, 7);
      await world.grant(9, 100n);
      expect((await world.newMover().handle(batchOf([record]))).outcomes).toEqual([outcome]);
      expect(world.rejected).toEqual([
        { tradeId: 't1', reason },
        { tradeId: 't1', reason },
      ]);
      expect([world.free(2), world.inTransit()]).toEqual([0n, 0n]);
    },
  );

  test('what a call holds cannot be sold', async () => {
    const world = createMoverWorld();
    const cases = { ...world, callIds: new Map<number, number>() };
    for (const operation of [setAgent(), putKey(1)]) await world.ledger.execute(operation(cases));
    await world.grant(1, 100n);
    await world.ledger.execute(reserve(1, 96n)(cases));
    const { outcomes } = await world
      .newMover()
      .handle(batchOf([tradeRecord({ nanoUsd: 5n }), tradeRecord({ seq: 2, nanoUsd: 4n })]));
    expect(outcomes).toEqual([{ outcome: 'done', rejected: 'seller_lacks_credit' }, DONE]);
  });

  test('whose id has moved other credit of this seller is rejected, and the first one stands', async () => {
    const world = createMoverWorld();
    for (const days of [8, 7]) await world.grant(1, 100n, days);
    const first = tradeRecord({ nanoUsd: 30n });
    const others = [
      { nanoUsd: 31n },
      { market: marketOf(7), nanoUsd: 30n },
      { buyerAgentId: 3, nanoUsd: 30n },
    ];
    const records = [first, ...others.map((other) => tradeRecord(other)), first];
    const { outcomes } = await world.newMover().handle(batchOf(records));
    const taken = { outcome: 'done', rejected: 'trade_id_taken' };
    expect(outcomes).toEqual([DONE, taken, taken, taken, DONE]);
    expect([world.free(1), world.free(1, 7), world.free(2), world.free(3)]).toEqual([70n, 100n, 30n, 0n]);
    expect(world.inTransit()).toBe(0n);
  });

  test('whose id two sellers have used loses nothing on its way to their one buyer', async () => {
    const world = createMoverWorld();
    await world.grant(1, 10n);
    await world.grant(3, 10n);
    await world.newMover().handle(batchOf([tradeRecord(), tradeRecord({ sellerAgentId: 3 })]));
    expect([world.free(1), world.free(3), world.free(2), world.inTransit()]).toEqual([5n, 5n, 10n, 0n]);
  });

  test('with oneself moves nothing, and needs the credit all the same', async () => {
    const world = createMoverWorld();
    await world.grant(1, 10n);
    const mover = world.newMover();
    const { outcomes } = await mover.handle(
      batchOf([
        tradeRecord({ buyerAgentId: 1, nanoUsd: 10n }),
        tradeRecord({ seq: 2, buyerAgentId: 1, nanoUsd: 11n }),
      ]),
    );
    expect(outcomes).toEqual([DONE, { outcome: 'done', rejected: 'seller_lacks_credit' }]);
    expect([world.free(1), world.inTransit()]).toEqual([10n, 0n]);
  });

  test('gives credit that burns in its order and ends on the date of its market', async () => {
    const world = createMoverWorld();
    const cases = { ...world, callIds: new Map<number, number>() };
    for (const operation of [setAgent(), putKey(1)]) await world.ledger.execute(operation(cases));
    await world.grant(1, 100n, 5);
    await world.grant(3, 50n, 2);
    await world.grant(3, 50n, 6);
    const bought = { sellerAgentId: 3, buyerAgentId: 1, nanoUsd: 50n };
    await world
      .newMover()
      .handle(
        batchOf([
          tradeRecord({ ...bought, market: marketOf(6) }),
          tradeRecord({ ...bought, market: marketOf(2), seq: 2 }),
        ]),
      );
    await world.ledger.execute(reserve(1, 120n)(cases));
    const [hold] = world.ledger.state.agents.get(1)?.holds.values() ?? [];
    expect(hold?.allocations).toEqual([
      { expiresAtMs: day(2), nanoUsd: 50n },
      { expiresAtMs: day(5), nanoUsd: 70n },
    ]);
    world.clock.set(day(6) - 1);
    await world.ledger.execute(expire()(cases));
    expect(world.free(1, 6)).toBe(50n);
    world.clock.set(day(6));
    await world.ledger.execute(expire()(cases));
    expect(world.ledger.state.agents.get(1)).toMatchObject({ expiredNanoUsd: 80n });
    expect(world.free(1, 6)).toBe(0n);
  });

  test('that nobody can read is kept apart, and its reason repeats nothing of it', async () => {
    const world = createMoverWorld();
    await world.grant(1, 100n);
    const hostile = [
      'no JSON 4711',
      '{"v":1}',
      { ...tradeRecord(), v: 2 },
      { ...tradeRecord(), type: 'sold' },
      { ...tradeRecord(), size: '-4711' },
      { ...tradeRecord(), size: '0' },
      { ...tradeRecord(), size: 4711 },
      { ...tradeRecord(), size: '1e3' },
      { ...tradeRecord(), size: '0.0000000001' },
      { ...tradeRecord(), price: '4711'.repeat(10) },
      { ...tradeRecord(), market: 'credit-2026-02-30' },
      { ...tradeRecord(), market: '../4711' },
      { ...tradeRecord(), tradeId: '' },
      { ...tradeRecord(), tradeId: '4711'.repeat(40) },
      { ...tradeRecord(), seq: 0 },
      { ...tradeRecord(), sellerAgentId: -1 },
      { ...tradeRecord(), buyerAgentId: 1.5 },
      { ...tradeRecord(), key4711: 1 },
      'x'.repeat(10 * 1024 * 1024),
      '',
    ];
    const { outcomes, resumeOffset } = await world.newMover().handle(batchOf([...hostile, tradeRecord()]));
    expect(resumeOffset).toBe(BigInt(hostile.length + 1));
    expect(outcomes.at(-1)).toEqual(DONE);
    for (const outcome of outcomes.slice(0, -1)) {
      expect(outcome).toEqual({ outcome: 'dead_letter', reason: expect.not.stringContaining('4711') });
    }
    expect(world.free(2)).toBe(5n);
  });
});

test('a trade that stands among those of another market is kept apart, and moves nothing', async () => {
  const world = createMoverWorld();
  await world.grant(1, 100n);
  const bytes = Buffer.from(JSON.stringify(tradeRecord()));
  const keys = [marketOf(7), '', null, marketOf(8)].map((key) => (key === null ? null : Buffer.from(key)));
  const records = keys.map((key, i) => ({ offset: BigInt(i), bytes, key }));
  const { outcomes } = await world.newMover().handle({ partition: 0, records });
  const apart = { outcome: 'dead_letter', reason: 'market: is not what the record is keyed by' };
  expect(outcomes).toEqual([apart, apart, apart, DONE]);
  expect([world.free(1), world.free(2)]).toEqual([95n, 5n]);
});

describe('a process that dies', () => {
  // Of each of the ledger's two steps: before it arrives, before its answer does, and while it is not durable yet.
  const points = ['move_out', 'move_in'].flatMap((type) =>
    (['asked', 'answered', 'durable'] as const).map((moment) => ({ type, moment })),
  );
  test.each(points)(
    'at $type, before it is $moment, leaves a trade that the next one ends, once',
    async (point) => {
      const world = createMoverWorld();
      await world.grant(1, 100n);
      let reached = false;
      const dying = world.newMover({
        between: (ask) => async (command) => {
          if (command.type !== point.type) return ask(command);
          reached = true;
          const never = new Promise<never>(() => {});
          if (point.moment === 'asked') return never;
          const { result } = await ask(command);
          return point.moment === 'answered' ? never : { result, durable: never };
        },
      });
      const records = batchOf([tradeRecord({ nanoUsd: 30n }), tradeRecord({ seq: 2, nanoUsd: 7n })]);
      void dying.handle(records);
      await turn();
      expect(reached).toBe(true);
      expect(await world.newMover().handle(records)).toEqual({ outcomes: [DONE, DONE], resumeOffset: 2n });
      expect([world.free(1), world.free(2), world.inTransit()]).toEqual([63n, 37n, 0n]);
    },
  );

  test('before or after a rejection is written leaves a trade that is rejected in the same words', async () => {
    const world = createMoverWorld();
    const record = batchOf([tradeRecord({ nanoUsd: 30n })]);
    void world.newMover({ reject: () => new Promise(() => {}) }).handle(record);
    await turn();
    expect((await world.newMover().handle(record)).outcomes).toEqual([
      { outcome: 'done', rejected: 'unknown_seller' },
    ]);
  });

  test('or seems to, while another reads the same trades, doubles nothing', async () => {
    const world = createMoverWorld();
    for (const agentId of [1, 2, 3]) await world.grant(agentId, 100n);
    const records = Array.from({ length: 60 }, (_, i) =>
      tradeRecord({ seq: i + 1, sellerAgentId: 1 + (i % 3), buyerAgentId: 1 + ((i + 1) % 3), nanoUsd: 9n }),
    );
    const movers = [world.newMover(), world.newMover(), world.newMover()];
    await Promise.all(movers.map((mover) => mover.handle(batchOf(records))));
    expect([world.free(1), world.free(2), world.free(3)]).toEqual([100n, 100n, 100n]);
    expect(world.ledger.state.agents.get(1)).toMatchObject({ movedOutNanoUsd: 180n, movedInNanoUsd: 180n });
    expect(world.inTransit()).toBe(0n);
  });
});

describe('order', () => {
  test('an agent sells what it has just bought, in one batch', async () => {
    const world = createMoverWorld();
    await world.grant(1, 40n);
    const chain = Array.from({ length: 30 }, (_, i) =>
      tradeRecord({ seq: i + 1, sellerAgentId: i + 1, buyerAgentId: i + 2, nanoUsd: 40n }),
    );
    const { outcomes } = await world.newMover().handle(batchOf(chain));
    expect(outcomes).toEqual(chain.map(() => DONE));
    expect([world.free(1), world.free(31)]).toEqual([0n, 40n]);
  });

  test('trades that share no agent run side by side, so many at a time', async () => {
    const world = createMoverWorld();
    let running = 0;
    let most = 0;
    const records = Array.from({ length: 3 * MOVES_AT_ONCE }, (_, i) =>
      tradeRecord({ seq: i + 1, sellerAgentId: 2 * i + 1, buyerAgentId: 2 * i + 2 }),
    );
    for (const { sellerAgentId } of records) await world.grant(Number(sellerAgentId), 5n);
    const mover = world.newMover({
      between: (ask) => async (command) => {
        running += 1;
        most = Math.max(most, running);
        await turn();
        running -= 1;
        return ask(command);
      },
    });
    await mover.handle(batchOf(records));
    expect(most).toBe(MOVES_AT_ONCE);
    expect(mover.counts.moved).toBe(records.length);
  });

  test('a trade whose ledger is away holds up those of its agents, and no others; what is done is not asked again', async () => {
    const world = createMoverWorld();
    for (const agentId of [1, 3, 5]) await world.grant(agentId, 100n);
    const asked: string[] = [];
    let isAway = true;
    const mover = world.newMover({
      between: (ask) => async (command) => {
        asked.push(`${command.type} ${command.agentId}`);
        return isAway && command.agentId === 4 ? away : ask(command);
      },
    });
    const records = [
      tradeRecord({ seq: 1, sellerAgentId: 1, buyerAgentId: 2 }),
      tradeRecord({ seq: 2, sellerAgentId: 3, buyerAgentId: 4, nanoUsd: 8n }),
      tradeRecord({ seq: 3, sellerAgentId: 4, buyerAgentId: 6 }),
      tradeRecord({ seq: 4, sellerAgentId: 6, buyerAgentId: 7 }),
      tradeRecord({ seq: 5, sellerAgentId: 5, buyerAgentId: 8 }),
    ];
    expect(await mover.handle(batchOf(records, 10n))).toEqual({
      outcomes: [DONE, TRY_AGAIN],
      resumeOffset: 11n,
    });
    expect([world.free(2), world.free(8), world.free(6)]).toEqual([5n, 5n, 0n]);
    expect([mover.inTransitNanoUsd, world.inTransit()]).toEqual([8n, 8n]);
    isAway = false;
    asked.length = 0;
    expect(await mover.handle(batchOf(records.slice(1), 11n))).toEqual({
      outcomes: [DONE, DONE, DONE, DONE],
      resumeOffset: 15n,
    });
    expect(asked).not.toContain('move_out 5');
    expect([world.free(4), world.free(6), world.free(7), world.free(8)]).toEqual([3n, 0n, 5n, 5n]);
    expect([mover.inTransitNanoUsd, world.inTransit()]).toEqual([0n, 0n]);
  });

  test('after the partition was given to another process and came back, nothing that was known of it counts', async () => {
    const world = createMoverWorld();
    await world.grant(1, 100n);
    const mover = world.newMover({
      between: (ask) => async (command) => (command.type === 'move_in' ? away : ask(command)),
    });
    expect(await mover.handle(batchOf([tradeRecord()]))).toEqual({
      outcomes: [TRY_AGAIN],
      resumeOffset: null,
    });
    expect(mover.inTransitNanoUsd).toBe(5n);
    mover.forget(0);
    expect(mover.inTransitNanoUsd).toBe(0n);
  });
});

describe('while something is away', () => {
  test('for as long as the ledger is, nothing ends; then everything does', async () => {
    const world = createMoverWorld();
    await world.grant(1, 100n);
    let isAway: (command: Command) => boolean = () => true;
    const mover = world.newMover({
      between: (ask) => async (command) => (isAway(command) ? away : ask(command)),
    });
    const records = batchOf([tradeRecord({ nanoUsd: 30n })]);
    const stuck = { outcomes: [TRY_AGAIN], resumeOffset: null };
    for (let i = 0; i < 100; i++) expect(await mover.handle(records)).toEqual(stuck);
    expect([world.free(1), mover.inTransitNanoUsd]).toEqual([100n, 0n]);
    isAway = ({ type }) => type === 'move_in';
    for (let i = 0; i < 100; i++) expect(await mover.handle(records)).toEqual(stuck);
    expect([world.free(1), mover.inTransitNanoUsd, world.inTransit()]).toEqual([70n, 30n, 30n]);
    isAway = () => false;
    expect((await mover.handle(records)).outcomes).toEqual([DONE]);
    expect([world.free(2), mover.inTransitNanoUsd, world.inTransit()]).toEqual([30n, 0n, 0n]);
  });

  test("the buyer is given nothing before the seller's half is in the journal", async () => {
    const world = createMoverWorld();
    await world.grant(1, 100n);
    const mover = world.newMover({
      between: (ask) => async (command) => {
        const { result } = await ask(command);
        return { result, durable: Promise.resolve('unknown') };
      },
    });
    expect((await mover.handle(batchOf([tradeRecord()]))).outcomes).toEqual([TRY_AGAIN]);
    expect(world.free(2)).toBe(0n);
  });

  test('a ledger that throws is tried again, and the log says so without the trade', async () => {
    const world = createMoverWorld();
    const mover = world.newMover({ between: () => () => Promise.reject(new Error('a fault')) });
    expect((await mover.handle(batchOf([tradeRecord({ tradeId: 'secret' })]))).outcomes).toEqual([TRY_AGAIN]);
    expect(world.lines).toMatchObject([['error', expect.stringContaining('will retry'), { agentId: 1 }]]);
    expect(JSON.stringify(world.lines)).not.toContain('secret');
  });

  test('a rejection that cannot be written keeps its trade, which is rejected in the same words later', async () => {
    const world = createMoverWorld();
    let isAway = true;
    const reasons: string[] = [];
    const mover = world.newMover({
      async reject(_, reason) {
        if (isAway) throw new Error('Kafka is away');
        reasons.push(reason);
      },
    });
    const records = batchOf([tradeRecord(), tradeRecord({ seq: 2, sellerAgentId: 3, buyerAgentId: 4 })]);
    await world.grant(3, 5n);
    expect(await mover.handle(records)).toEqual({ outcomes: [TRY_AGAIN], resumeOffset: null });
    expect(world.free(4)).toBe(5n);
    await world.grant(1, 100n);
    isAway = false;
    const [first] = (await mover.handle(records)).outcomes;
    expect(first).toEqual({ outcome: 'done', rejected: 'unknown_seller' });
    expect(reasons).toEqual(['unknown_seller']);
  });

  test('an end waits for what has begun, and begins nothing more', async () => {
    const world = createMoverWorld();
    await world.grant(1, 100n);
    let let_in = () => {};
    const mover = world.newMover({
      between: (ask) => async (command) => {
        if (command.type === 'move_in') await new Promise<void>((resolve) => (let_in = resolve));
        return ask(command);
      },
    });
    const handling = mover.handle(batchOf([tradeRecord(), tradeRecord({ seq: 2 })]));
    await turn();
    let stopped = false;
    const stopping = mover.stop().then(() => {
      stopped = true;
    });
    await turn();
    expect([stopped, mover.inTransitNanoUsd]).toEqual([false, 5n]);
    let_in();
    await stopping;
    expect(await handling).toEqual({ outcomes: [DONE, TRY_AGAIN], resumeOffset: 1n });
    expect([world.free(1), world.free(2), world.inTransit()]).toEqual([95n, 5n, 0n]);
  });
});

describe('what operators see', () => {
  test('credit that ends between its halves is booked in and expired, with an alert', async () => {
    const world = createMoverWorld();
    await world.grant(1, 100n, 1);
    const mover = world.newMover({
      between: (ask) => async (command) => {
        if (command.type === 'move_in') world.clock.set(day(1));
        return ask(command);
      },
    });
    const { outcomes } = await mover.handle(batchOf([tradeRecord({ market: marketOf(1), nanoUsd: 30n })]));
    expect(outcomes).toEqual([DONE]);
    expect(world.ledger.state.agents.get(2)).toMatchObject({
      movedInNanoUsd: 30n,
      expiredNanoUsd: 30n,
      lots: [],
    });
    expect(world.inTransit()).toBe(0n);
    expect(world.lines).toMatchObject([['error', expect.any(String), { agentId: 2, usd: '0.00000003' }]]);
    expect(mover.counts.expiredNanoUsd).toBe(30n);
  });

  test('credit above what a buyer may have is booked in and expired, with an alert', async () => {
    const world = createMoverWorld();
    await world.grant(1, 100n);
    await world.grant(2, BALANCE_CAP_NANO_USD - 20n, 3);
    const mover = world.newMover();
    await mover.handle(batchOf([tradeRecord({ nanoUsd: 30n })]));
    expect([world.free(2), mover.counts.expiredNanoUsd, world.inTransit()]).toEqual([20n, 10n, 0n]);
    expect(world.lines.map(([level]) => level)).toEqual(['error']);
  });

  test('are trades that moved, that were rejected, and credit in transit and expired', async () => {
    const world = createMoverWorld();
    await world.grant(1, 3_000_000_000n);
    const mover = world.newMover({
      between: (ask) => async (command) =>
        command.type === 'move_in' && command.agentId === 3 ? away : ask(command),
    });
    const registry = new Registry();
    observeMoves(registry, mover);
    await mover.handle(
      batchOf([
        tradeRecord({ nanoUsd: 1_000_000_000n }),
        tradeRecord({ seq: 2, sellerAgentId: 5, buyerAgentId: 6 }),
        tradeRecord({ seq: 3, nanoUsd: 500_000_000n, buyerAgentId: 3 }),
      ]),
    );
    const text = await registry.metrics();
    expect(text).toMatch(/^faregate_credit_in_transit_usd 0.5$/m);
    expect(text).toMatch(/^faregate_market_moves_total 1$/m);
    expect(text).toMatch(/^faregate_trades_rejected_total 1$/m);
    expect(text).toMatch(/^faregate_market_expired_usd_total 0$/m);
  });

  test('a record that is read again long after moves nothing', async () => {
    const world = createMoverWorld();
    await world.grant(1, 100n, 2);
    const record = batchOf([tradeRecord({ market: marketOf(2) })]);
    await world.newMover().handle(record);
    world.clock.set(START_MS + 60 * DAY_MS);
    const { outcomes } = await world.newMover().handle(record);
    expect(outcomes).toEqual([{ outcome: 'done', rejected: 'market_ended' }]);
    expect(world.inTransit()).toBe(0n);
  });
});
