import { randomBytes } from 'node:crypto';
import { type Clock, DAY_MS } from '#core/clock.ts';
import type { MarketTrade } from '#core/events/market-trade.ts';
import { limitTasks } from '#core/limit-tasks.ts';
import { LIVE_CANDLES } from '#core/limits.ts';
import {
  type CandleInterval,
  type CandleRow,
  candleIntervals,
  intervalStartMs,
  intervals,
  ofEachInterval,
} from '#core/market/candle.ts';
import { type FoldPlace, foldCandle, holdsTrade } from '#core/market/fold-candle.ts';
import type { LiveCandles } from '#core/market/live-markets.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import { foldAnew } from '#core/market/rebuild-market.ts';
import { SeenTrades } from '#core/market/seen-trades.ts';
import { cursorRank, emptyCursor } from '#core/market/trade-cursor.ts';
import { IntervalRows } from './interval-rows.ts';

/** Candles of a market that are read at one time for late trades. */
const CANDLES_LOADED_AT_ONCE = 16;

export interface FoldedMarket {
  market: string;
  endsAtMs: number;
  store: MarketStore;
  clock: Clock;
}

/** `taken_number`: it is not the trade that had this number before. */
export type TradeTaken = 'new' | 'repeated' | 'too_late' | 'taken_number';

/** The candles of one market in memory, by one process. Where anything here throws, nothing of it counts any more. */
export class MarketFold {
  readonly #of: FoldedMarket;
  readonly #rows: Readonly<Record<CandleInterval, IntervalRows>>;
  readonly #seen: SeenTrades;
  /** Dollars that were traded in each minute of the last day. */
  readonly #minutes: Map<number, bigint>;
  #lastSeq: number;
  #lastPriceNano: bigint | null;
  readonly #begun = randomBytes(6).toString('base64url');
  #olderChanges = 0;

  private constructor(of: FoldedMarket, seen: SeenTrades, found: Record<CandleInterval, FoundRows>) {
    this.#of = of;
    this.#seen = seen;
    this.#rows = ofEachInterval((interval) => new IntervalRows(found[interval].fromMs, found[interval].rows));
    this.#minutes = new Map(found['1m'].rows.map(({ timeMs, volumeNano }) => [timeMs, volumeNano]));
    // The days are all there.
    const last = found['1d'].rows.reduce<CandleRow | null>(
      (latest, row) => (latest === null || row.lastSeq > latest.lastSeq ? row : latest),
      null,
    );
    this.#lastSeq = last?.lastSeq ?? 0;
    this.#lastPriceNano = last?.closeNano ?? null;
  }

  /** What a process that takes over has to know. */
  static async load(of: FoldedMarket): Promise<MarketFold> {
    const { store, market } = of;
    const cursor = (await store.readCursor(market)) ?? emptyCursor;
    if (!cursor.candlesMissing) return MarketFold.#read(of, new SeenTrades(cursor));
    const { seen } = await foldAnew(store, market, cursor);
    return MarketFold.#read(of, seen);
  }

  /** A rebuild of the market has begun: nothing that is known here counts any more. */
  async isReplaced(): Promise<boolean> {
    const cursor = await this.#of.store.readCursor(this.#of.market);
    return (cursor?.generation ?? 0) > this.#seen.generation;
  }

  static async #read(of: FoldedMarket, seen: SeenTrades): Promise<MarketFold> {
    const nowMs = of.clock.now();
    const read = async (interval: CandleInterval): Promise<FoundRows> => {
      const spanMs = interval === '1m' ? DAY_MS : LIVE_CANDLES * candleIntervals[interval];
      const fromMs = intervalStartMs(interval, nowMs - spanMs);
      const rows = await of.store.readCandles(of.market, interval, fromMs, of.endsAtMs);
      return { fromMs, rows };
    };
    const [m1, m5, m15, h1, h4, d1] = await Promise.all([
      ...([read('1m'), read('5m'), read('15m')] as const),
      ...([read('1h'), read('4h'), read('1d')] as const),
    ]);
    return new MarketFold(of, seen, { '1m': m1, '5m': m5, '15m': m15, '1h': h1, '4h': h4, '1d': d1 });
  }

  /** Resolves once all of it is stored. `null`: a rebuild has begun, and they have to be taken again behind it. */
  async take(trades: readonly MarketTrade[]): Promise<TradeTaken[] | null> {
    const fresh: FreshTrade[] = [];
    const { generation } = this.#seen;
    const taken = trades.map((trade) => {
      const how = this.#seen.take(trade.seq);
      if (how === 'new') fresh.push({ trade, place: { throughSeq: this.#seen.throughSeq, generation } });
      return how;
    });
    if (fresh.length > 0 && !(await this.#store(fresh))) return null;
    return taken.map((how, i) => {
      const trade = trades[i];
      return how === 'repeated' && trade !== undefined && this.#isOther(trade) ? 'taken_number' : how;
    });
  }

  /** False: a rebuild has begun. */
  async #store(fresh: readonly FreshTrade[]): Promise<boolean> {
    const trades = fresh.map(({ trade }) => trade);
    await this.#recall(trades);
    const candles = intervals.flatMap((interval) => this.#fold(interval, fresh));
    for (const trade of trades) this.#noteLast(trade);
    const { store, market } = this.#of;
    await store.writeTrades({ market, trades, candles, cursor: this.#seen.toCursor() });
    this.#tidy(candles);
    // Not earlier, see `foldAnew`.
    return !(await this.isReplaced());
  }

  /** Answers the rows that have changed. */
  #fold(interval: CandleInterval, fresh: readonly FreshTrade[]): CandleRow[] {
    const rows = this.#rows[interval];
    const changed = new Map<number, CandleRow>();
    for (const { trade, place } of fresh) {
      const row = rows.get(intervalStartMs(interval, trade.at));
      // Of a process that was killed before it could write its cursor.
      if (row !== null && holdsTrade(row, trade.seq)) continue;
      const next = foldCandle(row, interval, trade, place);
      if (!rows.put(next)) this.#olderChanges++;
      changed.set(next.timeMs, next);
    }
    return [...changed.values()];
  }

  /** For readers. */
  live(): LiveCandles {
    const fromMs = this.#of.clock.now() - DAY_MS;
    let volume24hNano = 0n;
    for (const [minuteMs, volumeNano] of this.#minutes) {
      if (minuteMs > fromMs) volume24hNano += volumeNano;
    }
    return {
      ...{ generation: this.#seen.generation, rank: cursorRank(this.#seen.toCursor()) },
      newest: ofEachInterval((interval) => this.#rows[interval].newest()),
      olderVersion: `${this.#begun}.${this.#olderChanges}`,
      lastPriceNano: this.#lastPriceNano,
      volume24hNano,
    };
  }

  /** Reads the rows of late trades that are not in memory. */
  async #recall(trades: readonly MarketTrade[]): Promise<void> {
    const { store, market } = this.#of;
    const missing = intervals.flatMap((interval) => {
      const times = new Set(trades.map(({ at }) => intervalStartMs(interval, at)));
      return [...times]
        .filter((timeMs) => !this.#rows[interval].knows(timeMs))
        .map((timeMs) => ({ interval, timeMs }));
    });
    const inTurn = limitTasks(CANDLES_LOADED_AT_ONCE);
    await Promise.all(
      missing.map(async ({ interval, timeMs }) => {
        const [row] = await inTurn(() => store.readCandles(market, interval, timeMs, timeMs + 1));
        this.#rows[interval].remember(timeMs, row ?? null);
      }),
    );
  }

  /** An exchange that numbers its trades anew is not to go unnoticed: what has been counted is in its minute. */
  #isOther({ seq, at }: MarketTrade): boolean {
    return this.#rows['1m'].lacks(intervalStartMs('1m', at), seq);
  }

  #noteLast({ seq, price }: MarketTrade): void {
    if (seq < this.#lastSeq) return;
    this.#lastSeq = seq;
    this.#lastPriceNano = price;
  }

  #tidy(candles: readonly CandleRow[]): void {
    const oldestMs = this.#of.clock.now() - DAY_MS;
    for (const { interval, timeMs, volumeNano } of candles) {
      if (interval === '1m' && timeMs > oldestMs) this.#minutes.set(timeMs, volumeNano);
    }
    for (const minuteMs of this.#minutes.keys()) {
      if (minuteMs <= oldestMs) this.#minutes.delete(minuteMs);
    }
    for (const interval of intervals) {
      if (this.#rows[interval].trim()) this.#olderChanges++;
    }
  }
}

interface FreshTrade {
  trade: MarketTrade;
  place: FoldPlace;
}

interface FoundRows {
  /** All rows from then on. */
  fromMs: number;
  rows: CandleRow[];
}
