import { describe, expect, test } from 'vitest';
import { HOUR_MS } from '#core/clock.ts';
import { MARKET_CACHE_MS } from '#core/limits.ts';
import { type CandleInterval, intervals } from '#core/market/candle.ts';
import {
  createReadsWorld,
  listingOf,
  liveOf,
  MARKET,
  nano,
  type ReadsWorld,
  rowOf,
  storeRows,
} from './market-world.ts';

async function createWorld(): Promise<ReadsWorld> {
  const world = createReadsWorld();
  await world.store.putListing(listingOf());
  return world;
}

async function read({ reads }: ReadsWorld, limit = 200, interval: CandleInterval = '1m') {
  const answer = await reads.candles(MARKET, { interval, limit });
  if ('refused' in answer) throw new Error(answer.code);
  const { candles } = JSON.parse(answer.body.toString());
  const times: number[] = candles.map(({ time }: { time: number }) => time);
  return { answer, candles, times, closes: candles.map(({ close }: { close: string }) => close) };
}

const timesOf = (interval: CandleInterval, ...intervalsAgo: number[]) =>
  intervalsAgo.map((ago) => rowOf(interval, ago).timeMs);

test('a candle has exact decimals, and the answer says of what it is', async () => {
  const world = await createWorld();
  const row = rowOf('1h', 0, {
    openNano: nano('0.85'),
    highNano: nano('0.9'),
    lowNano: nano('0.000000001'),
    closeNano: nano('1'),
    volumeNano: nano('1234567.000000001'),
    quoteVolumeAtto: 1_000_000_000_000_000_001n,
    trades: 3,
  });
  await storeRows(world.store, MARKET, [row]);
  const { answer } = await read(world, 1, '1h');
  expect(JSON.parse(answer.body.toString())).toEqual({
    market: MARKET,
    interval: '1h',
    candles: [
      {
        time: row.timeMs,
        open: '0.85',
        high: '0.9',
        low: '0.000000001',
        close: '1',
        volume: '1234567.000000001',
        quoteVolume: '1.000000000000000001',
        trades: 3,
      },
    ],
  });
});

describe('limit', () => {
  test.each(intervals)(
    'is a window of time of %s, with the present interval: those without trades take their place in it',
    async (interval) => {
      const world = await createWorld();
      await storeRows(
        world.store,
        MARKET,
        [0, 1, 4, 5, 199, 200, 999, 1_000].map((ago) => rowOf(interval, ago)),
      );
      expect((await read(world, 1, interval)).times).toEqual(timesOf(interval, 0));
      expect((await read(world, 4, interval)).times).toEqual(timesOf(interval, 1, 0));
      expect((await read(world, 5, interval)).times).toEqual(timesOf(interval, 4, 1, 0));
      expect((await read(world, 200, interval)).times).toEqual(timesOf(interval, 199, 5, 4, 1, 0));
      expect((await read(world, 1_000, interval)).times).toEqual(
        timesOf(interval, 999, 200, 199, 5, 4, 1, 0),
      );
      expect(world.asked.filter((each) => each.startsWith('stored'))).toHaveLength(1);
    },
  );

  test('of a market without trades is an empty list', async () => {
    const world = await createWorld();
    expect((await read(world)).candles).toEqual([]);
    await storeRows(world.store, MARKET, [rowOf('1m', 7)]);
    world.clock.advance(MARKET_CACHE_MS);
    expect((await read(world, 7)).candles).toEqual([]);
    expect((await read(world, 8)).candles).toHaveLength(1);
  });

  test('each has an answer and an ETag of its own, however many are asked for', async () => {
    const world = await createWorld();
    await storeRows(
      world.store,
      MARKET,
      Array.from({ length: 60 }, (_, ago) => rowOf('1m', ago)),
    );
    const etags = new Set<string>();
    for (let limit = 1; limit <= 60; limit++) {
      const { answer, times } = await read(world, limit);
      expect(times).toHaveLength(limit);
      etags.add(answer.etag);
    }
    expect(etags.size).toBe(60);
    expect((await read(world, 1)).times).toHaveLength(1);
    expect((await read(world, 61)).answer.etag).toBe((await read(world, 60)).answer.etag);
  });
});

describe('the newest candles', () => {
  test('stand over those of the store, and between reads of it are enough', async () => {
    const world = await createWorld();
    await storeRows(world.store, MARKET, [rowOf('1m', 9), rowOf('1m', 1), rowOf('1m', 0)]);
    await world.live.publishCandles(
      MARKET,
      liveOf({ newest: [rowOf('1m', 1), rowOf('1m', 0, { price: '0.9', trades: 2 })] }),
    );
    expect((await read(world)).closes).toEqual(['0.85', '0.85', '0.9']);
    await world.live.publishCandles(
      MARKET,
      liveOf({ newest: [rowOf('1m', 1), rowOf('1m', 0, { price: '0.95', trades: 3 })] }),
    );
    expect((await read(world)).closes).toEqual(['0.85', '0.85', '0.9']);
    world.clock.advance(MARKET_CACHE_MS);
    expect((await read(world)).closes).toEqual(['0.85', '0.85', '0.95']);
    expect(world.asked).toEqual([
      'listings',
      `candles ${MARKET}`,
      `stored ${MARKET} 1m`,
      'listings',
      `candles ${MARKET}`,
    ]);
  });

  test('do not stand over one of the store that has more in it, or is of a newer fold', async () => {
    const world = await createWorld();
    await storeRows(world.store, MARKET, [
      rowOf('1m', 2, { trades: 5, price: '0.7' }),
      rowOf('1m', 1, { generation: 2, price: '0.8' }),
      rowOf('1m', 0, { price: '0.9' }),
    ]);
    await world.live.publishCandles(
      MARKET,
      liveOf({
        newest: [
          rowOf('1m', 2, { trades: 4, price: '0.1' }),
          rowOf('1m', 1, { trades: 9, price: '0.1' }),
          rowOf('1m', 0, { generation: 2, price: '0.2' }),
        ],
      }),
    );
    expect((await read(world)).closes).toEqual(['0.7', '0.8', '0.2']);
  });

  test('say when an older one has changed: then the store is read again', async () => {
    const world = await createWorld();
    await storeRows(world.store, MARKET, [rowOf('1m', 20)]);
    await world.live.publishCandles(MARKET, liveOf());
    expect((await read(world)).closes).toEqual(['0.85']);
    await storeRows(world.store, MARKET, [rowOf('1m', 20, { price: '0.5', trades: 2 }), rowOf('1m', 30)]);
    world.clock.advance(MARKET_CACHE_MS);
    expect((await read(world)).closes).toEqual(['0.85']);
    await world.live.publishCandles(MARKET, liveOf({ olderVersion: '2' }));
    world.clock.advance(MARKET_CACHE_MS);
    expect((await read(world)).closes).toEqual(['0.85', '0.5']);
    expect(world.asked.filter((each) => each.startsWith('stored'))).toHaveLength(2);
  });

  test('one that a new fold took away is shown no more', async () => {
    const world = await createWorld();
    await storeRows(world.store, MARKET, [rowOf('1m', 1), rowOf('1m', 0)]);
    await world.live.publishCandles(
      MARKET,
      liveOf({ newest: [rowOf('1m', 1, { generation: 2, trades: 0 })] }),
    );
    expect((await read(world)).times).toEqual(timesOf('1m', 0));
  });

  test.each([null, 'unavailable'] as const)(
    'where they are %s the store tells all, each second',
    async (none) => {
      const world = await createWorld();
      world.live.readCandles = async () => none;
      await storeRows(world.store, MARKET, [rowOf('1m', 1)]);
      expect((await read(world)).closes).toEqual(['0.85']);
      await storeRows(world.store, MARKET, [rowOf('1m', 1, { price: '0.86', trades: 2 }), rowOf('1m', 0)]);
      expect((await read(world)).closes).toEqual(['0.85']);
      world.clock.advance(MARKET_CACHE_MS);
      expect((await read(world)).closes).toEqual(['0.86', '0.85']);
    },
  );

  test('one of an interval that has not begun here is not shown before it has', async () => {
    const world = await createWorld();
    await world.live.publishCandles(MARKET, liveOf({ newest: [rowOf('1m', 0), rowOf('1m', -1)] }));
    expect((await read(world)).times).toEqual(timesOf('1m', 0));
    world.clock.advance(30_000);
    await world.live.publishCandles(MARKET, liveOf({ newest: [rowOf('1m', 0), rowOf('1m', -1)] }));
    expect((await read(world)).times).toEqual(timesOf('1m', 0, -1));
  });
});

test('a hundred who ask at once are one read of each', async () => {
  const world = await createWorld();
  await storeRows(world.store, MARKET, [rowOf('1m', 1)]);
  await Promise.all(Array.from({ length: 100 }, (_, n) => read(world, (n % 20) + 1)));
  expect(world.asked).toEqual(['listings', `candles ${MARKET}`, `stored ${MARKET} 1m`]);
});

test('intervals are kept apart', async () => {
  const world = await createWorld();
  await storeRows(world.store, MARKET, [rowOf('1m', 1), rowOf('1h', 0, { price: '0.5' })]);
  expect((await read(world, 5, '1m')).closes).toEqual(['0.85']);
  expect((await read(world, 5, '1h')).closes).toEqual(['0.5']);
});

test('a market that has closed leaves nothing in memory, and is read as a whole if it opens again', async () => {
  const world = await createWorld();
  await storeRows(world.store, MARKET, [rowOf('1m', 1)]);
  await world.live.publishCandles(MARKET, liveOf());
  await read(world);
  await world.store.putListing(listingOf(MARKET, { version: 2, opensAt: world.clock.now() + HOUR_MS }));
  world.clock.advance(MARKET_CACHE_MS);
  await world.reads.list();
  await world.store.putListing(listingOf(MARKET, { version: 3 }));
  world.clock.advance(MARKET_CACHE_MS);
  await read(world);
  const stored = `stored ${MARKET} 1m`;
  expect(world.asked.filter((each) => each === stored)).toEqual([stored, stored]);
});

test('a store that cannot be read is no empty market', async () => {
  const world = await createWorld();
  const asked = () => world.reads.candles(MARKET, { interval: '1m', limit: 5 });
  await asked();
  world.store.readCandles = () => Promise.reject(new Error('away'));
  world.clock.advance(MARKET_CACHE_MS);
  expect(await asked()).toMatchObject({ code: 'service_unavailable' });
});
