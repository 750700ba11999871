import { DAY_MS } from '../clock.ts';
import { parseMarketId } from '../events/market-id.ts';
import type { MarketTrade } from '../events/market-trade.ts';
import { LOT_DAYS_MAX } from '../limits.ts';
import { type Candle, type CandleInterval, type CandleRow, intervalStartMs, intervals } from './candle.ts';
import { foldCandle, holdsTrade } from './fold-candle.ts';
import type { MarketStore, TradeCursor } from './market-store.ts';
import { SeenTrades } from './seen-trades.ts';

export interface Rebuilt {
  trades: number;
  candles: number;
  /** Candles that are not as their trades make them, are missing, or should not be there. */
  differing: number;
}

/** Folds the stored trades of a market anew, and compares. `null`: nothing of this market is stored. */
export async function checkMarket(store: MarketStore, market: string): Promise<Rebuilt | null> {
  const cursor = await store.readCursor(market);
  return cursor === null ? null : (await fold(store, market, new SeenTrades(cursor))).rebuilt;
}

/** The same, and puts what it has folded into the place of what is there. */
export async function rebuildMarket(store: MarketStore, market: string): Promise<Rebuilt | null> {
  const cursor = await store.readCursor(market);
  return cursor === null ? null : (await foldAnew(store, market, cursor)).rebuilt;
}

/**
 * Makes all candles of a market anew, while other processes may go on folding it. Nothing is lost, for three reasons:
 * - The cursor goes first, with a generation of its own: whoever finds it without its candles, after a crash at any moment
 *   from then on, does all this again.
 * - Who goes on in an older generation looks at the cursor after each write, before the write counts as done. So what
 *   counts is stored before the trades are read here.
 * - Only one writer begins a generation, and the others go on from what it made. So of two rows of a generation one holds
 *   all that is in the other.
 */
export async function foldAnew(
  store: MarketStore,
  market: string,
  cursor: TradeCursor,
): Promise<{ rebuilt: Rebuilt; seen: SeenTrades }> {
  const begun = { ...cursor, generation: cursor.generation + 1, candlesMissing: true };
  await store.writeTrades({ market, trades: [], candles: [], cursor: begun });
  const seen = new SeenTrades(begun);
  const { rebuilt, candles } = await fold(store, market, seen);
  await store.writeTrades({ market, trades: [], candles, cursor: seen.toCursor() });
  return { rebuilt, seen };
}

/** Takes every stored trade into `seen`. */
async function fold(
  store: MarketStore,
  market: string,
  seen: SeenTrades,
): Promise<{ rebuilt: Rebuilt; candles: CandleRow[] }> {
  // Before the trades: whatever a row holds has been stored by then.
  const live = await readAll(store, market);
  const folded = new Map<number, CandleRow>();
  const later = new Map<number, MarketTrade>();
  const known = new Set<number>();
  for await (const trade of store.readTrades(market)) {
    if (known.has(trade.seq)) continue;
    known.add(trade.seq);
    if (seen.has(trade.seq)) foldIntoAll(folded, trade, seen);
    else later.set(trade.seq, trade);
  }
  const { differing, surplus } = compare(live, folded, [...later.values()], seen);
  for (const trade of [...later.values()].sort((a, b) => a.seq - b.seq)) {
    if (seen.take(trade.seq) === 'new') foldIntoAll(folded, trade, seen);
  }
  const emptied = surplus.map((row) => ({ ...row, trades: 0, generation: seen.generation }));
  return {
    rebuilt: { trades: known.size, candles: folded.size, differing },
    candles: [...folded.values(), ...emptied],
  };
}

/** Live rows may hold trades that are not in the cursor yet, or came meanwhile. */
function compare(
  live: ReadonlyMap<number, CandleRow>,
  folded: ReadonlyMap<number, CandleRow>,
  later: readonly MarketTrade[],
  seen: SeenTrades,
): { differing: number; surplus: CandleRow[] } {
  const expected = new Map(folded);
  for (const trade of later) {
    foldIntoAll(expected, trade, seen, (place) => {
      const row = live.get(place);
      return row !== undefined && holdsTrade(row, trade.seq);
    });
  }
  const surplus = [...live].filter(([place]) => !expected.has(place)).map(([, row]) => row);
  const wrong = [...expected].filter(([place, row]) => {
    const other = live.get(place);
    return other === undefined || !isSameCandle(row, other);
  });
  return { differing: wrong.length + surplus.length, surplus };
}

/** Of a row, among those of all intervals. */
const placeOf = (interval: CandleInterval, timeMs: number): number =>
  timeMs * intervals.length + intervals.indexOf(interval);

async function readAll(store: MarketStore, market: string): Promise<Map<number, CandleRow>> {
  const endsAtMs = parseMarketId(market)?.endsAtMs ?? 0;
  const live = new Map<number, CandleRow>();
  for (const interval of intervals) {
    const rows = await store.readCandles(market, interval, endsAtMs - LOT_DAYS_MAX * DAY_MS, endsAtMs);
    for (const row of rows) live.set(placeOf(interval, row.timeMs), row);
  }
  return live;
}

function foldIntoAll(
  rows: Map<number, CandleRow>,
  trade: MarketTrade,
  seen: SeenTrades,
  belongs: (place: number) => boolean = () => true,
): void {
  for (const interval of intervals) {
    const place = placeOf(interval, intervalStartMs(interval, trade.at));
    if (belongs(place)) rows.set(place, foldCandle(rows.get(place) ?? null, interval, trade, seen));
  }
}

const isSameCandle = (a: Candle, b: Candle): boolean =>
  a.openNano === b.openNano &&
  a.highNano === b.highNano &&
  a.lowNano === b.lowNano &&
  a.closeNano === b.closeNano &&
  a.volumeNano === b.volumeNano &&
  a.quoteVolumeAtto === b.quoteVolumeAtto &&
  a.trades === b.trades;
