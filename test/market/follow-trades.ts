import { deepStrictEqual } from 'node:assert';
import { join } from 'node:path';
import type { MarketTrade } from '#core/events/market-trade.ts';
import { intervals } from '#core/market/candle.ts';
import { checkMarket } from '#core/market/rebuild-market.ts';
import { MARKETS_FILE, openSqliteMarketStore } from '#core/market/sqlite-market-store.ts';
import { createDraw } from '../ledger/history/random.ts';
import { testDataDir } from '../support/data-dir.ts';
import { batchOf, candleWorld } from './candle-world.ts';
import { allCandlesOf, allFolded, ENDS_MS, MARKET, seededTrades } from './market-trades.ts';
import { queryCandles } from './sqlite-candle-query.ts';

const BATCH = 2_000;

/**
 * So many trades, out of order, repeated, read by one process after the other: their candles are those of a fold of ours and
 * of SQL. Rejects where they are not.
 */
export async function followTrades(count: number, seed: number): Promise<object> {
  const draw = createDraw(seed);
  const trades = seededTrades(count, draw);
  await using folder = await testDataDir();
  const store = openSqliteMarketStore(join(folder.path, MARKETS_FILE));
  const { startKeeper } = candleWorld({ nowMs: ENDS_MS });
  const log = outOfOrder(trades, draw);
  let keeper = startKeeper(store);
  for (let at = 0; at < log.length; ) {
    const batch = batchOf(log.slice(at, at + BATCH), BigInt(at));
    const { resumeOffset } = await keeper.handle(batch);
    at = Number(resumeOffset);
    if (draw(20) > 0) continue;
    // Another takes over, and begins some records before the end of what was read.
    await keeper.stop();
    keeper = startKeeper(store);
    at = Math.max(0, at - draw(3 * BATCH));
  }
  await keeper.stop();
  const candles = await allCandlesOf(store);
  deepStrictEqual(candles, allFolded(trades));
  deepStrictEqual(candles, queryCandles(trades, intervals));
  const checked = await checkMarket(store, MARKET);
  deepStrictEqual([checked?.trades, checked?.differing], [count, 0]);
  await store.close();
  return { trades: count, seed };
}

/** Every third stretch of 60 trades backwards, and every fiftieth trade twice. */
function outOfOrder(trades: readonly MarketTrade[], draw: (below: number) => number): MarketTrade[] {
  const log: MarketTrade[] = [];
  for (let i = 0; i < trades.length; i += 60) {
    const stretch = trades.slice(i, i + 60);
    log.push(...(draw(3) === 0 ? stretch.reverse() : stretch));
    const repeated = trades[draw(Math.min(i + 60, trades.length))];
    if (repeated !== undefined) log.push(repeated);
  }
  return log;
}
