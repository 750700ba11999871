import type { MarketTrade } from '../events/market-trade.ts';
import { type CandleInterval, type CandleRow, intervalStartMs } from './candle.ts';

export type FoldedTrade = Pick<MarketTrade, 'seq' | 'at' | 'price' | 'size'>;

/** Of the process that folds, once it has counted this trade. */
export interface FoldPlace {
  /** Every trade of the market up to it has been folded, into whichever rows it belongs. */
  throughSeq: number;
  generation: number;
}

/**
 * A row with one trade more; `null` is a row that is not there yet.
 *
 * Why each row holds each trade once, whatever crash came between rows, cursor and offset: a row says by itself which
 * trades it holds. One that was folded when all trades up to W had been folded holds those of its interval up to W,
 * and it lists the others. So whoever folds the same trades again asks the row, not what was written besides it.
 */
export function foldCandle(
  row: CandleRow | null,
  interval: CandleInterval,
  { seq, at, price, size }: FoldedTrade,
  place: FoldPlace,
): CandleRow {
  const { generation } = place;
  if (row === null) {
    return {
      interval,
      timeMs: intervalStartMs(interval, at),
      openNano: price,
      highNano: price,
      lowNano: price,
      closeNano: price,
      volumeNano: size,
      quoteVolumeAtto: price * size,
      trades: 1,
      firstSeq: seq,
      lastSeq: seq,
      throughSeq: place.throughSeq,
      aheadSeqs: seq > place.throughSeq ? [seq] : NONE,
      generation,
    };
  }
  const throughSeq = Math.max(row.throughSeq, place.throughSeq);
  return {
    interval,
    timeMs: row.timeMs,
    openNano: seq < row.firstSeq ? price : row.openNano,
    highNano: price > row.highNano ? price : row.highNano,
    lowNano: price < row.lowNano ? price : row.lowNano,
    closeNano: seq > row.lastSeq ? price : row.closeNano,
    volumeNano: row.volumeNano + size,
    quoteVolumeAtto: row.quoteVolumeAtto + price * size,
    trades: row.trades + 1,
    firstSeq: Math.min(row.firstSeq, seq),
    lastSeq: Math.max(row.lastSeq, seq),
    throughSeq,
    aheadSeqs: listAhead(row, seq, throughSeq),
    generation,
  };
}

export const holdsTrade = ({ throughSeq, aheadSeqs }: CandleRow, seq: number): boolean =>
  seq <= throughSeq || aheadSeqs.includes(seq);

const NONE: readonly number[] = [];

function listAhead({ aheadSeqs }: CandleRow, seq: number, throughSeq: number): readonly number[] {
  if (aheadSeqs.length === 0) return seq > throughSeq ? [seq] : NONE;
  const left = aheadSeqs.filter((ahead) => ahead > throughSeq);
  if (seq > throughSeq) left.push(seq);
  return left;
}
