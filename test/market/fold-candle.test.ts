import { expect, test } from 'vitest';
import type { CandleRow } from '#core/market/candle.ts';
import { parseCandle, printCandle } from '#core/market/candle-text.ts';
import { foldCandle, holdsTrade } from '#core/market/fold-candle.ts';
import { OPENS_MS, tradeOf } from './market-trades.ts';

const fold = (row: CandleRow | null, seq: number, throughSeq: number, price = 900_000_000n) =>
  foldCandle(row, '1h', tradeOf(seq, { price, size: 3_000_000_001n }), { throughSeq, generation: 4 });

test('a candle opens with the lowest number and closes with the highest, whatever came first', () => {
  const row = [3, 1, 4, 2].reduce<CandleRow | null>(
    (last, seq) => fold(last, seq, 0, BigInt(seq) * 100_000_000n),
    null,
  );
  expect(row).toMatchObject({
    ...{ openNano: 100_000_000n, highNano: 400_000_000n, lowNano: 100_000_000n, closeNano: 400_000_000n },
    ...{ firstSeq: 1, lastSeq: 4, trades: 4, timeMs: OPENS_MS, generation: 4 },
  });
});

test('sums are exact to the last digit', () => {
  const row = fold(fold(null, 1, 1, 999_999_999n), 2, 2, 1n);
  expect(row.volumeNano).toBe(6_000_000_002n);
  expect(row.quoteVolumeAtto).toBe(3_000_000_001n * 999_999_999n + 3_000_000_001n);
});

test('a row tells which trades are in it', () => {
  const row = fold(fold(fold(null, 2, 0), 5, 0), 1, 2);
  expect(row).toMatchObject({ throughSeq: 2, aheadSeqs: [5] });
  expect([1, 2, 3, 4, 5, 6].filter((seq) => holdsTrade(row, seq))).toEqual([1, 2, 5]);
});

test('a row that knows more than the one who folds now keeps what it knows', () => {
  const row = { ...fold(null, 9, 8), throughSeq: 8, aheadSeqs: [12] };
  expect(fold(row, 10, 3)).toMatchObject({ throughSeq: 8, aheadSeqs: [12, 10] });
});

test('a row is read as it was written', () => {
  const row = { ...fold(fold(null, 2, 0), 5, 0), volumeNano: 10n ** 40n };
  expect(parseCandle(printCandle(row))).toEqual(row);
});

test('a row of the highest numbers is read as it was written, too', () => {
  const last = Number.MAX_SAFE_INTEGER;
  const row = { ...fold(null, 1, 0), lastSeq: last, throughSeq: last - 1, aheadSeqs: [last] };
  expect(parseCandle(printCandle(row))).toEqual(row);
});

test('a row is printed once, however often it is published', () => {
  let reads = 0;
  const row = Object.defineProperty({ ...fold(null, 1, 1) }, 'openNano', { get: () => BigInt(++reads) });
  expect(printCandle(row)).toBe(printCandle(row));
  expect(reads).toBe(1);
});

test('what is no row in every part is none', () => {
  const text = printCandle(fold(fold(null, 2, 0), 5, 0));
  expect(text).toBe(
    `["1h",${OPENS_MS},"900000000","900000000","900000000","900000000","6000000002","5400000001800000000",2,2,5,0,[2,5],4]`,
  );
  for (const [part, other] of [
    ['"1h"', '"2h"'],
    ['"900000000"', '"-900000000"'],
    ['"900000000"', '"9e8"'],
    ['"900000000"', '900000000'],
    ['[2,5]', '[2,]'],
    ['[2,5]', '2'],
    [',4]', ']'],
    [',4]', ',4,4]'],
    [',4]', ',4]\n'],
    [',2,2,', ',2.5,2,'],
    [',2,2,', ',02,2,'],
    ['"900000000"', '"0900000000"'],
    [`,${OPENS_MS},`, ',9007199254740992,'],
    [',2,2,', ',9007199254740992,2,'],
    [',2,2,', ',2,9007199254740992,'],
    [',5,0,', ',9007199254740992,0,'],
    [',5,0,', ',5,9007199254740992,'],
    ['[2,5]', '[2,9007199254740992]'],
    [',4]', ',9007199254740992]'],
  ] as const) {
    expect(text).toContain(part);
    expect(parseCandle(text.replace(part, other)), `${other} for ${part}`).toBeNull();
  }
});
