import { z } from 'zod';
import { type CandleRow, intervals } from './candle.ts';

/** A row as stores keep it and readers are told it: JSON of an array, because a thousand of them are read at once. */
export const toCandleArray = (row: CandleRow): unknown[] => [
  ...[row.interval, row.timeMs],
  ...[row.openNano, row.highNano, row.lowNano, row.closeNano, row.volumeNano, row.quoteVolumeAtto].map(
    String,
  ),
  ...[row.trades, row.firstSeq, row.lastSeq, row.throughSeq, row.aheadSeqs, row.generation],
];

export const printCandle = (row: CandleRow): string => JSON.stringify(toCandleArray(row));

export const parseCandle = (text: string): CandleRow => toRow(rowArray.parse(JSON.parse(text)));

const digits = z.string().regex(/^\d+$/);
const count = z.int().nonnegative();
const rowArray = z.tuple([
  ...([z.enum(intervals), count] as const),
  ...([digits, digits, digits, digits, digits, digits] as const),
  ...([count, count, count, count, z.array(count), count] as const),
]);

function toRow(array: z.infer<typeof rowArray>): CandleRow {
  const [interval, timeMs, open, high, low, close, volume, quoteVolume, ...rest] = array;
  const [trades, firstSeq, lastSeq, throughSeq, aheadSeqs, generation] = rest;
  return {
    interval,
    timeMs,
    openNano: BigInt(open),
    highNano: BigInt(high),
    lowNano: BigInt(low),
    closeNano: BigInt(close),
    volumeNano: BigInt(volume),
    quoteVolumeAtto: BigInt(quoteVolume),
    trades,
    firstSeq,
    lastSeq,
    throughSeq,
    aheadSeqs,
    generation,
  };
}

export const candleArray = rowArray.transform(toRow);
