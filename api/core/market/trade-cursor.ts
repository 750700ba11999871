import type { TradeCursor } from './market-store.ts';

export const emptyCursor: TradeCursor = {
  ...{ throughSeq: 0, aheadSeqs: [], givenUp: [], generation: 1, candlesMissing: false },
};

/**
 * Of two cursors of a generation the one of the higher rank replaces the other. It grows with each trade; a rebuild's
 * first one gives way to every other.
 */
export const cursorRank = ({ throughSeq, aheadSeqs, candlesMissing }: TradeCursor): number =>
  candlesMissing ? 0 : throughSeq + aheadSeqs.length;
