import { describe, expect, test } from 'vitest';
import { DAY_MS, SECOND_MS } from '#core/clock.ts';
import { MARKET_CACHE_MS } from '#core/limits.ts';
import type { BookView } from '#core/market/book-view.ts';
import { MARKET_READ_MS } from '../../api/market/cached.ts';
import { LISTINGS_KEPT_MS } from '../../api/market/listings.ts';
import type { MarketAnswer } from '../../api/market/market-reads.ts';
import {
  bookOf,
  createReadsWorld,
  levels,
  listingOf,
  liveOf,
  MARKET,
  NOW_MS,
  nano,
  type ReadsWorld,
  rowOf,
  storeRows,
} from './market-world.ts';

const LATER = 'credit-2026-11-26';
const ENDS_MS = Date.UTC(2026, 10, 25);

async function open(world: ReadsWorld, fields: Parameters<typeof listingOf>[1] = {}): Promise<ReadsWorld> {
  await world.store.putListing(listingOf(MARKET, fields));
  await world.live.publishBook(MARKET, bookOf());
  return world;
}

function bodyOf(answer: MarketAnswer) {
  return 'refused' in answer ? { code: answer.code } : JSON.parse(answer.body.toString());
}
const readBook = async ({ reads }: ReadsWorld, depth = 20, market = MARKET) =>
  bodyOf(await reads.book(market, { depth }));
const readList = async ({ reads }: ReadsWorld) => bodyOf(await reads.list());

describe('an order book', () => {
  test('has the best levels of each side, and says when it was read', async () => {
    const world = await open(createReadsWorld());
    expect(await readBook(world, 2)).toEqual({
      market: MARKET,
      seq: 7,
      time: NOW_MS,
      bids: levels('0.85', '0.84'),
      asks: levels('0.86', '0.87'),
      freshPrice: null,
    });
    expect((await readBook(world, 1)).asks).toEqual(levels('0.86'));
  });

  test('is the same for a second, whoever asks and for whatever depth, and is then read anew', async () => {
    const world = await open(createReadsWorld());
    const first = await world.reads.book(MARKET, { depth: 5 });
    await world.live.publishBook(MARKET, bookOf({ seq: 8, bids: [] }));
    world.clock.advance(MARKET_CACHE_MS - 1);
    expect(await world.reads.book(MARKET, { depth: 5 })).toBe(first);
    expect((await readBook(world, 20)).seq).toBe(7);
    expect(world.asked).toEqual(['listings', `book ${MARKET}`]);
    world.clock.advance(1);
    expect(await readBook(world, 5)).toMatchObject({ seq: 8, time: NOW_MS + MARKET_CACHE_MS, bids: [] });
  });

  test('is read once for all who ask while it is being read', async () => {
    const world = await open(createReadsWorld());
    const all = await Promise.all(Array.from({ length: 100 }, () => readBook(world)));
    expect(new Set(all.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(world.asked).toEqual(['listings', `book ${MARKET}`]);
  });

  test('that has stopped is shown to nobody, from the next second on, and again after it goes on', async () => {
    const world = await open(createReadsWorld());
    expect(await readBook(world)).toMatchObject({ seq: 7 });
    await world.live.publishBook(MARKET, null);
    world.clock.advance(MARKET_CACHE_MS);
    expect(await readBook(world)).toEqual({ code: 'service_unavailable' });
    await world.live.publishBook(MARKET, bookOf({ seq: 9 }));
    world.clock.advance(MARKET_CACHE_MS);
    expect(await readBook(world)).toMatchObject({ seq: 9 });
  });

  test('that cannot be read is asked for once in a second, not by everybody', async () => {
    const world = await open(createReadsWorld());
    world.live.readBook = async () => 'unavailable';
    for (let i = 0; i < 10; i++) expect(await readBook(world)).toEqual({ code: 'service_unavailable' });
    expect(world.asked).toEqual(['listings', `book ${MARKET}`]);
    world.clock.advance(MARKET_CACHE_MS);
    await readBook(world);
    expect(world.asked).toHaveLength(4);
  });

  test('that does not come is not waited for, and is there as soon as it came', async () => {
    const world = await open(createReadsWorld());
    const late = Promise.withResolvers<BookView>();
    world.live.readBook = () => late.promise;
    const waiting = readBook(world);
    while (world.asked.length < 2) await Promise.resolve();
    world.clock.advance(MARKET_READ_MS);
    expect(await waiting).toEqual({ code: 'service_unavailable' });
    const next = readBook(world);
    // Until it waits for the same one.
    for (let turn = 0; turn < 50; turn++) await Promise.resolve();
    late.resolve(bookOf({ seq: 11 }));
    expect(await next).toMatchObject({ seq: 11 });
    expect(world.asked.filter((each) => each.startsWith('book'))).toHaveLength(1);
    expect(world.clock.pendingTimers()).toBe(0);
  });
});

describe('freshPrice', () => {
  const cases: [string, { offer: string | null; bids: string[]; fresh: string | null }][] = [
    ['is what the operator asks', { offer: '0.95', bids: ['0.85'], fresh: '0.95' }],
    ['is exact to the ninth decimal', { offer: '0.950000001', bids: [], fresh: '0.950000001' }],
    ['is not below the best bid', { offer: '0.8', bids: ['0.85', '0.82'], fresh: '0.85' }],
    ['is not above 1', { offer: '1.000000001', bids: [], fresh: '1' }],
    ['is not above 1 where somebody bids more', { offer: '0.9', bids: ['1.2'], fresh: '1' }],
    ['is the offer where nobody bids', { offer: '0.5', bids: [], fresh: '0.5' }],
    ['is null where nothing is offered', { offer: null, bids: ['0.85'], fresh: null }],
  ];
  test.each(cases)('%s', async (_, { offer, bids, fresh }) => {
    const world = await open(createReadsWorld(), { freshPrice: offer === null ? null : nano(offer) });
    await world.live.publishBook(MARKET, bookOf({ seq: 8, bids: levels(...bids) }));
    expect((await readBook(world)).freshPrice).toBe(fresh);
  });

  test('is of the newest market alone, and goes over to a newer one when that opens', async () => {
    const world = await open(createReadsWorld(), { freshPrice: nano('0.9') });
    await world.store.putListing(
      listingOf(LATER, { opensAt: NOW_MS + 5 * SECOND_MS, freshPrice: nano('0.97') }),
    );
    await world.live.publishBook(LATER, bookOf());
    expect((await readBook(world)).freshPrice).toBe('0.9');
    expect(await readBook(world, 20, LATER)).toEqual({ code: 'unknown_market' });
    world.clock.advance(5 * SECOND_MS);
    expect((await readBook(world)).freshPrice).toBe(null);
    expect((await readBook(world, 20, LATER)).freshPrice).toBe('0.97');
  });
});

describe('a market', () => {
  test('is open from its first millisecond to the last one before 00:00 UTC of its date', async () => {
    const world = await open(createReadsWorld(), { opensAt: NOW_MS + 1 });
    expect(await readBook(world)).toEqual({ code: 'unknown_market' });
    world.clock.advance(1);
    expect(await readBook(world)).toMatchObject({ market: MARKET });
    world.clock.advance(ENDS_MS - world.clock.now() - 1);
    await world.live.publishBook(MARKET, bookOf({ seq: 8 }));
    expect(await readBook(world)).toMatchObject({ seq: 8 });
    world.clock.advance(1);
    // At once: what was read a millisecond ago is shown no more.
    expect(await readBook(world)).toEqual({ code: 'unknown_market' });
    expect(await world.reads.candles(MARKET, { interval: '1h', limit: 5 })).toMatchObject({
      code: 'unknown_market',
    });
    expect(await readList(world)).toEqual({ object: 'list', markets: [] });
  });

  test('that is listed now is there within a second', async () => {
    const world = createReadsWorld();
    expect(await readBook(world)).toEqual({ code: 'not_found' });
    await open(world);
    expect(await readBook(world)).toEqual({ code: 'not_found' });
    world.clock.advance(MARKET_CACHE_MS);
    expect(await readBook(world)).toMatchObject({ seq: 7 });
  });

  test('stays readable for a minute while the store is away, and no longer', async () => {
    const world = await open(createReadsWorld());
    expect(await readBook(world)).toMatchObject({ seq: 7 });
    world.store.beforeRead = () => Promise.reject(new Error('away'));
    for (let passed = 0; passed < LISTINGS_KEPT_MS; passed += 5 * SECOND_MS) {
      world.clock.advance(5 * SECOND_MS);
      await world.live.publishBook(MARKET, bookOf());
      expect(await readBook(world)).toMatchObject({ seq: 7 });
    }
    world.clock.advance(5 * SECOND_MS);
    await world.live.publishBook(MARKET, bookOf());
    expect(await readBook(world)).toEqual({ code: 'service_unavailable' });
    expect(world.logged).toEqual(['market data cannot be read, it is tried again']);
    world.store.beforeRead = () => {};
    world.clock.advance(MARKET_CACHE_MS);
    expect(await readBook(world)).toMatchObject({ seq: 7 });
  });
});

describe('the list of markets', () => {
  test('has those that are open with what was traded, the first to end first', async () => {
    const world = await open(createReadsWorld());
    await world.store.putListing(listingOf(LATER, { priceTick: nano('0.0001') }));
    await world.store.putListing(listingOf('credit-2026-11-18'));
    await world.live.publishCandles(MARKET, liveOf());
    expect(await readList(world)).toEqual({
      object: 'list',
      markets: [
        {
          id: MARKET,
          base: 'credit',
          quote: 'USDT',
          opens_at: '2026-11-17T10:20:30.500Z',
          ends_at: '2026-11-25T00:00:00.000Z',
          newest: false,
          last_price: '0.85',
          best_bid: '0.85',
          best_ask: '0.86',
          volume_24h: '120.5',
          price_tick: '0.001',
          size_step: '0.01',
        },
        {
          id: LATER,
          base: 'credit',
          quote: 'USDT',
          opens_at: '2026-11-17T10:20:30.500Z',
          ends_at: '2026-11-26T00:00:00.000Z',
          newest: true,
          last_price: null,
          best_bid: null,
          best_ask: null,
          volume_24h: '0',
          price_tick: '0.0001',
          size_step: '0.01',
        },
      ],
    });
  });

  test('knows the last price and the day’s volume from the store where nobody folds the market now', async () => {
    const world = await open(createReadsWorld());
    await storeRows(world.store, MARKET, [
      rowOf('1d', 0, { price: '0.7' }),
      rowOf('1m', 1_440, { price: '0.1' }),
      rowOf('1m', 600, { price: '0.6' }),
      rowOf('1m', 3, { price: '0.7' }),
    ]);
    world.live.readCandles = async () => 'unavailable';
    const { markets } = await readList(world);
    expect(markets).toMatchObject([{ last_price: '0.7', volume_24h: '4' }]);
  });

  test('knows the last price of a market in which nothing was traded for days', async () => {
    const world = await open(createReadsWorld());
    await storeRows(world.store, MARKET, [
      rowOf('1d', 3, { price: '0.6' }),
      rowOf('1m', 3 * 1_440, { price: '0.6' }),
    ]);
    const { markets } = await readList(world);
    expect(markets).toMatchObject([{ last_price: '0.6', volume_24h: '0' }]);
  });

  test('is read once in a second', async () => {
    const world = await open(createReadsWorld());
    await Promise.all([readList(world), readList(world)]);
    await readList(world);
    expect(world.asked.filter((each) => each === 'listings' || each.startsWith('book'))).toEqual([
      'listings',
      `book ${MARKET}`,
    ]);
    world.clock.advance(DAY_MS / 100);
    await readList(world);
    expect(world.asked.filter((each) => each.startsWith('book'))).toHaveLength(2);
  });
});
