import { describe, expect, it } from 'vitest';
import { isoTime } from '#core/clock.ts';
import { MARKET_SEQ_MAX } from '#core/events/market-values.ts';
import { BOOK_ANEW_MS, BOOK_DEPTH_MAX, BOOK_LEVELS_MAX } from '#core/limits.ts';
import { BOOK_GAP_BELIEVED_MAX, Book } from '#core/market/book.ts';
import { isOlderBook } from '#core/market/book-view.ts';
import { BOOK_AT_MS, type Change, changed, type Level, parsed, snapshot } from './book-records.ts';

const bids: Level[] = [
  ['0.99', '10', 2],
  ['0.98', '5', 1],
];
const asks: Level[] = [
  ['1.01', '7', 1],
  ['1.02', '8', 3],
];

function bookAt(seq: number): Book {
  const book = new Book();
  book.apply(parsed(snapshot(seq, { bids, asks })));
  return book;
}

const change = (book: Book, seq: number, ...changes: Change[]) =>
  book.apply(parsed(changed(seq, ...changes)));
const begin = (book: Book, seq: number, sides = { bids, asks }) => book.apply(parsed(snapshot(seq, sides)));

/** Prices that are all different, from 0.000000001 on. */
const manyLevels = (count: number, from = 1): Level[] =>
  Array.from({ length: count }, (_, i) => [`0.${String(from + i).padStart(9, '0')}`, '1', 1]);

describe('a book', () => {
  it('prints a level once, for as long as the level does not change', () => {
    const book = bookAt(1);
    const before = book.view();
    change(book, 2, ['bid', '0.99', '11', 2]);
    const after = book.view();
    expect(after?.bids[0]).toEqual({ price: '0.99', size: '11', orders: 2 });
    expect(before?.bids[0]).toEqual({ price: '0.99', size: '10', orders: 2 });
    expect(after?.bids[1]).toBe(before?.bids[1]);
    expect(after?.asks[0]).toBe(before?.asks[0]);
  });

  it('shows nothing before its first snapshot, and then the best of each side first', () => {
    const book = new Book();
    expect(book.view()).toBeNull();
    expect(change(book, 1, ['bid', '1', '1', 1])).toEqual({ step: 'ignored' });
    expect(book.view()).toBeNull();
    expect(begin(book, 7, { bids: bids.toReversed(), asks: asks.toReversed() })).toEqual({ step: 'applied' });
    expect(book.view()).toEqual({
      seq: 7,
      atMs: BOOK_AT_MS,
      bids: [
        { price: '0.99', size: '10', orders: 2 },
        { price: '0.98', size: '5', orders: 1 },
      ],
      asks: [
        { price: '1.01', size: '7', orders: 1 },
        { price: '1.02', size: '8', orders: 3 },
      ],
    });
  });

  it('takes each change of the next number: a level comes, changes and goes', () => {
    const book = bookAt(7);
    change(book, 8, ['bid', '0.995', '3', 1], ['bid', '0.99', '11', 3], ['ask', '1.01', '0', 0]);
    expect(book.view()).toEqual({
      seq: 8,
      atMs: BOOK_AT_MS,
      bids: [
        { price: '0.995', size: '3', orders: 1 },
        { price: '0.99', size: '11', orders: 3 },
        { price: '0.98', size: '5', orders: 1 },
      ],
      asks: [{ price: '1.02', size: '8', orders: 3 }],
    });
    change(book, 9, ['ask', '1.02', '0.0', 0], ['ask', '1.5', '0', 0]);
    expect(book.view()).toMatchObject({ seq: 9, asks: [] });
  });

  it('knows a price by its value, however it is written, and shows it without trailing zeros', () => {
    const book = bookAt(1);
    change(
      book,
      2,
      ['bid', '0.990000000', '0000012.500', 2],
      ['ask', '9999999.999999999', '9999999.999999999', 1],
    );
    change(book, 3, ['ask', '9999999.999999998', '0.000000001', 1]);
    expect(book.view()?.bids[0]).toEqual({ price: '0.99', size: '12.5', orders: 2 });
    expect(book.view()?.asks.slice(-2)).toEqual([
      { price: '9999999.999999998', size: '0.000000001', orders: 1 },
      { price: '9999999.999999999', size: '9999999.999999999', orders: 1 },
    ]);
  });

  it('shows a view that stays as it was when the book goes on', () => {
    const book = bookAt(1);
    const view = book.view();
    const before = structuredClone(view);
    change(book, 2, ['bid', '0.99', '1', 1], ['ask', '1.01', '0', 0]);
    expect(view).toEqual(before);
  });

  it(`shows the best ${BOOK_DEPTH_MAX} of a side, and comes back to those behind them`, () => {
    const book = new Book();
    begin(book, 1, { bids: manyLevels(BOOK_DEPTH_MAX + 1), asks: [] });
    expect(book.view()?.bids).toHaveLength(BOOK_DEPTH_MAX);
    expect(book.view()?.bids.at(-1)?.price).toBe('0.000000002');
    change(book, 2, ['bid', '0.000000101', '0', 0]);
    expect(book.view()?.bids.at(-1)?.price).toBe('0.000000001');
  });

  it('ignores what it has had: changes, and older snapshots', () => {
    const book = bookAt(7);
    const before = book.view();
    expect(change(book, 7, ['bid', '0.5', '1', 1])).toEqual({ step: 'ignored' });
    expect(change(book, 1, ['bid', '0.5', '1', 1])).toEqual({ step: 'ignored' });
    expect(begin(book, 6, { bids: [], asks: [] })).toEqual({ step: 'ignored' });
    expect(book.view()).toEqual(before);
  });

  it('goes on from a newer snapshot, whatever came before it', () => {
    const book = bookAt(7);
    expect(begin(book, 70, { bids: [], asks })).toEqual({ step: 'applied' });
    expect(book.view()).toMatchObject({ seq: 70, bids: [] });
    expect(change(book, 71, ['bid', '0.5', '1', 1])).toEqual({ step: 'applied' });
  });
});

describe('a book stops', () => {
  it('at a gap, until a snapshot of all that it has seen', () => {
    const book = bookAt(7);
    expect(change(book, 9, ['bid', '0.5', '1', 1])).toEqual({ step: 'stopped', cause: 'a gap' });
    expect(book.view()).toBeNull();
    expect(change(book, 8, ['bid', '0.5', '1', 1])).toEqual({ step: 'ignored' });
    expect(change(book, 10, ['bid', '0.5', '1', 1])).toEqual({ step: 'ignored' });
    for (const old of [6, 7, 9]) expect(begin(book, old)).toEqual({ step: 'ignored' });
    expect(book.view()).toBeNull();
    expect(begin(book, 10)).toEqual({ step: 'applied' });
    expect(book.view()).toMatchObject({ seq: 10 });
  });

  it.each<[string, Change[]]>([
    ['crossed', [['bid', '1.02', '1', 1]]],
    ['locked', [['ask', '0.99', '1', 1]]],
  ])('when it is %s', (_, changes) => {
    const book = bookAt(7);
    expect(change(book, 8, ...changes)).toMatchObject({ step: 'stopped' });
    expect(book.view()).toBeNull();
    expect(begin(book, 7)).toEqual({ step: 'ignored' });
    expect(begin(book, 8)).toEqual({ step: 'applied' });
  });

  it('not when it is crossed only in the middle of a record', () => {
    const book = bookAt(7);
    expect(change(book, 8, ['bid', '1.015', '1', 1], ['ask', '1.01', '0', 0])).toEqual({ step: 'applied' });
  });

  it(`when a side has more than ${BOOK_LEVELS_MAX} levels`, () => {
    const book = new Book();
    begin(book, 1, { bids: manyLevels(BOOK_LEVELS_MAX), asks: [] });
    expect(change(book, 2, ['bid', '0.000000001', '2', 2])).toEqual({ step: 'applied' });
    expect(change(book, 3, ['bid', '0.9', '1', 1])).toEqual({ step: 'stopped', cause: 'too many levels' });
    expect(book.view()).toBeNull();
  });

  it('for no longer than it takes, when a single number was far too high', () => {
    const book = bookAt(7);
    change(book, MARKET_SEQ_MAX, ['bid', '0.5', '1', 1]);
    expect(book.view()).toBeNull();
    expect(begin(book, 6)).toEqual({ step: 'ignored' });
    expect(begin(book, 8)).toEqual({ step: 'applied' });
    const near = bookAt(7);
    change(near, 8 + BOOK_GAP_BELIEVED_MAX, ['bid', '0.5', '1', 1]);
    expect(begin(near, 8)).toEqual({ step: 'ignored' });
  });
});

describe('an exchange that counts anew', () => {
  const later = (written: object, ms: number) => parsed({ ...written, at: isoTime(BOOK_AT_MS + ms) });
  const anewMs = BOOK_ANEW_MS + 1;
  const bid: Change = ['bid', '0.5', '1', 1];

  it('is believed by its snapshot’s time, so that its old book is not shown for ever', () => {
    const book = bookAt(7_000);
    expect(book.apply(later(snapshot(3, { bids: [['0.4', '1', 1]] }), anewMs))).toEqual({ step: 'applied' });
    expect(book.view()).toMatchObject({ seq: 3, atMs: BOOK_AT_MS + anewMs, bids: [{ price: '0.4' }] });
    expect(book.apply(later(changed(4, bid), anewMs))).toEqual({ step: 'applied' });
  });

  it('stops the book by its changes, until the snapshot of its new count', () => {
    const book = bookAt(7_000);
    expect(book.apply(later(changed(2, bid), anewMs))).toEqual({
      ...{ step: 'stopped', cause: 'the exchange counts anew' },
    });
    expect(book.view()).toBeNull();
    expect(book.apply(later(changed(4, bid), anewMs))).toEqual({ step: 'ignored' });
    expect(book.apply(later(snapshot(3), anewMs))).toEqual({ step: 'ignored' });
    expect(book.apply(later(snapshot(4, { bids, asks }), anewMs))).toEqual({ step: 'applied' });
    expect(book.view()).toMatchObject({ seq: 4 });
  });

  it('is believed by a book that has stopped, too, whatever comes first', () => {
    for (const first of [changed(2, bid), snapshot(1)]) {
      const book = bookAt(7_000);
      change(book, 7_005, bid);
      book.apply(later(first, anewMs));
      book.apply(later(changed(3, bid), anewMs + 10));
      book.apply(later(snapshot(3, { bids, asks }), anewMs + 10));
      expect(book.view()).toMatchObject({ seq: 3 });
    }
  });

  it('cannot be hidden by its own steady stream: the time that counts is that of what is in the book', () => {
    const book = bookAt(7_000);
    for (let seq = 1; seq <= 100; seq++) book.apply(later(changed(seq, bid), seq * 100));
    expect(book.view()).toBeNull();
  });

  it('is not seen in what comes late or twice, nor in snapshots of a book that does not change', () => {
    const book = bookAt(7_000);
    expect(book.apply(later(snapshot(6_999), BOOK_ANEW_MS))).toEqual({ step: 'ignored' });
    expect(book.apply(later(changed(7_000, bid), BOOK_ANEW_MS))).toEqual({ step: 'ignored' });
    expect(book.apply(later(snapshot(7_000, { bids, asks }), 60_000))).toEqual({ step: 'applied' });
    expect(book.apply(later(changed(7_000, bid), 60_000))).toEqual({ step: 'ignored' });
    expect(book.apply(later(snapshot(7_000, { bids, asks }), 120_000))).toEqual({ step: 'applied' });
    expect(change(book, 7_001, bid)).toEqual({ step: 'applied' });
    expect(book.view()).toMatchObject({ seq: 7_001, atMs: BOOK_AT_MS + 120_000 });
  });
});

it('an exchange whose clock steps back hides none of its later books: what they are told by never does', () => {
  const ahead = { ...snapshot(8, { bids, asks }), at: isoTime(BOOK_AT_MS + 180_000) };
  const book = bookAt(7);
  expect(book.apply(parsed(ahead))).toEqual({ step: 'applied' });
  const before = book.view();
  expect(begin(book, 9)).toEqual({ step: 'applied' });
  const after = book.view();
  if (before === null || after === null) throw new Error('no book');
  expect(isOlderBook(after, before)).toBe(false);
});

describe('a record that is wrong', () => {
  const wrong: [string, Parameters<typeof snapshot>[1], string][] = [
    ['a crossed snapshot', { bids: [['1.1', '1', 1]], asks }, 'the best bid is not below the best ask'],
    ['a locked snapshot', { bids: [['1.01', '1', 1]], asks }, 'the best bid is not below the best ask'],
    ['a bid twice', { bids: [...bids, ['0.990', '1', 1]] }, 'a price is there twice'],
    ['an ask twice', { asks: [['2', '1', 1], ...asks, ['2.0', '1', 1]] }, 'a price is there twice'],
  ];

  it.each(wrong)('is refused with the reason, and stops a book that is older: %s', (_, sides, reason) => {
    const book = bookAt(7);
    expect(book.apply(parsed(snapshot(6, sides)))).toEqual({ step: 'refused', reason });
    expect(book.view()).toMatchObject({ seq: 7 });
    expect(book.apply(parsed(snapshot(9, sides)))).toEqual({ step: 'refused', reason });
    expect(book.view()).toBeNull();
    expect(begin(book, 8)).toEqual({ step: 'ignored' });
    expect(begin(book, 9)).toEqual({ step: 'applied' });
  });

  it.each<[string, Change]>([
    ['orders without a size', ['bid', '0.99', '0', 1]],
    ['a size without orders', ['bid', '0.99', '1', 0]],
  ])('is refused with the reason, and none of its changes is taken: %s', (_, bad) => {
    const reason = 'a size without orders, or orders without a size';
    const book = bookAt(7);
    expect(change(book, 7, bad)).toEqual({ step: 'refused', reason });
    expect(book.view()).toMatchObject({ seq: 7 });
    expect(change(book, 8, ['ask', '1.5', '1', 1], bad)).toEqual({ step: 'refused', reason });
    expect(book.view()).toBeNull();
  });
});
