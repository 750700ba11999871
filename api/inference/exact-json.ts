declare global {
  interface JSON {
    /** JSON text of a number, which is written again as it stands. */
    rawJSON(text: string): object;
    isRawJSON(value: unknown): value is { rawJSON: string };
  }
}

/**
 * The same value, of which `JSON.stringify` writes every whole number again as it was: ids of 64 bits are numbers to
 * many, and a float would change their last digits in silence. Fractions are floats to everybody.
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
