const QUOTE = 0x22;
const BACKSLASH = 0x5c;

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
