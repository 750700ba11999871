import type { BrowserContext, Route } from 'playwright-core';
import { DAY_MS, isoTime, startOfDayMs } from '#core/clock.ts';
import { BOOK_TOPIC, bookRecord } from '#core/events/book-record.ts';
import { type MarketTrade, marketTrade, TRADES_TOPIC } from '#core/events/market-trade.ts';
import { Book } from '#core/market/book.ts';
import {
  type CandleInterval,
  type CandleRow,
  candleIntervals,
  intervalStartMs,
  intervals,
} from '#core/market/candle.ts';
import { foldCandle } from '#core/market/fold-candle.ts';
import { formatUsd, parseNanoUsd } from '#core/money.ts';
import { shapeBook, shapeCandle } from '../../api/contract/markets.ts';
import { createMarketScript, type ScriptLine } from '../../api/simulator/market/create-market-script.ts';
import {
  type BookLine,
  FRESH_PRICE,
  PRICE_TICK,
  SIZE_STEP,
} from '../../api/simulator/market/simulated-market.ts';

export interface AskedMarket {
  path: string;
  query: URLSearchParams;
  hadKey: boolean;
}

/** Answers of markets that no real gateway gives when a test wants them, put between a console and its gateway. */
export interface FakeMarket {
  ids: string[];
  asked: AskedMarket[];
  nowMs(): number;
  /** Lets the markets trade on. */
  play(ms: number): void;
  /** What is answered instead of what there is, by the last part of the path: `markets`, `book`, `candles`. */
  instead: Map<string, (route: Route) => Promise<void>>;
  bookOf(id: string, depth?: number): ReturnType<typeof shapeBook>;
  candlesOf(id: string, interval: CandleInterval, limit: number): ReturnType<typeof shapeCandle>[];
  /** Of the list of markets. */
  listOf(id: string): object;
}

export async function fakeMarket(
  context: BrowserContext,
  { names, playedMs, startMs }: { names: readonly string[]; playedMs: number; startMs: number },
): Promise<FakeMarket> {
  const ids = names.map(
    (name, index) => `${name}-${isoTime(startOfDayMs(startMs) + (8 - index) * DAY_MS).slice(0, 10)}`,
  );
  const script = createMarketScript({
    ...{ seed: 5, markets: ids, startAtMs: startMs, agents: [2, 3] },
    ...{ changesPerSecond: 4, tradesPerSecond: 0.5 },
  });
  const markets = new Map(ids.map((id) => [id, new FollowedMarket(id)]));
  const of = (id: string): FollowedMarket => {
    const market = markets.get(id);
    if (market === undefined) throw new Error(`there is no market ${id}`);
    return market;
  };
  let nowMs = startMs;
  let next: ScriptLine = script.next().value;
  const fake: FakeMarket = {
    ...{ ids, asked: [], instead: new Map() },
    nowMs: () => nowMs,
    play(ms) {
      nowMs += ms;
      for (; next.atMs <= nowMs; next = script.next().value) of(next.record.market).take(next);
    },
    bookOf: (id, depth = 12) => of(id).book(nowMs, depth, id === ids[0]),
    candlesOf: (id, interval, limit) => of(id).candles(interval, nowMs, limit),
    listOf: (id) => of(id).listed(id === ids[0]),
  };
  fake.play(playedMs);

  await context.route(/\/v1\/dex\/markets(\/|\?|$)/, async (route) => {
    const request = route.request();
    const { pathname, searchParams: query } = new URL(request.url());
    fake.asked.push({ path: pathname, query, hadKey: request.headers().authorization !== undefined });
    const [, id, kind] = /\/dex\/markets\/([^/]+)\/(\w+)$/.exec(pathname) ?? [];
    const instead = fake.instead.get(kind ?? 'markets');
    if (instead !== undefined) return instead(route);
    const json = (body: unknown) => route.fulfill({ json: body, headers: { 'cache-control': 'no-store' } });
    if (id === undefined) {
      return json({
        object: 'list',
        markets: fake.ids.map((each) => of(each).listed(each === fake.ids[0])).reverse(),
      });
    }
    if (!fake.ids.includes(id)) return refuse(404, 'unknown_market', 'No open market has this id.')(route);
    if (kind === 'book') return json(fake.bookOf(id, Number(query.get('depth'))));
    const interval = query.get('interval') as CandleInterval;
    return json({ market: id, interval, candles: fake.candlesOf(id, interval, Number(query.get('limit'))) });
  });
  return fake;
}

export const refuse =
  (status: number, code: string, message: string, headers: Record<string, string> = {}) =>
  (route: Route): Promise<void> =>
    route.fulfill({ status, headers, json: { error: { code, message } } });

class FollowedMarket {
  readonly #id: string;
  /** The last snapshot and what came after it. A book is made of them when somebody reads it. */
  #records: BookLine[] = [];
  readonly #rows = new Map<string, CandleRow>();
  #lastTrade: MarketTrade | null = null;
  #volumeNano = 0n;

  constructor(id: string) {
    this.#id = id;
  }

  take({ topic, record }: ScriptLine): void {
    if (topic === TRADES_TOPIC) this.#trade(marketTrade.parse(record));
    if (topic !== BOOK_TOPIC) return;
    if (record.type === 'book_snapshot') this.#records = [];
    this.#records.push(record);
  }

  #trade(trade: MarketTrade): void {
    this.#lastTrade = trade;
    this.#volumeNano += trade.size;
    for (const interval of intervals) {
      const key = `${interval} ${intervalStartMs(interval, trade.at)}`;
      const place = { throughSeq: trade.seq, generation: 1 };
      this.#rows.set(key, foldCandle(this.#rows.get(key) ?? null, interval, trade, place));
    }
  }

  book(readAtMs: number, depth: number, isNewest: boolean): ReturnType<typeof shapeBook> {
    const book = new Book();
    for (const record of this.#records) book.apply(bookRecord.parse(record));
    const view = book.view();
    if (view === null) throw new Error('a simulated book has stopped');
    return shapeBook({
      ...{ market: this.#id, depth, readAtMs, view },
      freshPriceNano: isNewest ? parseNanoUsd(FRESH_PRICE) : null,
    });
  }

  candles(interval: CandleInterval, nowMs: number, limit: number): ReturnType<typeof shapeCandle>[] {
    const fromMs = intervalStartMs(interval, nowMs) - (limit - 1) * candleIntervals[interval];
    return [...this.#rows.values()]
      .filter((row) => row.interval === interval && row.timeMs >= fromMs)
      .sort((a, b) => a.timeMs - b.timeMs)
      .map(shapeCandle);
  }

  listed(newest: boolean): object {
    const { bids, asks } = this.book(0, 1, newest);
    return {
      ...{
        id: this.#id,
        base: 'credit',
        quote: 'USDT',
        newest,
        price_tick: PRICE_TICK,
        size_step: SIZE_STEP,
      },
      opens_at: '2026-11-23T00:00:00.000Z',
      ends_at: `${this.#id.slice(-10)}T00:00:00.000Z`,
      last_price: this.#lastTrade === null ? null : formatUsd(this.#lastTrade.price),
      ...{ best_bid: bids[0]?.price ?? null, best_ask: asks[0]?.price ?? null },
      volume_24h: formatUsd(this.#volumeNano),
    };
  }
}
