/**
 * Money is a whole number of nano-dollars in a `bigint`. Prices may be finer: they are whole numbers of
 * atto-dollars (1e-18 USD), so that one call's cost is summed exactly and rounded once, up, to the nano-dollar.
 * Nothing here, or anywhere money passes, goes through a float.
 */
export type NanoUsd = bigint;
export type AttoUsd = bigint;

const ATTO_PER_NANO = 1_000_000_000n;
/** A factor that changes nothing: no margin. */
export const FACTOR_ONE_PPM = 1_000_000n;
const NANO_DIGITS = 9;
const ATTO_DIGITS = 18;
/** A decimal text longer than this is refused before it becomes a large BigInt. */
const DECIMAL_CHARS_MAX = 64;
const EXPONENT_MAX = 40;

const DECIMAL = /^(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d{1,3}))?$/;

type Rounding = 'up' | 'exact';

/** `null` when the text is no non-negative decimal, or (with `exact`) has more digits than the unit holds. */
function parseDecimal(text: string, digits: number, rounding: Rounding): bigint | null {
  if (text.length > DECIMAL_CHARS_MAX) return null;
  const match = DECIMAL.exec(text);
  if (match === null) return null;
  const [, whole = '', fraction = '', exponentText = '0'] = match;
  const exponent = Number(exponentText);
  if (Math.abs(exponent) > EXPONENT_MAX) return null;
  const scale = digits + exponent - fraction.length;
  const value = BigInt(whole + fraction);
  if (scale >= 0) return value * powerOfTen(scale);
  const divisor = powerOfTen(-scale);
  const quotient = value / divisor;
  if (value % divisor === 0n) return quotient;
  return rounding === 'up' ? quotient + 1n : null;
}

/** Cached, because raising a `BigInt` costs more than the rest of reading a price. */
const POWERS_OF_TEN = Array.from(
  { length: DECIMAL_CHARS_MAX + EXPONENT_MAX },
  (_, power) => 10n ** BigInt(power),
);
const powerOfTen = (power: number): bigint => POWERS_OF_TEN[power] ?? 10n ** BigInt(power);

/** Dollars as a decimal text (`"12.5"`, `1e-7`) to nano-dollars; more than nine decimals is `null`, never rounded. */
export const parseNanoUsd = (text: string): NanoUsd | null => parseDecimal(text, NANO_DIGITS, 'exact');

/** A price in dollars as a decimal text to atto-dollars, rounded up beyond eighteen decimals. */
export const parseAttoUsd = (text: string): AttoUsd | null => parseDecimal(text, ATTO_DIGITS, 'up');

/** The same of a value that a caller sent, as a number or a text; `null`: it is neither, or no price. */
export const readAttoUsd = (value: unknown): AttoUsd | null =>
  typeof value === 'number' || typeof value === 'string' ? parseAttoUsd(String(value)) : null;

/** A price that is written in the code. Text that is not a decimal is a bug, so it throws. */
export function attoUsd(text: string): AttoUsd {
  const atto = parseAttoUsd(text);
  if (atto === null) throw new Error(`A price in the code is no decimal: ${text}`);
  return atto;
}

/**
 * Rounded up, once, with the operator's margin inside: the gateway never charges a fraction of a nano-dollar less
 * than the cost.
 */
export function attoToNanoUp(atto: AttoUsd, factorPpm: bigint = FACTOR_ONE_PPM): NanoUsd {
  const divisor = ATTO_PER_NANO * FACTOR_ONE_PPM;
  return (atto * factorPpm + divisor - 1n) / divisor;
}

export const nanoToAtto = (nano: NanoUsd): AttoUsd => nano * ATTO_PER_NANO;

/**
 * An exact decimal: `0`, `12.5`, `0.000000001`. It is a valid JSON number as it stands, and the text of every
 * `_usd` field.
 */
export function formatUsd(nano: NanoUsd): string {
  return formatDecimal(nano, NANO_DIGITS);
}

export function formatAttoUsd(atto: AttoUsd): string {
  return formatDecimal(atto, ATTO_DIGITS);
}

function formatDecimal(value: bigint, digits: number): string {
  if (value < 0n) return `-${formatDecimal(-value, digits)}`;
  const text = value.toString().padStart(digits + 1, '0');
  const point = text.length - digits;
  let end = text.length;
  while (end > point && text.charCodeAt(end - 1) === ZERO) end--;
  return end === point ? text.slice(0, point) : `${text.slice(0, point)}.${text.slice(point, end)}`;
}

const ZERO = 0x30;

/**
 * The operator's margin, or any other factor, as parts per million, so that `price × factor` stays an integer.
 * `null` when the text is no positive decimal with at most six decimals.
 */
export function parseFactorPpm(text: string): bigint | null {
  const ppm = parseDecimal(text, 6, 'exact');
  return ppm === null || ppm === 0n ? null : ppm;
}

/** Rounded up, in the operator's favour by less than one unit of `value`. */
export function timesFactorUp(value: bigint, factorPpm: bigint): bigint {
  return (value * factorPpm + FACTOR_ONE_PPM - 1n) / FACTOR_ONE_PPM;
}

export const minBigint = (a: bigint, b: bigint): bigint => (a < b ? a : b);
export const maxBigint = (a: bigint, b: bigint): bigint => (a > b ? a : b);
