import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { fromNano, shareOf, splitUsd, toNano, usdText } from '../../api/console/page/lib/usd.js';

describe('the console shows an amount', () => {
  test.each([
    ['0', '$0.00'],
    ['5', '$5.00'],
    ['4.9', '$4.90'],
    ['1234567.5', '$1,234,567.50'],
    ['4.9876543', '$4.9876543'],
    ['0.0000023', '$0.0000023'],
    ['0.000000001', '$0.000000001'],
    ['-2.5', '−$2.50'],
    ['9000000', '$9,000,000.00'],
  ])('%s as %s', (usd, shown) => {
    expect(usdText(usd)).toBe(shown);
  });

  it('with the digits behind the cents apart, unless it is less than a cent', () => {
    expect(splitUsd('4.9876543')).toEqual({ main: '$4.98', rest: '76543', fine: false });
    expect(splitUsd('0.0023')).toEqual({ main: '$0.00', rest: '23', fine: true });
  });

  it('with every digit that it has', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 9_000_000_000_000_000n }), (nano) => {
        expect(toNano(fromNano(nano))).toBe(nano);
        expect(toNano(usdText(fromNano(nano)).replaceAll(/[$,]/g, ''))).toBe(nano);
      }),
    );
  });
});

describe('a bar', () => {
  test.each([
    [0n, 5n, 0],
    [5n, 5n, 1],
    [7n, 5n, 1],
    [1n, 4n, 0.25],
    [1n, 0n, 0],
    [-1n, 4n, 0],
  ])('of %s of %s is %s long', (part, whole, share) => {
    expect(shareOf(part, whole)).toBe(share);
  });
});
