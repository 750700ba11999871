import { benchBook } from './market-book.ts';
import { benchCandles } from './market-candles.ts';
import { benchMoves } from './market-moves.ts';
import { benchReads } from './market-reads.ts';
import { runPart } from './run-part.ts';

/** What folds a market or moves its credit has a core of its own; stores that are processes of their own have the other. */
await runPart('Markets', { pinned: true }, async (bench) => {
  // First: what the others leave in this process's heap makes its callers slow, and then the gateway waits for them.
  await benchReads(bench);
  await benchBook(bench);
  await benchCandles(bench);
  await benchMoves(bench);
});
