import { expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { LIVE_CANDLES } from '#core/limits.ts';
import { createMemoryLiveMarkets } from '#core/market/memory-live-markets.ts';
import { checkMarket, rebuildMarket } from '#core/market/rebuild-market.ts';
import { TRADES_AHEAD_MAX } from '#core/market/seen-trades.ts';
import type { CandleKeeper } from '../../workers/market/candle-keeper.ts';
import { MARKETS_FOLDED_MAX } from '../../workers/market/candle-keeper.ts';
import { OLDER_CANDLES_KEPT } from '../../workers/market/interval-rows.ts';
import { createDraw } from '../ledger/history/random.ts';
import { runHistory } from './candle-histories.ts';
import { batchOf, candleWorld, outcomesOf } from './candle-world.ts';
import {
  allCandlesOf,
  allFolded,
  candlesOf,
  ENDS_MS,
  MARKET,
  OPENS_MS,
  recordOf,
  seededTrades,
  tradeOf,
} from './market-trades.ts';

const settle = async () => {
  for (let n = 0; n < 50; n++) await null;
};

test('the candles of all six intervals are those of the trades', async () => {
  const { store, startKeeper } = candleWorld({ nowMs: ENDS_MS });
  const keeper = startKeeper();
  const trades = seededTrades(3_000, createDraw(1));
  const { outcomes, resumeOffset } = await keeper.handle(batchOf(trades, 100n));
  await keeper.stop();
  expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['done']));
  expect(resumeOffset).toBe(3_100n);
  expect(await allCandlesOf(store)).toEqual(allFolded(trades));
});

test('whatever order, repeats, kills, zombies, lost offsets and rebuilds: the candles are those of the trades', async () => {
  const seeds = Array.from({ length: 300 }, (_, i) => i + 1);
  let [kills, rebuilds] = [0, 0];
  for (const seed of seeds) {
    const history = await runHistory(seed);
    const { trades, candles, differing, throughSeq, keptApart } = history;
    expect({ seed, candles, differing, throughSeq, keptApart }).toEqual({
      ...{ seed, candles: allFolded(trades), differing: 0, throughSeq: trades.length, keptApart: 0 },
    });
    kills += history.kills;
    rebuilds += history.rebuilds;
  }
  expect(kills).toBeGreaterThan(100);
  expect(rebuilds).toBeGreaterThan(100);
});

test('what is no trade is left to the mover of credit, and no trade waits for it', async () => {
  const { startKeeper, store } = candleWorld();
  const keeper = startKeeper();
  const bad = [
    ...['', '{}', 'null', '[]', '\u0000', '{"v":2}', '9'.repeat(70_000)].map((text) => Buffer.from(text)),
    Buffer.from([0xff, 0xfe]),
  ];
  const { outcomes, resumeOffset } = await keeper.handle(batchOf([...bad, tradeOf(1), ...bad]));
  await keeper.stop();
  expect(outcomes).toEqual(Array(17).fill({ outcome: 'done' }));
  expect(resumeOffset).toBe(17n);
  expect(await candlesOf(store, '1d')).toMatchObject([{ trades: 1 }]);
});

test('a trade from before or behind its market, or from the future, is kept apart', async () => {
  const { startKeeper, store, clock } = candleWorld({ nowMs: OPENS_MS + DAY_MS });
  const keeper = startKeeper();
  const outside = [OPENS_MS - 1, ENDS_MS, ENDS_MS + DAY_MS, clock.now() + HOUR_MS + 1];
  const { outcomes } = await keeper.handle(batchOf(outside.map((at, i) => tradeOf(i + 1, { at }))));
  expect(outcomes).toEqual([
    ...Array(3).fill({
      outcome: 'dead_letter',
      reason: 'at: the market is not open then, so it is in no candle',
    }),
    { outcome: 'dead_letter', reason: 'at: is in the future, so it is in no candle' },
  ]);
  const inside = [OPENS_MS, clock.now() + HOUR_MS];
  expect(outcomesOf(await keeper.handle(batchOf(inside.map((at, i) => tradeOf(i + 1, { at })))))).toEqual([
    ...['done', 'done'],
  ]);
  await keeper.stop();
  expect(await candlesOf(store, '1d')).toHaveLength(2);
});

test('a trade that stands among those of another market is left to the mover, and pushes none out of a candle', async () => {
  const { startKeeper, store } = candleWorld();
  const [keeper, ofOthers] = [startKeeper(), startKeeper()];
  const hand = async (by: CandleKeeper, seq: number, partition: number, market: string | null) => {
    const key = market === null ? null : Buffer.from(market);
    const records = [{ offset: BigInt(seq), bytes: recordOf(tradeOf(seq)), key }];
    expect(outcomesOf(await by.handle({ partition, records }))).toEqual(['done']);
  };
  await hand(keeper, 1, 3, MARKET);
  await hand(ofOthers, 2, 4, 'other-2026-11-25');
  await hand(keeper, 3, 3, MARKET);
  await hand(ofOthers, 4, 4, null);
  await Promise.all([keeper.stop(), ofOthers.stop()]);
  expect(await allCandlesOf(store)).toEqual(allFolded([tradeOf(1), tradeOf(3)]));
});

test('however many names of markets come, a process keeps and tells of a bounded number, and folds all of them', async () => {
  const { startKeeper, store, clock, publishings } = candleWorld();
  const keeper = startKeeper();
  const markets = Array.from({ length: 4 * MARKETS_FOLDED_MAX }, (_, i) => `m${i}-${MARKET.slice(-10)}`);
  const each = (seq: number) => markets.map((market) => tradeOf(seq, { market }));
  await keeper.handle(batchOf(each(1)));
  for (const [i, trade] of each(2).entries()) {
    await keeper.handle(batchOf([trade], BigInt(i)));
    if (i % 50 === 0) clock.advance(SECOND_MS);
  }
  await settle();
  const before = publishings();
  clock.advance(SECOND_MS);
  await settle();
  expect(publishings() - before).toBe(MARKETS_FOLDED_MAX);
  await keeper.handle(batchOf(each(3)));
  await keeper.stop();
  const expected = allFolded([1, 2, 3].map((seq) => tradeOf(seq)));
  for (const market of markets) expect(await allCandlesOf(store, market)).toEqual(expected);
});

test('a trade that comes when too many later ones are there is kept apart, and changes no candle', async () => {
  const { startKeeper, store } = candleWorld();
  const keeper = startKeeper();
  await keeper.handle(batchOf(Array.from({ length: TRADES_AHEAD_MAX + 1 }, (_, i) => tradeOf(i + 2))));
  const before = await allCandlesOf(store);
  const late = await keeper.handle(batchOf([tradeOf(1), tradeOf(2), tradeOf(TRADES_AHEAD_MAX + 3)]));
  await keeper.stop();
  expect(late.outcomes).toEqual([
    { outcome: 'dead_letter', reason: 'seq: comes too late, so it is in no candle' },
    ...[{ outcome: 'done' }, { outcome: 'done' }],
  ]);
  expect((await candlesOf(store, '1d'))[0]?.trades).toBe((before['1d']?.[0]?.trades ?? 0) + 1);
});

test('trades of an exchange that numbers them anew are kept apart, and no candle loses what it has', async () => {
  const { startKeeper, store } = candleWorld();
  const first = startKeeper();
  const trades = Array.from({ length: 300 }, (_, i) => tradeOf(i + 1));
  await first.handle(batchOf(trades));
  const before = await allCandlesOf(store);
  const anew = [1, 2].map((seq) => tradeOf(seq, { tradeId: `n${seq}`, at: OPENS_MS + HOUR_MS }));
  const apart = {
    outcome: 'dead_letter',
    reason: 'seq: a trade of another time had it before, so it is in no candle',
  };
  const batch = batchOf([...anew, ...trades, tradeOf(301)]);
  const expected = [apart, apart, ...Array(301).fill({ outcome: 'done' })];
  expect((await first.handle(batch)).outcomes).toEqual(expected);
  await first.stop();
  const heir = startKeeper();
  expect((await heir.handle(batch)).outcomes).toEqual(expected);
  await heir.stop();
  expect(before['1d']).toMatchObject([{ trades: 300 }]);
  expect(await allCandlesOf(store)).toEqual(allFolded([...trades, tradeOf(301)]));
});

test('what was given up stays so for whoever reads the same trades again after a kill', async () => {
  const { startKeeper, store } = candleWorld();
  const ahead = Array.from({ length: TRADES_AHEAD_MAX + 1 }, (_, i) => tradeOf(i + 2));
  store.beforeStep = (step) => {
    if (step === 'cursor') throw new Error('killed');
  };
  const first = startKeeper();
  expect(outcomesOf(await first.handle(batchOf(ahead)))).toEqual(['try_again']);
  await first.stop();
  store.beforeStep = () => {};
  const heir = startKeeper();
  const [last, ...others] = ahead.toReversed();
  if (last === undefined) throw new Error('no trades');
  const log = [...others.toReversed(), last, tradeOf(1), ...others, last];
  const { outcomes } = await heir.handle(batchOf(log));
  await heir.stop();
  expect(outcomes.filter(({ outcome }) => outcome !== 'done')).toHaveLength(1);
  expect(outcomes[ahead.length]?.outcome).toBe('dead_letter');
  expect(await allCandlesOf(store)).toEqual(allFolded(ahead));
});

test('a store that is away holds up its market alone, and nothing is counted twice when it is back', async () => {
  const { startKeeper, store, warnings } = candleWorld();
  const keeper = startKeeper();
  const other = 'other-2026-11-25';
  let steps = 0;
  store.beforeStep = () => {
    if (++steps === 4) throw new Error('the disk is full');
  };
  const batch = batchOf([tradeOf(1), tradeOf(1, { market: other }), tradeOf(2)]);
  const first = await keeper.handle(batch);
  expect(outcomesOf(first).at(-1)).toBe('try_again');
  expect(warnings).toEqual(['candles could not be stored or read, it is tried again']);
  expect(outcomesOf(await keeper.handle(batch))).toEqual(['done', 'done', 'done']);
  await keeper.stop();
  expect(await allCandlesOf(store)).toEqual(allFolded([tradeOf(1), tradeOf(2)]));
  expect(await allCandlesOf(store, other)).toEqual(allFolded([tradeOf(1)]));
});

test('nothing is kept of a batch whose first trade could not be stored', async () => {
  const { startKeeper, store } = candleWorld();
  const keeper = startKeeper();
  store.beforeRead = () => {
    throw new Error('no answer');
  };
  expect(await keeper.handle(batchOf([tradeOf(1)], 7n))).toEqual({
    ...{ outcomes: [{ outcome: 'try_again' }], resumeOffset: null },
  });
  await keeper.stop();
});

test('readers get the newest candles at once, then at most four times a second, and each second again', async () => {
  const world = candleWorld();
  const keeper = world.startKeeper();
  await keeper.handle(batchOf([tradeOf(1)]));
  expect(world.publishings()).toBe(1);
  for (let seq = 2; seq < 12; seq++) {
    world.clock.advance(50);
    await keeper.handle(batchOf([tradeOf(seq)], BigInt(seq)));
  }
  expect(world.publishings()).toBe(3);
  expect(world.published.get(MARKET)?.newest['1d'][0]?.trades).toBe(11);
  for (let n = 0; n < 3; n++) {
    world.clock.advance(SECOND_MS);
    await settle();
  }
  expect(world.publishings()).toBe(6);
  keeper.forget(3);
  world.clock.advance(5 * SECOND_MS);
  await settle();
  expect(world.publishings()).toBe(6);
  await keeper.stop();
  expect(world.clock.pendingTimers()).toBe(0);
});

test('a keeper that wakes up when another has gone on for it does not take readers back', async () => {
  const world = candleWorld();
  const live = createMemoryLiveMarkets(world.clock);
  const [asleep, heir] = [world.startKeeper(world.store, live), world.startKeeper(world.store, live)];
  await asleep.handle(batchOf([tradeOf(1), tradeOf(2)]));
  // Now one of them speaks, now the other.
  world.clock.advance(SECOND_MS / 2);
  await heir.handle(batchOf([tradeOf(1), tradeOf(2), tradeOf(3)]));
  const shown = async () => {
    const candles = await live.readCandles(MARKET);
    return candles === 'unavailable' ? null : candles?.newest['1d'][0]?.trades;
  };
  for (let n = 0; n < 6; n++) {
    world.clock.advance(SECOND_MS / 2);
    await settle();
    expect(await shown()).toBe(3);
  }
  await heir.stop();
  // Alone again, it may say what it knows: it folds on by itself.
  await asleep.handle(batchOf([tradeOf(3), tradeOf(4)], 2n));
  world.clock.advance(SECOND_MS);
  await settle();
  expect(await shown()).toBe(4);
  await asleep.stop();
});

test('readers see the newest candles of each interval, the last price, and what was traded in a day', async () => {
  const world = candleWorld({ nowMs: OPENS_MS + 3 * DAY_MS });
  const trades = seededTrades(2_000, createDraw(4), { spanMs: 3 * DAY_MS });
  const first = world.startKeeper();
  await first.handle(batchOf(trades.slice(0, 1_500)));
  await first.stop();
  // Another takes over, and knows what the first one did.
  const keeper = world.startKeeper();
  await keeper.handle(batchOf(trades.slice(1_500)));
  await keeper.stop();
  const live = world.published.get(MARKET);
  const dayAgoMs = world.clock.now() - DAY_MS;
  const minutes = (await world.store.readCandles(MARKET, '1m', dayAgoMs + 1, ENDS_MS)).map(
    (row) => row.volumeNano,
  );
  expect(live?.volume24hNano).toBe(minutes.reduce((sum, volume) => sum + volume, 0n));
  expect(live?.lastPriceNano).toBe(trades.at(-1)?.price);
  for (const interval of ['1m', '5m', '15m', '1h', '4h', '1d'] as const) {
    const all = await world.store.readCandles(MARKET, interval, OPENS_MS, ENDS_MS);
    expect(live?.newest[interval]).toEqual(all.slice(-LIVE_CANDLES));
  }
});

test('whoever has kept older candles is told when one of them changes, or more of them are older ones', async () => {
  const world = candleWorld({ nowMs: OPENS_MS + 10 * MINUTE_MS });
  const keeper = world.startKeeper();
  let seq = 0;
  const versionAfter = async (minute: number) => {
    seq++;
    await keeper.handle(batchOf([tradeOf(seq, { at: OPENS_MS + minute * MINUTE_MS })], BigInt(seq)));
    world.clock.advance(SECOND_MS);
    await settle();
    return world.published.get(MARKET)?.olderVersion;
  };
  for (let minute = 0; minute < LIVE_CANDLES; minute++) await versionAfter(minute);
  const version = await versionAfter(LIVE_CANDLES - 1);
  expect(await versionAfter(1)).toBe(version);
  const moved = await versionAfter(LIVE_CANDLES);
  expect(moved).not.toBe(version);
  expect(await versionAfter(LIVE_CANDLES)).toBe(moved);
  expect(await versionAfter(0)).not.toBe(moved);
  await keeper.stop();
  const other = world.startKeeper();
  const before = world.published.get(MARKET)?.olderVersion;
  await other.handle(batchOf([tradeOf(seq)], 1n));
  await other.stop();
  expect(world.published.get(MARKET)?.olderVersion).not.toBe(before);
});

test('late trades of many old intervals change what the store has of them', async () => {
  const { startKeeper, store } = candleWorld({ nowMs: ENDS_MS });
  const first = startKeeper();
  const minutes = 2 * OLDER_CANDLES_KEPT;
  const trades = Array.from({ length: minutes }, (_, i) => tradeOf(i + 1, { at: OPENS_MS + i * MINUTE_MS }));
  await first.handle(batchOf(trades));
  await first.stop();
  const keeper = startKeeper();
  const late = trades.map((trade) => ({ ...trade, seq: trade.seq + minutes, price: 700_000_000n }));
  for (let i = 0; i < minutes; i += 100) await keeper.handle(batchOf(late.slice(i, i + 100), BigInt(i)));
  await keeper.stop();
  expect(await allCandlesOf(store)).toEqual(allFolded([...trades, ...late]));
});

test('a late trade of a candle that the keeper has long forgotten is folded into it', async () => {
  const { startKeeper, store } = candleWorld({ nowMs: OPENS_MS + 10 * HOUR_MS });
  const keeper = startKeeper();
  const minutes = OLDER_CANDLES_KEPT + 2 * LIVE_CANDLES;
  const trades = Array.from({ length: minutes }, (_, i) => tradeOf(i + 1, { at: OPENS_MS + i * MINUTE_MS }));
  const late = tradeOf(minutes + 1, { at: OPENS_MS });
  await keeper.handle(batchOf(trades));
  await keeper.handle(batchOf([late]));
  await keeper.stop();
  expect(await allCandlesOf(store)).toEqual(allFolded([...trades, late]));
});

test('a rebuild puts right what is wrong, takes away what should not be, and the keeper goes on', async () => {
  const { startKeeper, store, clock } = candleWorld({ nowMs: ENDS_MS });
  const keeper = startKeeper();
  const trades = seededTrades(600, createDraw(9));
  await keeper.handle(batchOf(trades.slice(0, 500)));
  const [cursor] = [await store.readCursor(MARKET)];
  const [right] = await store.readCandles(MARKET, '1d', OPENS_MS, ENDS_MS);
  if (cursor === null || right === undefined) throw new Error('nothing was stored');
  const wrong = [
    { ...right, volumeNano: 1n },
    { ...right, interval: '1m' as const, timeMs: OPENS_MS + 7 * DAY_MS + 23 * HOUR_MS },
  ];
  await store.writeTrades({ market: MARKET, trades: [], candles: wrong, cursor });
  expect(await checkMarket(store, MARKET)).toMatchObject({ trades: 500, differing: 2 });
  expect(await rebuildMarket(store, MARKET)).toMatchObject({ trades: 500, differing: 2 });
  const batch = batchOf(trades.slice(500), 500n);
  expect(outcomesOf(await keeper.handle(batch))).toContain('try_again');
  expect(outcomesOf(await keeper.handle(batch))).not.toContain('try_again');
  clock.advance(SECOND_MS);
  await keeper.stop();
  expect(await allCandlesOf(store)).toEqual(allFolded(trades));
  expect(await checkMarket(store, MARKET)).toMatchObject({ trades: 600, differing: 0 });
});

test('a rebuild is noticed while nothing is traded', async () => {
  const world = candleWorld({ nowMs: ENDS_MS });
  const keeper = world.startKeeper();
  await keeper.handle(batchOf([tradeOf(1)]));
  const before = world.published.get(MARKET);
  await rebuildMarket(world.store, MARKET);
  world.clock.advance(SECOND_MS);
  await settle();
  await settle();
  const after = world.published.get(MARKET);
  expect(after?.newest['1d'][0]?.generation).toBe((before?.newest['1d'][0]?.generation ?? 0) + 1);
  await keeper.stop();
});

test('of a market that nobody has traded in, nothing is rebuilt', async () => {
  const { store } = candleWorld();
  expect(await rebuildMarket(store, MARKET)).toBeNull();
  expect(await checkMarket(store, MARKET)).toBeNull();
});
