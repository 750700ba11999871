import type { TradeCursor } from './market-store.ts';

export const emptyCursor = (generation: number): TradeCursor => ({
  ...{ throughSeq: 0, aheadSeqs: [], givenUp: [], generation },
});

/** Grows with each trade, so that of two cursors of a generation the one that knows more replaces the other. */
export const cursorRank = ({ throughSeq, aheadSeqs }: TradeCursor): number => throughSeq + aheadSeqs.length;
