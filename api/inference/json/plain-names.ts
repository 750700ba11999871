import { answerBounds, scanJsonObject } from './json-object.ts';
import { parseRecord } from './parse-record.ts';

/** The beginning of every escaped letter that a plain name may have. */
export const ESCAPE_NEEDLE = Buffer.from('\\u00');

/**
 * A provider's record in which no key is spelled with escapes: `"\u0075sage"` is `usage` to every parser, so it must be to whatever
 * looks for a name's bytes. Every other record is the same buffer.
 */
export function withPlainNames(data: Buffer): Buffer {
  if (!hasEscapedLetter(data, 0, data.length)) return data;
  const scanned = scanJsonObject(data, answerBounds);
  if (typeof scanned === 'string' || scanned.disguisedKey === null) return data;
  const value = parseRecord(data);
  return value === null ? data : Buffer.from(JSON.stringify(value));
}

/** Whether an escape between two places may be a letter of a plain name. Most escapes are quotes, brackets or other scripts. */
export function hasEscapedLetter(bytes: Buffer, from: number, to: number): boolean {
  let at = bytes.indexOf(ESCAPE_NEEDLE, from);
  while (at >= 0 && at < to) {
    const digit = bytes[at + ESCAPE_NEEDLE.length] ?? 0;
    if (digit >= FOUR && digit <= SEVEN) return true;
    at = bytes.indexOf(ESCAPE_NEEDLE, at + ESCAPE_NEEDLE.length);
  }
  return false;
}

const FOUR = 0x34;
const SEVEN = 0x37;
