import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DAY_MS } from '#core/clock.ts';
import { MARKET_KEPT_MS } from '#core/limits.ts';
import { openSqliteMarketFile } from '#core/market/sqlite-market-file.ts';
import { MARKETS_FILE, openSqliteMarketStore } from '#core/market/sqlite-market-store.ts';
import { emptyCursor } from '#core/market/trade-cursor.ts';
import { createMemoryMarketStore } from '../support/memory-market-store.ts';
import { testMarketStore } from './market-store-contract.ts';
import { ENDS_MS, MARKET, OPENS_MS, tradeOf, tradesOf } from './market-trades.ts';

let folder = '';
let path = '';
let stores: { close(): Promise<void> }[] = [];
const open = () => {
  const store = openSqliteMarketStore(path);
  stores.push(store);
  return store;
};
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'faregate-markets-'));
  path = join(folder, 'data', MARKETS_FILE);
  stores = [];
});
afterEach(async () => {
  for (const store of stores) await store.close();
  rmSync(folder, { recursive: true, force: true });
});

describe('in a file', () => testMarketStore(async () => ({ store: open(), again: open })));

describe('in the memory of a test', () =>
  testMarketStore(async () => {
    const store = createMemoryMarketStore();
    return { store, again: () => store };
  }));

const cursor = { ...emptyCursor, throughSeq: 1 };

test('only its owner can read the file', async () => {
  await open().writeTrades({ market: MARKET, trades: [tradeOf(1)], candles: [], cursor });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'data')).mode & 0o777).toBe(0o700);
});

test('a write that fails leaves nothing behind', async () => {
  const store = open();
  const trades = [tradeOf(1), tradeOf(2, { seq: 1.5 })];
  await expect(store.writeTrades({ market: MARKET, trades, candles: [], cursor })).rejects.toThrow();
  expect(await tradesOf(store, MARKET)).toEqual([]);
  expect(await store.readCursor(MARKET)).toBeNull();
});

test('a file of something else is left as it is', async () => {
  const other = join(folder, 'other.sqlite');
  writeFileSync(other, 'no database at all, but long enough to look at'.repeat(100));
  const store = openSqliteMarketStore(other);
  await expect(store.readListings()).rejects.toThrow();
  await store.close();
  expect(statSync(other).size).toBe(4_600);
});

test('more trades are read than the thread answers at once', async () => {
  const store = open();
  const trades = Array.from({ length: 12_001 }, (_, i) => tradeOf(i + 1, { at: OPENS_MS + i }));
  await store.writeTrades({ market: MARKET, trades, candles: [], cursor });
  const found = await tradesOf(store, MARKET);
  expect(found.map(({ seq }) => seq)).toEqual(trades.map(({ seq }) => seq));
});

test('what ended longer ago than markets are kept goes little by little, and nothing younger', () => {
  const file = openSqliteMarketFile(path);
  const old = Array.from({ length: 1_200 }, (_, i) => tradeOf(i + 1, { at: OPENS_MS + i }));
  file.writeTrades({ market: MARKET, trades: old, candles: [], cursor });
  const write = (atMs: number, seq: number) => {
    const market = `later-${new Date(atMs + 3 * DAY_MS).toISOString().slice(0, 10)}`;
    file.writeTrades({ market, trades: [tradeOf(seq, { market, at: atMs })], candles: [], cursor });
    return market;
  };
  write(ENDS_MS + MARKET_KEPT_MS - 1, 1);
  expect(file.readTrades(MARKET, 0, 2_000)).toHaveLength(1_200);
  const left = [1, 2, 3, 4].map((seq) => {
    write(ENDS_MS + MARKET_KEPT_MS, seq);
    return file.readTrades(MARKET, 0, 2_000).length;
  });
  expect(left).toEqual([700, 200, 0, 0]);
  expect(file.readCursor(MARKET)).toBeNull();
  expect(file.readTrades(write(ENDS_MS + MARKET_KEPT_MS, 5), 0, 10)).not.toHaveLength(0);
  file.close();
});
