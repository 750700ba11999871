import type { MarketTrade } from '../events/market-trade.ts';
import { LOT_DAYS_MAX } from '../limits.ts';
import { DAY_MS } from '../clock.ts';
import { type Candle, type CandleInterval, type CandleRow, candleIntervals, intervalStartMs } from './candle.ts';
import { foldCandle, holdsTrade } from './fold-candle.ts';
import { parseMarketId } from './market-id.ts';
import type { MarketStore } from './market-store.ts';
import { SeenTrades } from './seen-trades.ts';

export interface Rebuilt {
  trades: number;
  candles: number;
  /** Candles that are not as their trades make them, are missing, or should not be there. */
  differing: number;
}

export interface Rebuild extends Rebuilt {
  /** Puts what was folded into the place of what is there. */
  write(): Promise<void>;
}

/**
 * Folds the stored trades of a market anew and compares with its candles. `null`: nothing of this market is stored.
 *
 * A process that goes on folding the market meanwhile loses nothing: it sees the cursor's new generation, and folds anew
 * itself. The cursor goes first: whoever finds it without its candles, after a crash at any moment from then on, does so.
 */
export async function rebuildMarket(store: MarketStore, market: string): Promise<Rebuild | null> {
  const cursor = await store.readCursor(market);
  if (cursor === null) return null;
  const seen = new SeenTrades(cursor, cursor.generation + 1);
  const { rows, ...rebuilt } = await foldAnew(store, market, seen);
  return {
    ...rebuilt,
    async write() {
      const begun = { ...cursor, generation: seen.generation, candlesMissing: true };
      await store.writeTrades({ market, trades: [], candles: [], cursor: begun });
      await store.writeTrades({ market, trades: [], candles: rows, cursor: seen.toCursor() });
    },
  };
}

/** All candles of a market, made of the stored ones of the trades that were seen. */
export async function foldAnew(
  store: MarketStore,
  market: string,
  seen: SeenTrades,
): Promise<Rebuilt & { rows: CandleRow[] }> {
  // Before the trades: whatever a row holds has been stored by then.
  const live = await readAll(store, market);
  const folded = new Map<string, CandleRow>();
  const later: MarketTrade[] = [];
  const known = new Set<number>();
  for await (const trade of store.readTrades(market)) {
    if (known.has(trade.seq)) continue;
    known.add(trade.seq);
    if (seen.has(trade.seq)) foldIntoAll(folded, trade, seen);
    else later.push(trade);
  }
  const expected = new Map(folded);
  // Live rows may hold trades that came meanwhile.
  for (const trade of later) {
    foldIntoAll(expected, trade, seen, (name) => {
      const row = live.get(name);
      return row !== undefined && holdsTrade(row, trade.seq);
    });
  }
  const isRight = (row: CandleRow) => {
    const name = nameOf(row.interval, row.timeMs);
    const [one, other] = [live.get(name), expected.get(name)];
    return one !== undefined && other !== undefined && isSameCandle(one, other);
  };
  const surplus = [...live.values()].filter(({ interval, timeMs }) => !expected.has(nameOf(interval, timeMs)));
  const wrong = [...expected.values()].filter((row) => !isRight(row));
  return {
    trades: known.size - later.length,
    candles: folded.size,
    differing: wrong.length + surplus.length,
    rows: [
      ...folded.values(),
      ...surplus.map((row) => ({ ...row, trades: 0, generation: seen.generation })),
    ],
  };
}

const intervals = Object.keys(candleIntervals) as CandleInterval[];
const nameOf = (interval: CandleInterval, timeMs: number): string => `${interval} ${timeMs}`;

async function readAll(store: MarketStore, market: string): Promise<Map<string, CandleRow>> {
  const endsAtMs = parseMarketId(market)?.endsAtMs ?? 0;
  const live = new Map<string, CandleRow>();
  for (const interval of intervals) {
    const rows = await store.readCandles(market, interval, endsAtMs - LOT_DAYS_MAX * DAY_MS, endsAtMs);
    for (const row of rows) live.set(nameOf(interval, row.timeMs), row);
  }
  return live;
}

function foldIntoAll(
  rows: Map<string, CandleRow>,
  trade: MarketTrade,
  seen: SeenTrades,
  belongs: (name: string) => boolean = () => true,
): void {
  for (const interval of intervals) {
    const name = nameOf(interval, intervalStartMs(interval, trade.at));
    if (belongs(name)) rows.set(name, foldCandle(rows.get(name) ?? null, interval, trade, seen));
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
