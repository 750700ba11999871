import { type CandleInterval, type CandleRow, intervals } from './candle.ts';

/** A row as stores keep it and readers are told it: JSON of an array, because a thousand of them are read at once. */
export function printCandle(row: CandleRow): string {
  const printed = texts.get(row);
  if (printed !== undefined) return printed;
  const { openNano, highNano, lowNano, closeNano, volumeNano, quoteVolumeAtto } = row;
  const text = JSON.stringify([
    ...[row.interval, row.timeMs],
    ...[openNano, highNano, lowNano, closeNano, volumeNano, quoteVolumeAtto].map(String),
    ...[row.trades, row.firstSeq, row.lastSeq, row.throughSeq, row.aheadSeqs, row.generation],
  ]);
  texts.set(row, text);
  return text;
}

/** Rows never change, and the newest ones are published several times a second. */
const texts = new WeakMap<CandleRow, string>();

/**
 * `null`: it is none. By one expression: a schema would take twice the time, for a thousand rows milliseconds in which nothing
 * else is answered.
 */
export function parseCandle(text: string): CandleRow | null {
  const [all, interval, timeMs, ...others] = PRINTED.exec(text) ?? [];
  if (all === undefined) return null;
  const [open = '', high = '', low = '', close = '', volume = '', quoteVolume = '', ...rest] = others;
  const [trades, firstSeq, lastSeq, throughSeq, aheadSeqs = '', generation] = rest;
  const row = {
    // The expression has let through those words alone.
    interval: interval as CandleInterval,
    timeMs: Number(timeMs),
    openNano: BigInt(open),
    highNano: BigInt(high),
    lowNano: BigInt(low),
    closeNano: BigInt(close),
    volumeNano: BigInt(volume),
    quoteVolumeAtto: BigInt(quoteVolume),
    trades: Number(trades),
    firstSeq: Number(firstSeq),
    lastSeq: Number(lastSeq),
    throughSeq: Number(throughSeq),
    aheadSeqs: aheadSeqs === '' ? NONE : aheadSeqs.split(',').map(Number),
    generation: Number(generation),
  };
  return hasExactCounts(row) ? row : null;
}

/** Sixteen digits can be more than a number holds exactly. */
const hasExactCounts = (row: CandleRow): boolean =>
  Number.isSafeInteger(row.timeMs) &&
  Number.isSafeInteger(row.trades) &&
  Number.isSafeInteger(row.firstSeq) &&
  Number.isSafeInteger(row.lastSeq) &&
  Number.isSafeInteger(row.throughSeq) &&
  row.aheadSeqs.every(Number.isSafeInteger) &&
  Number.isSafeInteger(row.generation);

/** Of a store's own: whatever else stands there has been damaged. */
export function storedCandle(text: string): CandleRow {
  const row = parseCandle(text);
  if (row === null) throw new Error('a stored candle cannot be read');
  return row;
}

const NONE: readonly number[] = [];
/** As numbers are written, as long as a safe integer can be. */
const COUNT = '(?:0|[1-9]\\d{0,15})';
const DIGITS = '"(0|[1-9]\\d*)"';
const PRINTED = new RegExp(
  `^\\["(${intervals.join('|')})",(${COUNT}),${Array(6).fill(DIGITS)},${Array(4).fill(`(${COUNT})`)},\\[((?:${COUNT}(?:,${COUNT})*)?)\\],(${COUNT})\\]$`,
);
