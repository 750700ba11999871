import { CANDLES_MAX } from '#core/limits.ts';
import {
  type CandleInterval,
  type CandleRow,
  candleIntervals,
  intervalStartMs,
} from '#core/market/candle.ts';
import type { LiveMarkets } from '#core/market/live-markets.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import { digestOf } from '../contract/etag.ts';
import { shapeCandle } from '../contract/markets.ts';
import { Cached, type CacheOptions } from './cached.ts';
import { type ReadyAnswer, readyAnswer } from './ready-answer.ts';

/** Answers of different limits that are kept for one market's candles of one interval. */
const READY_CANDLES_MAX = 8;

/** One reading of a market's candles of an interval, and what was made of it by limit. */
export interface ReadCandles {
  readAtMs: number;
  /** As the store knew them when it was read last. */
  stored: readonly CandleRow[];
  /** Of the newest ones that were over it; `null`: there were none. */
  olderVersion: string | null;
  rows: readonly CandleRow[];
  written: WrittenRows | null;
  byLimit: Map<number, ReadyAnswer>;
}

export interface CandleSource {
  store: MarketStore;
  live: LiveMarkets;
  market: string;
  interval: CandleInterval;
}

/**
 * Of the store whatever may be asked for, in one read, and the newest ones over it. The store is read again only when it
 * knows something that the newest do not show.
 */
export const keepCandles = (options: CacheOptions, source: CandleSource): Cached<ReadCandles> =>
  new Cached(options, async (before) => {
    const { store, market, interval } = source;
    const readAtMs = options.clock.now();
    // First: what leaves the newest meanwhile is in the store by then.
    const found = await source.live.readCandles(market);
    const live = found === 'unavailable' ? null : found;
    const olderVersion = live?.olderVersion ?? null;
    const untilMs = intervalStartMs(interval, readAtMs) + candleIntervals[interval];
    const fromMs = untilMs - CANDLES_MAX * candleIntervals[interval];
    const isCovered = before !== null && olderVersion !== null && before.olderVersion === olderVersion;
    const stored = isCovered
      ? before.stored
      : sameObjects(before, await store.readCandles(market, interval, fromMs, untilMs));
    const rows = merge(stored, live?.newest[interval] ?? []).filter(
      ({ timeMs, trades }) => trades > 0 && timeMs >= fromMs && timeMs < untilMs,
    );
    return { readAtMs, stored, olderVersion, rows, written: null, byLimit: new Map() };
  });

/** Rows that did not change stay the objects that they were: their texts are kept by them. */
function sameObjects(before: ReadCandles | null, rows: readonly CandleRow[]): readonly CandleRow[] {
  if (before === null) return rows;
  const known = new Map(before.stored.map((row) => [row.timeMs, row]));
  return rows.map((row) => {
    const same = known.get(row.timeMs);
    return same !== undefined && same.generation === row.generation && same.trades === row.trades
      ? same
      : row;
  });
}

/** Oldest first. Of two of the same interval the one that has more trades in it. */
function merge(stored: readonly CandleRow[], newest: readonly CandleRow[]): CandleRow[] {
  const byTime = new Map(stored.map((row) => [row.timeMs, row]));
  for (const row of newest) {
    const other = byTime.get(row.timeMs);
    if (other === undefined || hasMore(row, other)) byTime.set(row.timeMs, row);
  }
  return [...byTime.values()].sort((a, b) => a.timeMs - b.timeMs);
}

const hasMore = (row: CandleRow, other: CandleRow): boolean =>
  row.generation === other.generation ? row.trades > other.trades : row.generation > other.generation;

/** The rows in their order, comma by comma, of which any number from the end can be sent. */
interface WrittenRows {
  text: string;
  /** Where each row begins. */
  offsets: readonly number[];
  digest: string;
}

/** A window of time: so many intervals back, with the present one. */
export function writeCandles(
  read: ReadCandles,
  { market, interval, limit }: { market: string; interval: CandleInterval; limit: number },
): ReadyAnswer {
  read.written ??= writeRows(read.rows);
  const { text, offsets, digest } = read.written;
  const fromMs = intervalStartMs(interval, read.readAtMs) - (limit - 1) * candleIntervals[interval];
  const first = read.rows.findIndex(({ timeMs }) => timeMs >= fromMs);
  const sent = first === -1 ? '' : text.slice(offsets[first]);
  const body = `{"market":"${market}","interval":"${interval}","candles":[${sent}]}`;
  const answer = readyAnswer(body, `"${digest}-${first}"`);
  if (read.byLimit.size >= READY_CANDLES_MAX) read.byLimit.clear();
  read.byLimit.set(limit, answer);
  return answer;
}

function writeRows(rows: readonly CandleRow[]): WrittenRows {
  const texts = rows.map(textOf);
  const offsets: number[] = [];
  let offset = 0;
  for (const text of texts) {
    offsets.push(offset);
    offset += text.length + 1;
  }
  const text = texts.join(',');
  return { text, offsets, digest: digestOf(text) };
}

/** Most of them never change again. */
const texts = new WeakMap<CandleRow, string>();

function textOf(row: CandleRow): string {
  const known = texts.get(row);
  if (known !== undefined) return known;
  const text = JSON.stringify(shapeCandle(row));
  texts.set(row, text);
  return text;
}
