import { randomBase62 } from '#core/ids.ts';
import { parseInSteps } from './parse-in-steps.ts';

const TAB = 0x09;
const LINE_END = 0x0a;
const RETURN = 0x0d;
const SPACE = 0x20;
const QUOTE = 0x22;
const PLUS = 0x2b;
const MINUS = 0x2d;
const POINT = 0x2e;
const ZERO = 0x30;
const NINE = 0x39;
const COLON = 0x3a;
const LARGE_E = 0x45;
const BACKSLASH = 0x5c;
const SMALL_E = 0x65;
const MARK_LETTER = 0x7f;
/** Every mark begins with this character. */
export const MARK_BEGINNING = String.fromCharCode(MARK_LETTER);

/** Every float prints a whole number of so many digits as it was written. */
const SAFE_DIGITS = 15;
/** Many short runs are copied faster one byte at a time than by a call of `copy` for each. */
const COPIED_RUN_BYTES = 128;

/** The length of a text that is parsed in one turn of the event loop. */
const LONG_BYTES = 64 * 1024;

/**
 * Carries numbers through a parse and a print with every digit, at a cost that grows only with the text. Callers keep ids of 64
 * bits as numbers, and a float would change their last digits. A number that a float might print otherwise becomes a string with a
 * mark before its digits, and `print` removes the mark and the quotes again. `JSON.rawJSON` would do the same, but it makes and
 * prints an object for each of the 100,000 numbers of a body. The code between `parse` and `print` sees strings, so use
 * it only for values that the gateway passes on unread.
 */
export class NumberMarks {
  #mark: string | null = null;

  /** The value of a JSON text with marked numbers; `null`: no number of the text needs a mark. Throws where it is no JSON. */
  parse(bytes: Buffer): { value: unknown } | null {
    const places = findInexactNumbers(bytes);
    return places === null ? null : { value: JSON.parse(this.#withMarks(bytes, places).toString('utf8')) };
  }

  /** The same for a large text, in steps that are each short enough for one turn of the event loop. */
  *parseInSteps(bytes: Buffer): Generator<string, { value: unknown } | null> {
    const places = findInexactNumbers(bytes);
    if (places === null) return null;
    yield 'find numbers';
    const marked = this.#withMarks(bytes, places);
    yield 'mark numbers';
    return {
      value: marked.length < LONG_BYTES ? JSON.parse(marked.toString('utf8')) : yield* parseInSteps(marked),
    };
  }

  #withMarks(bytes: Buffer, places: readonly number[]): Buffer {
    // A caller cannot guess it, so no text of a caller's is taken for a marked number.
    this.#mark ??= MARK_BEGINNING + randomBase62(11);
    return markNumbers(bytes, places, this.#mark);
  }

  /** The digits of a marked number; `null`: the text is no marked number. */
  numberIn(text: string): string | null {
    return this.#mark !== null && text.startsWith(this.#mark) ? text.slice(this.#mark.length) : null;
  }

  /** The JSON text of a value that may hold marked numbers, or JSON texts of such values. */
  print(value: unknown): Buffer {
    const bytes = Buffer.from(JSON.stringify(value));
    return this.#mark === null ? bytes : unmarkNumbers(bytes, Buffer.from(this.#mark));
  }
}

/**
 * Returns the begin and end, in turn, of each number that a float might print otherwise: long ones, minus zero, those with a
 * point or an exponent. `null`: there are none.
 *
 * A text is JSON with its marks exactly if it is JSON without them. A string may stand wherever a number may, and in one place
 * more, before a colon, so a number there gets no mark. In every other place a string that JSON allows is a whole number by
 * itself, because JSON wants a comma, a bracket or the end of the text on both of its sides.
 */
function findInexactNumbers(bytes: Buffer): number[] | null {
  const places: number[] = [];
  const end = bytes.length;
  for (let at = 0; at < end; ) {
    const code = bytes[at] ?? 0;
    if (code === QUOTE) {
      at = endOfString(bytes, at + 1);
    } else if (code === MINUS || isDigit(code)) {
      const digitsAt = code === MINUS ? at + 1 : at;
      const wholeEndsAt = endOfWhole(bytes, digitsAt);
      const endsAt =
        wholeEndsAt > digitsAt ? endOfExponent(bytes, endOfFraction(bytes, wholeEndsAt)) : digitsAt;
      const isShort = endsAt === wholeEndsAt && endsAt - at <= SAFE_DIGITS;
      const isMinusZero = code === MINUS && bytes[digitsAt] === ZERO;
      if (endsAt === digitsAt || (isShort && !isMinusZero)) at = endsAt;
      else {
        const nextAt = endOfBlanks(bytes, endsAt);
        if (bytes[nextAt] !== COLON) places.push(at, endsAt);
        at = nextAt;
      }
    } else at++;
  }
  return places.length === 0 ? null : places;
}

/** Behind the closing quote of a string whose first letter is at `from`. */
function endOfString(bytes: Buffer, from: number): number {
  let at = from;
  for (; at < bytes.length; at++) {
    const code = bytes[at];
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH) at++;
  }
  return at;
}

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

function endOfDigits(bytes: Buffer, from: number): number {
  let at = from;
  while (isDigit(bytes[at] ?? 0)) at++;
  return at;
}

/** Behind what JSON takes for blanks. Most numbers have none behind them. */
function endOfBlanks(bytes: Buffer, from: number): number {
  let at = from;
  for (let code = bytes[at]; code === SPACE || code === LINE_END || code === TAB || code === RETURN; )
    code = bytes[++at];
  return at;
}

/** No digit stands behind a leading zero. */
const endOfWhole = (bytes: Buffer, from: number): number =>
  bytes[from] === ZERO ? from + 1 : endOfDigits(bytes, from);

const endOfFraction = (bytes: Buffer, from: number): number =>
  bytes[from] === POINT && isDigit(bytes[from + 1] ?? 0) ? endOfDigits(bytes, from + 1) : from;

function endOfExponent(bytes: Buffer, from: number): number {
  if (bytes[from] !== SMALL_E && bytes[from] !== LARGE_E) return from;
  const signed = bytes[from + 1] === PLUS || bytes[from + 1] === MINUS;
  const digitsAt = from + (signed ? 2 : 1);
  return isDigit(bytes[digitsAt] ?? 0) ? endOfDigits(bytes, digitsAt) : from;
}

function markNumbers(bytes: Buffer, places: readonly number[], mark: string): Buffer {
  const opening = Buffer.from(`"${mark}`);
  const out = Buffer.allocUnsafe(bytes.length + (places.length / 2) * (opening.length + 1));
  let from = 0;
  let to = 0;
  for (let index = 0; index < places.length; index += 2) {
    const startsAt = places[index] ?? 0;
    const endsAt = places[index + 1] ?? 0;
    to = copyBytes(bytes, from, startsAt, out, to);
    to = copyBytes(opening, 0, opening.length, out, to);
    to = copyBytes(bytes, startsAt, endsAt, out, to);
    out[to++] = QUOTE;
    from = endsAt;
  }
  return out.subarray(0, copyBytes(bytes, from, bytes.length, out, to));
}

function copyBytes(bytes: Buffer, from: number, until: number, out: Buffer, to: number): number {
  if (until - from > COPIED_RUN_BYTES) return to + bytes.copy(out, to, from, until);
  let at = to;
  for (let each = from; each < until; each++) out[at++] = bytes[each] ?? 0;
  return at;
}

/** Changes the bytes in place: what is left is shorter. The quotes of a text inside of a text have a backslash before them. */
function unmarkNumbers(bytes: Buffer, mark: Buffer): Buffer {
  let at = bytes.indexOf(mark);
  if (at < 0) return bytes;
  let to = at;
  while (at < bytes.length) {
    to -= bytes[to - 2] === BACKSLASH ? 2 : 1;
    const endsAt = endOfNumber(bytes, at + mark.length);
    to = copyBytes(bytes, at + mark.length, endsAt, bytes, to);
    const behind = endsAt + (bytes[endsAt] === BACKSLASH ? 2 : 1);
    at = nextMark(bytes, behind, mark);
    to = copyBytes(bytes, behind, at, bytes, to);
  }
  return bytes.subarray(0, to);
}

/** The index of the quote behind a marked number, or of the backslash before that. */
function endOfNumber(bytes: Buffer, from: number): number {
  let at = from;
  while (bytes[at] !== QUOTE && bytes[at] !== BACKSLASH) at++;
  return at;
}

/** The index of the next mark, or the length. Most are near, and a search of V8's costs more than so many bytes. */
function nextMark(bytes: Buffer, from: number, mark: Buffer): number {
  const near = Math.min(from + COPIED_RUN_BYTES, bytes.length);
  for (let at = from; at < near; at++) if (bytes[at] === MARK_LETTER && isAt(bytes, at, mark)) return at;
  const found = bytes.indexOf(mark, near);
  return found < 0 ? bytes.length : found;
}

function isAt(bytes: Buffer, at: number, mark: Buffer): boolean {
  for (let index = 0; index < mark.length; index++) if (bytes[at + index] !== mark[index]) return false;
  return true;
}
