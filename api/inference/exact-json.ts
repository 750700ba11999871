declare global {
  interface JSON {
    /** JSON text of a number, which is written again as it stands. */
    rawJSON(text: string): object;
    isRawJSON(value: unknown): value is { rawJSON: string };
  }
}

/**
 * A request's value, of which `JSON.stringify` writes every whole number again as it was: many callers keep ids of 64 bits as
 * numbers, and a float would change their last digits. Fractions stay plain numbers, because the gateway reads some of them.
 */
export function keepDigits(
  bytes: Buffer,
  value: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (!LONG_NUMBER.test(bytes.toString('latin1'))) return value;
  const kept: unknown = JSON.parse(bytes.toString('utf8'), keepNumber);
  return typeof kept === 'object' && kept !== null ? { ...kept } : value;
}

const LONG_NUMBER = /\d{16}|\d[eE]\+?\d{2}/;

const keepNumber = (_key: string, value: unknown, ...[text]: { source?: string }[]): unknown =>
  typeof value === 'number' && text?.source !== undefined && !isKept(value)
    ? JSON.rawJSON(text.source)
    : value;

const isKept = (value: number): boolean =>
  Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));

/**
 * A JSON text whose numbers `JSON.stringify` writes again digit by digit: `1.10`, `1e400` and 20 digits stay what they are. A
 * number that a float prints otherwise is an object to the code in between, so read numbers with `plainNumber`.
 * Throws a `SyntaxError` where the text is no JSON.
 */
export const parseExact = (text: string): unknown =>
  INEXACT_NUMBER.test(text) ? JSON.parse(text, keepSource) : JSON.parse(text);

/** The same of a value that was parsed already: it is parsed again only where a number would change. */
export function exactValue(
  bytes: Buffer,
  value: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (!INEXACT_NUMBER.test(bytes.toString('latin1'))) return value;
  const exact: unknown = JSON.parse(bytes.toString('utf8'), keepSource);
  return typeof exact === 'object' && exact !== null ? { ...exact } : value;
}

/** A number as such, whichever way it was parsed; any other value as it is. */
export const plainNumber = (value: unknown): unknown =>
  JSON.isRawJSON(value) ? Number(value.rawJSON) : value;

/**
 * Numbers that a float may print otherwise: those of 16 digits, very small ones, minus zero, those that end in a zero behind the
 * point, those with an exponent. A text inside a string may look alike, which costs only the slower parse.
 */
const INEXACT_NUMBER = /[:[,\s](?:-0[\],}\s]|-?(?:[\d.]{16}|0\.0{6}|\d+\.\d*0(?!\d)|[\d.]+[eE]))/;

const keepSource = (_key: string, value: unknown, ...[text]: { source?: string }[]): unknown =>
  typeof value === 'number' && text?.source !== undefined && JSON.stringify(value) !== text.source
    ? JSON.rawJSON(text.source)
    : value;
