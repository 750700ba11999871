const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** It holds 1 for each byte at which a scan does something, outside a string: the letters are those of exponents. */
const isStructural = new Uint8Array(256);
for (const code of Buffer.from('"{}[]:,eE')) isStructural[code] = 1;

/**
 * @param text The bytes, a character each, which is searched faster than the bytes.
 * @returns The index of the closing quote, or the last index where there is none. A string with an escaped quote mostly has many, so
 * its rest is read byte by byte: two million searches for the next quote would take five times as long.
 */
export function endOfString(bytes: Buffer, text: string, openedAt: number): number {
  const quoteAt = text.indexOf('"', openedAt + 1);
  if (quoteAt < 0) return text.length - 1;
  let slashes = 0;
  while (bytes[quoteAt - 1 - slashes] === BACKSLASH) slashes++;
  if (slashes % 2 === 0) return quoteAt;
  for (let at = quoteAt + 1; at < bytes.length; at++) {
    const code = bytes[at];
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
  }
  return text.length - 1;
}

/**
 * A loop of its own, because a text may be blanks and digits alone: V8 makes it fast within the first call, and not a long scan.
 *
 * @returns The index of the next byte that is no blank, digit or letter of a value, and no more than `until` or the length.
 */
export function skipPlain(bytes: Buffer, from: number, until: number): number {
  const end = Math.min(until, bytes.length);
  let at = from;
  while (at < end && isStructural[bytes[at] ?? 0] === 0) at++;
  return at;
}

const isSpace = (code: number | undefined): boolean =>
  code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;

/** @returns The index of the next byte that is no blank. */
export function skipSpace(bytes: Buffer, from: number): number {
  let at = from;
  const end = bytes.length;
  while (at < end && isSpace(bytes[at])) at++;
  return at;
}

/** @returns The index behind the last byte before `end` that is no blank. */
export function trimSpace(bytes: Buffer, end: number): number {
  let at = end;
  while (isSpace(bytes[at - 1])) at--;
  return at;
}
