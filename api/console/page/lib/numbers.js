const whole = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** @param {number} value */
export const count = (value) => whole.format(value);

/** @param {number} value */
export const shortCount = (value) => short.format(value);

/** `1 call`, `2 calls`. @param {number} value @param {string} noun */
export const counted = (value, noun) => `${count(value)} ${noun}${value === 1 ? '' : 's'}`;
