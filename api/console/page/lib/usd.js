/*
 * Most amounts come as exact decimal strings and stay exact: they are cut into digits for the eye, and added up as whole
 * nano-dollars. Only heights of bars are numbers.
 */

const NANO_DIGITS = 9;
const CENT = 10_000_000n;

/** @param {string} usd */
export function toNano(usd) {
  const [, sign = '', whole = '0', fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(usd) ?? [];
  const nano = BigInt(whole + fraction.padEnd(NANO_DIGITS, '0').slice(0, NANO_DIGITS));
  return sign === '-' ? -nano : nano;
}

/** What comes as a JSON number of dollars. @param {number} usd */
export const numberToUsd = (usd) => fromNano(BigInt(Math.round(usd * 1e9)));

/** @param {bigint} nano */
export function fromNano(nano) {
  const digits = String(nano < 0n ? -nano : nano).padStart(NANO_DIGITS + 1, '0');
  const fraction = digits.slice(-NANO_DIGITS).replace(/0+$/, '');
  return `${nano < 0n ? '-' : ''}${digits.slice(0, -NANO_DIGITS)}${fraction === '' ? '' : `.${fraction}`}`;
}

/**
 * The digits that count, and the rest, which is shown smaller: `$1,234.56` and `789`. Below a cent all of them count.
 *
 * @param {string} usd
 * @returns {{ main: string, rest: string, fine: boolean }}
 */
export function splitUsd(usd) {
  const nano = toNano(usd);
  const [whole = '0', fraction = ''] = fromNano(nano < 0n ? -nano : nano).split('.');
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',');
  const digits = fraction.padEnd(2, '0');
  return {
    main: `${nano < 0n ? '−' : ''}$${grouped}.${digits.slice(0, 2)}`,
    rest: digits.slice(2),
    fine: nano > -CENT && nano < CENT,
  };
}

/** @param {string} usd */
export function usdText(usd) {
  const { main, rest } = splitUsd(usd);
  return main + rest;
}

/**
 * How much of a whole, from 0 to 1, for the width of a bar.
 *
 * @param {bigint} part
 * @param {bigint} whole
 */
export function shareOf(part, whole) {
  if (whole <= 0n || part <= 0n) return 0;
  return part >= whole ? 1 : Number((part * 10_000n) / whole) / 10_000;
}
