import { expect, test } from 'vitest';
import { GIVEN_UP_RANGES_MAX, SeenTrades, TRADES_AHEAD_MAX } from '#core/market/seen-trades.ts';
import { emptyCursor } from '#core/market/trade-cursor.ts';

const takeAll = (seen: SeenTrades, seqs: readonly number[]) => seqs.map((seq) => seen.take(seq));

test('each trade is new once, in whatever order they come', () => {
  const seen = new SeenTrades(emptyCursor);
  expect(takeAll(seen, [1, 3, 3, 2, 1, 2, 5, 4])).toEqual([
    ...['new', 'new', 'repeated', 'new', 'repeated', 'repeated', 'new', 'new'],
  ]);
  expect(seen.toCursor()).toEqual({ ...emptyCursor, throughSeq: 5 });
});

test('what is missing is waited for, as long as few enough have come ahead of it', () => {
  const seen = new SeenTrades(emptyCursor);
  const ahead = Array.from({ length: TRADES_AHEAD_MAX }, (_, i) => i + 3);
  takeAll(seen, ahead);
  expect(seen.toCursor()).toMatchObject({ throughSeq: 0, aheadSeqs: ahead });
  expect(seen.take(2)).toBe('new');
  expect(seen.toCursor()).toMatchObject({ throughSeq: TRADES_AHEAD_MAX + 2, givenUp: [[1, 1]] });
  expect(seen.take(1)).toBe('too_late');
});

test('another process goes on from the cursor as if it had been there', () => {
  const seen = new SeenTrades(emptyCursor);
  takeAll(
    seen,
    Array.from({ length: TRADES_AHEAD_MAX + 1 }, (_, i) => 2 * i + 10),
  );
  const other = new SeenTrades(JSON.parse(JSON.stringify(seen.toCursor())));
  for (const seq of [9, 1, 10, 11, 12, 13, 5_000])
    expect([seq, other.take(seq)]).toEqual([seq, seen.take(seq)]);
  expect(other.toCursor()).toEqual(seen.toCursor());
});

test('a feed that skips numbers for ever stays bounded', () => {
  const seen = new SeenTrades(emptyCursor);
  for (let seq = 2; seq < 10_000; seq += 2) seen.take(seq);
  const { aheadSeqs, givenUp } = seen.toCursor();
  expect(aheadSeqs).toHaveLength(TRADES_AHEAD_MAX);
  expect(givenUp).toHaveLength(GIVEN_UP_RANGES_MAX);
});
