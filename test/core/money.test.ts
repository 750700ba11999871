import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  attoToNanoUp,
  formatAttoUsd,
  formatUsd,
  nanoToAtto,
  parseAttoUsd,
  parseFactorPpm,
  parseNanoUsd,
  timesFactorUp,
} from '#core/money.ts';

/** As a provider's bill is read. */
const nanoUp = (text: string) => attoToNanoUp(parseAttoUsd(text) ?? -1n);

const nano = fc.bigInt({ min: 0n, max: 10n ** 20n });

describe('dollars as text', () => {
  it('come back as they were written, to the nano-dollar', () => {
    fc.assert(
      fc.property(nano, (amount) => {
        expect(parseNanoUsd(formatUsd(amount))).toBe(amount);
        expect(parseAttoUsd(formatAttoUsd(amount))).toBe(amount);
      }),
    );
  });

  it('are a JSON number as they stand, with no digit too many', () => {
    fc.assert(
      fc.property(nano, (amount) => {
        const text = formatUsd(amount);
        expect(text).toMatch(/^(0|[1-9]\d*)(\.\d{0,8}[1-9])?$/);
        expect(JSON.parse(text)).toBeCloseTo(Number(amount) / 1e9);
      }),
    );
  });

  it.each([
    [0n, '0'],
    [1n, '0.000000001'],
    [1_000_000_000n, '1'],
    [12_500_000_000n, '12.5'],
    [9_000_000_000_000_000n, '9000000'],
    [-1n, '-0.000000001'],
    [-1_500_000_000n, '-1.5'],
  ])('%s nano-dollars read %s', (amount, text) => {
    expect(formatUsd(amount)).toBe(text);
  });

  it.each([
    ['0', 0n],
    ['0.0', 0n],
    ['007', 7_000_000_000n],
    ['1e-9', 1n],
    ['1E9', 1_000_000_000_000_000_000n],
    ['1.5e+1', 15_000_000_000n],
    ['0.000000001000', 1n],
    ['1000e-12', 1n],
  ])('%s', (text, expected) => {
    expect(parseNanoUsd(text)).toBe(expected);
    expect(nanoUp(text)).toBe(expected);
  });

  it.each([
    ['0.0000000001', 1n],
    ['1e-10', 1n],
    ['1.0000000001', 1_000_000_001n],
    ['0.999999999999', 1_000_000_000n],
  ])('%s is finer than the unit: refused, or rounded up', (text, up) => {
    expect(parseNanoUsd(text)).toBeNull();
    expect(nanoUp(text)).toBe(up);
  });

  it.each([
    ...[
      '',
      ' ',
      '-1',
      '+1',
      '.5',
      '1.',
      '1,5',
      '1_000',
      '0x10',
      '1e',
      'e1',
      '1e1.5',
      'NaN',
      'Infinity',
      '$5',
      '1 ',
    ],
    ...[
      '1\n',
      '١',
      '１',
      '1e41',
      '1e-41',
      '1e999',
      '1e9999',
      '9'.repeat(65),
      `0.${'0'.repeat(63)}1`,
      'null',
      '0b1',
    ],
  ])('%j is no amount', (text) => {
    for (const parse of [parseNanoUsd, parseAttoUsd, parseFactorPpm]) expect(parse(text)).toBeNull();
  });

  it('no text takes long, or makes a number that does', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9.eE+-]{1,70}$/), (text) => {
        expect((parseAttoUsd(text) ?? 0n).toString().length).toBeLessThan(120);
      }),
    );
  });
});

describe('rounding', () => {
  const factor = fc.bigInt({ min: 1n, max: 10_000_000n });

  it('is up, by less than one unit, and once', () => {
    fc.assert(
      fc.property(nano, factor, (atto, ppm) => {
        const rounded = attoToNanoUp(atto, ppm) * 10n ** 15n;
        expect(rounded).toBeGreaterThanOrEqual(atto * ppm);
        expect(rounded - atto * ppm).toBeLessThan(10n ** 15n);
        const scaled = timesFactorUp(atto, ppm) * 1_000_000n;
        expect(scaled).toBeGreaterThanOrEqual(atto * ppm);
        expect(scaled - atto * ppm).toBeLessThan(1_000_000n);
      }),
    );
  });

  it('leaves whole amounts alone', () => {
    fc.assert(
      fc.property(nano, (amount) => {
        expect(attoToNanoUp(nanoToAtto(amount))).toBe(amount);
      }),
    );
    expect(attoToNanoUp(0n)).toBe(0n);
    expect(attoToNanoUp(1n)).toBe(1n);
  });

  it.each([
    ['1', 1_000_000n],
    ['1.055', 1_055_000n],
    ['0.000001', 1n],
    ['0', null],
    ['0.0000001', null],
    ['-1', null],
  ])('a factor of %s is %s parts per million', (text, ppm) => {
    expect(parseFactorPpm(text)).toBe(ppm);
  });
});
