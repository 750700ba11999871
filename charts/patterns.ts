/** What a text of the values has to look like. Helm reads patterns as RE2: no look-ahead. */
const OCTET = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const V4 = `(${OCTET}\\.){3}${OCTET}`;
const GROUP = '[0-9A-Fa-f]{1,4}';
const GROUPS = `${GROUP}(:${GROUP}){0,6}`;
const V6 = `((${GROUP}:){7}${GROUP}|(${GROUPS})?::(${GROUPS}|(${GROUP}:){0,5}${V4})?)`;
const SOME_BITS_V4 = '(3[0-2]|[12][0-9]|[1-9])';
const SOME_BITS_V6 = '(12[0-8]|1[01][0-9]|[1-9][0-9]|[1-9])';
const BITS_V4 = `(0|${SOME_BITS_V4})`;
const BITS_V6 = `(0|${SOME_BITS_V6})`;
const PORT = '(6553[0-5]|655[0-2][0-9]|65[0-4][0-9]{2}|6[0-4][0-9]{3}|[1-5][0-9]{4}|[1-9][0-9]{0,3})';
const NAME_OF_HOST = '[0-9A-Za-z]([0-9A-Za-z._-]*[0-9A-Za-z])?';
const BRACKETED = '\\[[0-9A-Fa-f:.]+\\]';
/** A name that ends in a dot is whole: no search domain is tried. */
const HOST = `(${NAME_OF_HOST}\\.?|${BRACKETED})`;
const IMAGE_HOST = `(${NAME_OF_HOST}|${BRACKETED})`;
const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const IMAGE_PART = '[a-z0-9]+([._-]+[a-z0-9]+)*';
const QUALIFIED = '[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?';

const whole = (pattern: string): string => `^${pattern}$`;
const orEmpty = (pattern: string): string => `^(${pattern})?$`;

export const patterns = {
  /** Of most objects, Secrets among them. */
  name: orEmpty(`${LABEL}(\\.${LABEL})*`),
  hostName: whole(`(\\*\\.)?${LABEL}(\\.${LABEL})*`),
  noHostName: whole('[0-9.]+'),
  metadataKey: whole(`(${LABEL}(\\.${LABEL})*/)?${QUALIFIED}`),
  labelValue: orEmpty(QUALIFIED),
  networkV4: whole(`${V4}/${BITS_V4}`),
  networkV6: whole(`${V6}/${BITS_V6}`),
  /** An exception has to be smaller than that of which it is one: all there is. */
  exceptV4: whole(`${V4}/${SOME_BITS_V4}`),
  exceptV6: whole(`${V6}/${SOME_BITS_V6}`),
  addressOrNetwork: whole(`(${V4}(/${BITS_V4})?|${V6}(/${BITS_V6})?)`),
  hostAndPort: whole(`${HOST}:${PORT}`),
  redisAddress: whole(`rediss?://${HOST}(:${PORT})?(/[0-9]*)?`),
  /** User and query are where secrets hide. */
  webAddress: whole(`https?://${HOST}(:${PORT})?(/[^?#\\s]*)?`),
  registry: orEmpty(`${IMAGE_HOST}(:${PORT})?(/${IMAGE_PART})*/?`),
  /** Its tag and digest are values of their own. */
  repository: whole(`(${IMAGE_HOST}(:${PORT})?/)?${IMAGE_PART}(/${IMAGE_PART})*`),
};
