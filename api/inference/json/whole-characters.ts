const BACKSLASH = 0x5c;
const SMALL_U = 0x75;
const FIRST_HALF = 0xd800;
const SECOND_HALF = 0xdc00;
const BEHIND_HALVES = 0xe000;
/** The length of `\\u1234`. */
const ESCAPE_BYTES = 6;
/** Stands for a character that cannot be read. */
const REPLACEMENT = Buffer.from('\\ufffd');
const MAY_HOLD_HALVES = [Buffer.from('\\ud'), Buffer.from('\\uD')];

/**
 * A JSON text without escapes of half a character, as a client writes them that cuts a text in the middle of an emoji. No vendor takes
 * them, and V8 takes an eighth of a microsecond to print each. Returns the same text where it has none.
 */
export function wholeCharacters(bytes: Buffer): Buffer {
  if (!MAY_HOLD_HALVES.some((half) => bytes.includes(half))) return bytes;
  let whole = bytes;
  for (let at = bytes.indexOf(BACKSLASH); at >= 0 && at < bytes.length; at = nextEscape(bytes, at)) {
    const code = codeAt(bytes, at);
    if (code < FIRST_HALF || code >= BEHIND_HALVES) continue;
    const next = code < SECOND_HALF ? codeAt(bytes, at + ESCAPE_BYTES) : -1;
    if (next >= SECOND_HALF && next < BEHIND_HALVES) {
      at += ESCAPE_BYTES;
      continue;
    }
    if (whole === bytes) whole = Buffer.from(bytes);
    REPLACEMENT.copy(whole, at);
  }
  return whole;
}

/** Escapes often follow each other, where a search for the next would be slower than a look. */
function nextEscape(bytes: Buffer, at: number): number {
  const behind = at + (bytes[at + 1] === SMALL_U ? ESCAPE_BYTES : 2);
  return bytes[behind] === BACKSLASH ? behind : bytes.indexOf(BACKSLASH, behind);
}

/** The code of the escape `\\u1234` at this place; -1: there is none. */
function codeAt(bytes: Buffer, at: number): number {
  if (bytes[at] !== BACKSLASH || bytes[at + 1] !== SMALL_U) return -1;
  let code = 0;
  for (let digitAt = at + 2; digitAt < at + ESCAPE_BYTES; digitAt++)
    code = code * 16 + hexDigit(bytes[digitAt] ?? 0);
  return code;
}

/** Letters follow each other from `A` and from `a`, and differ by one bit. */
const hexDigit = (code: number): number => (code <= 0x39 ? code - 0x30 : (code | 0x20) - 0x57);
