import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DAY_MS, HOUR_MS, isoTime, startOfDayMs } from '#core/clock.ts';
import { marketListing } from '#core/events/market-listing.ts';
import { foldCandle } from '#core/market/fold-candle.ts';
import { emptyCursor } from '#core/market/trade-cursor.ts';
import { startTestAdmin, type TestAdmin } from './admin-harness.ts';

let admin: TestAdmin;
beforeEach(async () => {
  admin = await startTestAdmin();
});
afterEach(() => admin.stop());

const idOf = (days: number): string =>
  `credit-${isoTime(startOfDayMs(admin.clock.now()) + days * DAY_MS).slice(0, 10)}`;

/** A market that ends so many days from today, and has traded when it says so. */
async function list(days: number, trades: readonly { agoMs: number; price: bigint; size: bigint }[] = []) {
  const market = idOf(days);
  const nowMs = admin.clock.now();
  const { store } = admin.markets;
  await store.putListing(
    marketListing.parse({
      ...{ v: 1, type: 'market_listed', market, version: 1, opensAt: isoTime(nowMs - 2 * DAY_MS) },
      ...{ priceTick: '0.0001', sizeStep: '0.01', freshPrice: days === 8 ? '0.99' : null },
    }),
  );
  const candles = trades.flatMap(({ agoMs, price, size }, index) => {
    const seq = index + 1;
    const place = { throughSeq: seq, generation: 1 };
    return (['1m', '1d'] as const).map((interval) =>
      foldCandle(null, interval, { seq, at: nowMs - agoMs, price, size }, place),
    );
  });
  await store.writeTrades({
    ...{ market, trades: [], candles },
    cursor: {
      ...emptyCursor,
      throughSeq: trades.length,
      aheadSeqs: trades.length > 0 ? [trades.length + 2] : [],
    },
  });
  return market;
}

describe('the operator’s list of markets', () => {
  it('is empty where none was ever listed', async () => {
    expect(await admin.get('/markets')).toMatchObject({ status: 200, body: { markets: [] } });
  });

  it('says how their records come', async () => {
    expect((await admin.get('/markets')).body.fed_by).toBe('kafka');
    await using alone = await startTestAdmin({
      feeds: () => ({ feed: async () => [], wantedSnapshots: async () => [] }),
    });
    expect((await alone.get('/markets')).body.fed_by).toBe('requests');
  });

  it('is none where markets are switched off, whatever was listed before', async () => {
    await using off = await startTestAdmin({ feeds: () => 'off' });
    const { status, body } = await off.get('/markets');
    expect([status, body.error.code]).toEqual([404, 'not_found']);
    expect(body.error.message).toContain('`market: off`');
  });

  it('has open and closed ones, the one that ends last first, with prices, volume and how far they have come', async () => {
    const closed = await list(0, [{ agoMs: 30 * HOUR_MS, price: 800_000_000n, size: 5_000_000_000n }]);
    const open = await list(7);
    const newest = await list(8, [
      { agoMs: 25 * HOUR_MS, price: 940_000_000n, size: 7_000_000_000n },
      { agoMs: HOUR_MS, price: 955_000_000n, size: 1_500_000_000n },
    ]);
    await admin.markets.live.publishBook(newest, {
      seq: 42,
      atMs: admin.clock.now() - 61_900,
      bids: [{ price: '0.9549', size: '3', orders: 1 }],
      asks: [],
    });
    const { status, body } = await admin.get('/markets');
    expect(status).toBe(200);
    expect(body.markets.map(({ id }: { id: string }) => id)).toEqual([newest, open, closed]);
    expect(body.markets[0]).toEqual({
      id: newest,
      opens_at: isoTime(admin.clock.now() - 2 * DAY_MS),
      ends_at: `${newest.slice(-10)}T00:00:00.000Z`,
      open: true,
      newest: true,
      last_price: '0.955',
      best_bid: '0.9549',
      best_ask: null,
      fresh_price: '0.99',
      volume_24h: '1.5',
      book_seq: 42,
      book_age_seconds: 61,
      trade_seq: 4,
      price_tick: '0.0001',
      size_step: '0.01',
    });
    expect(body.markets[1]).toMatchObject({
      open: true,
      newest: false,
      last_price: null,
      book_seq: null,
      book_age_seconds: null,
      trade_seq: 0,
    });
    expect(body.markets[2]).toMatchObject({ open: false, newest: false, last_price: '0.8', volume_24h: '0' });
  });

  it('shows a book that has stopped as none', async () => {
    const market = await list(8);
    await admin.markets.live.publishBook(market, {
      seq: 42,
      atMs: admin.clock.now() + 5_000,
      bids: [],
      asks: [],
    });
    expect((await admin.get('/markets')).body.markets[0].book_age_seconds).toBe(0);
    await admin.markets.live.publishBook(market, null);
    expect((await admin.get('/markets')).body.markets[0].book_seq).toBe(null);
  });

  it('says when the store of markets does not answer', async () => {
    admin.markets.store.beforeRead = () => {
      throw new Error('away');
    };
    const { status, body } = await admin.get('/markets');
    expect([status, body.error.code]).toEqual([503, 'service_unavailable']);
  });

  it('takes no parameters', async () => {
    expect((await admin.get('/markets?limit=1')).status).toBe(400);
  });
});
