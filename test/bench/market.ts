import { marketBars } from './bars.ts';
import { benchBook } from './market-book.ts';
import { benchCandles } from './market-candles.ts';
import { benchMoves } from './market-moves.ts';
import { benchReads } from './market-reads.ts';
import { shortNumber } from './report.ts';
import { runPart } from './run-part.ts';

/** What folds a market or moves its credit has a core of its own; stores that are processes of their own have the other. */
await runPart('Markets', { pinned: true }, async (bench) => {
  // First: what the others leave in this process's heap makes its callers slow, and then the gateway waits for them.
  await benchReads(bench);
  const books = await benchBook(bench);
  const candles = await benchCandles(bench);
  const { bookChangesPerSecond, tradesPerSecond, sharesOfCore } = marketBars;
  for (const [shape, book, trades] of [
    ['embedded', books.memory, candles.sqlite],
    ['cluster', books.redis, candles.cassandra],
  ] as const) {
    const percent = (share: number) => `${shortNumber(share * 100)} %`;
    bench.report.verdict({
      bar: `${bookChangesPerSecond} level changes/s and ${tradesPerSecond} trades/s (${shape}) <= ${percent(sharesOfCore)} of a core`,
      measured: `${percent(book)} and ${percent(trades)}`,
      met: book + trades <= sharesOfCore,
    });
  }
  await benchMoves(bench);
});
