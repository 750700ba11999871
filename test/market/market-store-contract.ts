import { expect, test } from 'vitest';
import { MINUTE_MS } from '#core/clock.ts';
import type { MarketListing } from '#core/events/market-listing.ts';
import { CANDLES_MAX } from '#core/limits.ts';
import type { CandleRow } from '#core/market/candle.ts';
import { foldCandle } from '#core/market/fold-candle.ts';
import type { MarketStore, TradeCursor } from '#core/market/market-store.ts';
import { emptyCursor } from '#core/market/trade-cursor.ts';
import { ENDS_MS, OPENS_MS, tradeOf, tradesOf } from './market-trades.ts';

/** What every store of markets promises. `again`: the same, as another process sees it; each test has a market of its own. */
export function testMarketStore(open: () => Promise<{ store: MarketStore; again(): MarketStore }>): void {
  let last = 0;
  const world = async () => ({ ...(await open()), market: `m${++last}-2026-11-25` });

  const rowOf = (seqs: readonly number[], more: Partial<CandleRow> = {}): CandleRow => {
    let row: CandleRow | null = null;
    for (const seq of seqs) row = foldCandle(row, '1m', tradeOf(seq), { throughSeq: seq, generation: 1 });
    if (row === null) throw new Error('no trades');
    return { ...row, ...more };
  };
  const cursorAt = (throughSeq: number, more: Partial<TradeCursor> = {}): TradeCursor => ({
    ...emptyCursor,
    throughSeq,
    ...more,
  });
  const nothing = { trades: [], candles: [] };
  const readAll = (store: MarketStore, market: string) => store.readCandles(market, '1m', OPENS_MS, ENDS_MS);

  test('a market that nobody has traded in has no cursor, candles or trades', async () => {
    const { store, market } = await world();
    expect(await store.readCursor(market)).toBeNull();
    expect(await readAll(store, market)).toEqual([]);
    expect(await tradesOf(store, market)).toEqual([]);
  });

  test('what was written is read as it was, by another process, too', async () => {
    const { store, again, market } = await world();
    const huge = 9_999_999_999_999_999n;
    const trade = tradeOf(3, { market, price: huge, size: huge, tradeId: '"é\n' });
    const volume = { volumeNano: huge * 1_000_000n, quoteVolumeAtto: huge * huge * 1_000_000n };
    const row = rowOf([3], { ...volume, throughSeq: 1, aheadSeqs: [3, 9] });
    const cursor = cursorAt(1, { aheadSeqs: [3, 9], givenUp: [[4, 6]] });
    await store.writeTrades({ market, trades: [trade], candles: [row], cursor });
    for (const each of [store, again()]) {
      expect(await each.readCursor(market)).toEqual(cursor);
      expect(await readAll(each, market)).toEqual([row]);
      expect(await tradesOf(each, market)).toEqual([trade]);
    }
  });

  test('candles come oldest first, from a time on and until before another, of one market and interval', async () => {
    const { store, market } = await world();
    const rows = [5, 1, 4, 2, 3].map((n) => rowOf([n], { timeMs: OPENS_MS + n * MINUTE_MS }));
    await store.writeTrades({ market, trades: [], candles: rows, cursor: cursorAt(5) });
    await store.writeTrades({
      market: `${market.replace('m', 'n')}`,
      trades: [],
      candles: rows,
      cursor: cursorAt(5),
    });
    const found = await store.readCandles(market, '1m', OPENS_MS + 2 * MINUTE_MS, OPENS_MS + 5 * MINUTE_MS);
    expect(found.map(({ timeMs }) => (timeMs - OPENS_MS) / MINUTE_MS)).toEqual([2, 3, 4]);
    expect(await store.readCandles(market, '5m', OPENS_MS, ENDS_MS)).toEqual([]);
  });

  test('more candles than anybody may ask for are read whole', async () => {
    const { store, market } = await world();
    const candles = Array.from({ length: 2 * CANDLES_MAX + 1 }, (_, n) =>
      rowOf([n + 1], { timeMs: OPENS_MS + n * MINUTE_MS }),
    );
    await store.writeTrades({ market, trades: [], candles, cursor: cursorAt(1) });
    expect(await readAll(store, market)).toEqual(candles);
  });

  test('a candle with fewer trades, of a process that was replaced, changes nothing', async () => {
    const { store, again, market } = await world();
    await store.writeTrades({ market, trades: [], candles: [rowOf([1, 2, 3])], cursor: cursorAt(3) });
    await again().writeTrades({ market, trades: [], candles: [rowOf([1, 2])], cursor: cursorAt(2) });
    expect(await readAll(store, market)).toEqual([rowOf([1, 2, 3])]);
    expect(await store.readCursor(market)).toEqual(cursorAt(3));
  });

  test('a rebuilt candle replaces one of an older generation, even with fewer trades, and never the other way round', async () => {
    const { store, market } = await world();
    const rebuilt = rowOf([1, 2], { generation: 2 });
    const cursor = cursorAt(2, { generation: 2 });
    await store.writeTrades({ market, trades: [], candles: [rowOf([1, 2, 3])], cursor: cursorAt(3) });
    await store.writeTrades({ market, trades: [], candles: [rebuilt], cursor });
    await store.writeTrades({ market, trades: [], candles: [rowOf([1, 2, 3, 4])], cursor: cursorAt(4) });
    expect(await readAll(store, market)).toEqual([rebuilt]);
    expect(await store.readCursor(market)).toEqual(cursor);
  });

  test('a cursor counts trades that came ahead, and one that begins a rebuild gives way to the one that ends it', async () => {
    const { store, market } = await world();
    const write = (cursor: TradeCursor) => store.writeTrades({ market, ...nothing, cursor });
    await write(cursorAt(5, { aheadSeqs: [7, 8] }));
    await write(cursorAt(6));
    expect(await store.readCursor(market)).toMatchObject({ throughSeq: 5, aheadSeqs: [7, 8] });
    const begun = cursorAt(8, { generation: 2, candlesMissing: true });
    await write(begun);
    expect(await store.readCursor(market)).toEqual(begun);
    const ended = { ...begun, candlesMissing: false };
    await write(ended);
    await write(begun);
    expect(await store.readCursor(market)).toEqual(ended);
  });

  test('a candle without trades takes the place of one that should not be, and is shown to nobody', async () => {
    const { store, market } = await world();
    await store.writeTrades({ market, trades: [], candles: [rowOf([1])], cursor: cursorAt(1) });
    const emptied = rowOf([1], { trades: 0, generation: 2 });
    await store.writeTrades({
      market,
      trades: [],
      candles: [emptied],
      cursor: cursorAt(1, { generation: 2 }),
    });
    expect(await readAll(store, market)).toEqual([]);
  });

  test('no trade is lost where two processes cut the same trades into different writes', async () => {
    const { store, again, market } = await world();
    const trades = Array.from({ length: 700 }, (_, i) => tradeOf(i + 1, { market }));
    const cursor = cursorAt(700);
    await store.writeTrades({ market, trades, candles: [], cursor });
    for (const [from, to] of [
      [0, 1],
      [1, 40],
      [250, 699],
      [699, 700],
    ]) {
      await again().writeTrades({ market, trades: trades.slice(from, to), candles: [], cursor });
    }
    const bySeq = new Map((await tradesOf(store, market)).map((trade) => [trade.seq, trade]));
    expect([...bySeq.values()].sort((a, b) => a.seq - b.seq)).toEqual(trades);
  });

  test('trades of the first and the last moment of a market are found', async () => {
    const { store, market } = await world();
    const trades = [tradeOf(1, { market, at: OPENS_MS }), tradeOf(2, { market, at: ENDS_MS - 1 })];
    await store.writeTrades({ market, trades, candles: [], cursor: cursorAt(2) });
    expect(await tradesOf(store, market)).toEqual(trades);
  });

  test('of a listing the newest version counts, whichever is written last', async () => {
    const { store, again, market } = await world();
    const listing = (version: number, freshPrice: bigint | null): MarketListing => ({
      ...{ v: 1, type: 'market_listed', market, version, opensAt: OPENS_MS },
      ...{ priceTick: 1_000n, sizeStep: 10_000_000n, freshPrice },
    });
    const ours = async (from: MarketStore) =>
      (await from.readListings()).filter((each) => each.market === market);
    await store.putListing(listing(2, 998_000_000n));
    await store.putListing(listing(1, null));
    expect(await ours(again())).toEqual([listing(2, 998_000_000n)]);
    await again().putListing(listing(3, null));
    expect(await ours(store)).toEqual([listing(3, null)]);
  });
}
