import { expect, test } from 'vitest';
import { Book } from '#core/market/book.ts';
import { createDraw, type Draw } from '../ledger/history/random.ts';
import { parsed } from './book-records.ts';
import { DrawnExchange } from './drawn-exchange.ts';

const HISTORIES = 300;
const RECORDS = 250;
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);

type Written = ReturnType<DrawnExchange['next']>;

/** As a broken line brings them: some not at all, some twice, some late, and some that are wrong. */
function disturb(draw: Draw, exchange: DrawnExchange): Written[] {
  const written = Array.from({ length: RECORDS }, () => {
    if (draw(40) === 0) return [exchange.crossing()];
    const record = exchange.next();
    const fate = draw(30);
    if (fate === 0) return [];
    return fate === 1 ? [record, record] : [record];
  }).flat();
  return written
    .map((record, i) => ({ record, place: draw(15) === 0 ? i + draw(30) : i }))
    .sort((a, b) => a.place - b.place)
    .map(({ record }) => record);
}

test(`whatever is lost, doubled, late or wrong, a book that is shown is the exchange's at its seq (seed ${seed})`, () => {
  const seen = { shown: 0, stopped: 0 };
  for (let history = seed; history < seed + HISTORIES; history++) {
    const draw = createDraw(history);
    const exchange = new DrawnExchange(draw);
    const book = new Book();
    let shownSeq = 0;
    for (const record of disturb(draw, exchange)) {
      book.apply(parsed(record));
      const view = book.view();
      seen[view === null ? 'stopped' : 'shown'] += 1;
      if (view === null) continue;
      const where = `history ${history} at ${view.seq}`;
      expect(JSON.stringify(view), where).toBe(exchange.truth.get(view.seq));
      expect(view.seq, where).toBeGreaterThanOrEqual(Math.max(record.seq, shownSeq));
      shownSeq = view.seq;
    }
    // Whatever came before, a snapshot of now is enough.
    exchange.change();
    book.apply(parsed(exchange.snapshot()));
    expect(JSON.stringify(book.view()), `history ${history}`).toBe(exchange.truth.get(exchange.seq));
  }
  expect(Math.min(seen.shown, seen.stopped)).toBeGreaterThan(HISTORIES);
});

test(`what comes whole is shown after each record, exactly (seed ${seed})`, () => {
  for (let history = seed; history < seed + HISTORIES; history++) {
    const exchange = new DrawnExchange(createDraw(history));
    const book = new Book();
    book.apply(parsed(exchange.snapshot()));
    for (let i = 0; i < RECORDS; i++) {
      book.apply(parsed(exchange.next()));
      expect(JSON.stringify(book.view()), `history ${history}`).toBe(exchange.truth.get(exchange.seq));
    }
  }
});
