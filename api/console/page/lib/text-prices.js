import { count } from './numbers.js';

const MILLION_DIGITS = 6;

/** @param {import('../client/records.d.ts').Model} model */
export function textPrices({ pricing, context_length: context }) {
  const { prompt, completion } = pricing;
  return `$${perMillion(prompt)} in, $${perMillion(completion)} out a million tokens · ${count(context)} tokens of context`;
}

/** Moves the point of a price of one token, digit by digit. @param {string} usd */
function perMillion(usd) {
  const [whole = '0', fraction = ''] = usd.split('.');
  const digits = fraction.padEnd(MILLION_DIGITS, '0');
  const moved = `${whole}${digits.slice(0, MILLION_DIGITS)}`.replace(/^0+(?=\d)/, '');
  const rest = digits.slice(MILLION_DIGITS).replace(/0+$/, '');
  return `${moved}${rest === '' ? '' : `.${rest.padEnd(2, '0')}`}`;
}
