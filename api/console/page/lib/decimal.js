/*
 * Prices and sizes of markets are exact decimal texts without trailing zeros. In a column each has as many digits as its
 * market's step.
 */

/** How many digits behind the point a step has. @param {string} step */
export const placesOf = (step) => step.split('.')[1]?.length ?? 0;

/** What has more digits than the step keeps them. @param {string} decimal @param {number} places */
export function withPlaces(decimal, places) {
  const [whole = '0', fraction = ''] = decimal.split('.');
  const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, ',');
  const digits = fraction.padEnd(places, '0');
  return digits === '' ? grouped : `${grouped}.${digits}`;
}
