import type { Steps, Work } from '#core/steps.ts';

const BACKSLASH = 0x5c;
const SMALL_U = 0x75;
const FIRST_HALF = 0xd800;
const SECOND_HALF = 0xdc00;
const BEHIND_HALVES = 0xe000;
/** The length of `\\u1234`. */
const ESCAPE_BYTES = 6;
/** The digits of the sign for a character that cannot be read. */
const REPLACEMENT = Buffer.from('fffd');
const ZERO = 0x30;
const NINE = 0x39;
const SMALL_A = 0x61;
const SMALL_D = 0x64;
const LOWER_BIT = 0x20;
/** A client that cuts texts inside an emoji leaves one half a text. They pass as they were sent. */
const HALVES_MAX = 10_000;

/** One turn of the event loop searches this many bytes. */
const PIECE_BYTES = 1024 * 1024;

/**
 * A JSON text without escapes of half a character, where it has more of them than any conversation: V8 takes an eighth of a microsecond
 * to print each, and four megabytes hold 700,000. Returns the same text where it has fewer.
 */
export const wholeCharacters = (bytes: Buffer, halvesMax = HALVES_MAX): Work<Buffer> =>
  bytes.length < halvesMax * ESCAPE_BYTES || !bytes.includes(BACKSLASH)
    ? bytes
    : replaceAllHalves(bytes, halvesMax);

function* replaceAllHalves(bytes: Buffer, halvesMax: number): Steps<Buffer> {
  const whole = Buffer.from(bytes);
  let halves = 0;
  for (let at = 0; at < bytes.length; ) {
    const piece = replaceHalves(whole, at);
    halves += piece.halves;
    at = piece.end;
    yield 'whole characters';
  }
  return halves > halvesMax ? whole : bytes;
}

/** Writes the sign for a character that cannot be read over each half in a piece of the text. Its end is never inside an escape. */
function replaceHalves(text: Buffer, from: number): { halves: number; end: number } {
  let halves = 0;
  let at = from;
  for (const end = Math.min(text.length, from + PIECE_BYTES); at < end; at++) {
    if (text[at] !== BACKSLASH || text[++at] !== SMALL_U) continue;
    const code = codeAt(text, at);
    if (code < FIRST_HALF || code >= BEHIND_HALVES) continue;
    const next = code < SECOND_HALF && text[at + 5] === BACKSLASH ? codeAt(text, at + ESCAPE_BYTES) : -1;
    if (next >= SECOND_HALF && next < BEHIND_HALVES) {
      at += ESCAPE_BYTES;
      continue;
    }
    halves++;
    for (let digit = 0; digit < REPLACEMENT.length; digit++) text[at + 1 + digit] = REPLACEMENT[digit] ?? 0;
  }
  return { halves, end: at };
}

/** The code in an escape whose `u` stands at this place; -1: there is none. Most escapes are read no further than `d`. */
function codeAt(bytes: Buffer, at: number): number {
  if (bytes[at] !== SMALL_U || ((bytes[at + 1] ?? 0) | LOWER_BIT) !== SMALL_D) return -1;
  let code = 0;
  for (let digitAt = at + 1; digitAt <= at + 4; digitAt++) code = code * 16 + hexDigit(bytes[digitAt] ?? 0);
  return code;
}

/** Letters follow each other from `A` and from `a`, and differ by one bit. */
const hexDigit = (code: number): number => (code <= NINE ? code - ZERO : (code | LOWER_BIT) - SMALL_A + 10);
