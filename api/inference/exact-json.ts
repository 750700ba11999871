import { randomBase62 } from '#core/ids.ts';
import { isRecord } from '#core/is-record.ts';
import { endOfString } from './json-list.ts';

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
  const marked = markNumbers(bytes.toString('utf8'), (text) => !isKept(Number(text)));
  const kept = marked === null ? null : unmarked(JSON.parse(marked.text), marked.mark);
  return isRecord(kept) ? { ...kept } : value;
}

const LONG_NUMBER = /\d{16}|\d[eE]\+?\d{2}/;

interface MarkedText {
  text: string;
  mark: string;
}

/**
 * A JSON text in which each number that `changes` picks is a string with a mark before its digits; `null`: it picks none. For
 * text that was parsed before. A parse of these strings takes a third of the time of a parse that shows each number's source.
 */
function markNumbers(text: string, changes: (number: string) => boolean): MarkedText | null {
  // Nobody can guess it, so no text of the caller's is taken for a marked number.
  const mark = randomBase62(24);
  const parts: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const quoteAt = text.indexOf('"', at);
    const end = quoteAt < 0 ? text.length : quoteAt;
    // Numbers stand between strings. The pattern sees one gap at a time, so that no search goes on into what follows.
    if (end - at >= SHORTEST_CHANGED) {
      for (const { 0: number, index } of text.slice(at, end).matchAll(NUMBER)) {
        if (number.length < SHORTEST_CHANGED || !changes(number)) continue;
        parts.push(text.slice(from, at + index), `"${mark}${number}"`);
        from = at + index + number.length;
      }
    }
    at = quoteAt < 0 ? end : endOfString(text, quoteAt) + 1;
  }
  return parts.length === 0 ? null : { text: parts.join('') + text.slice(from), mark };
}

/** `1e22` is the shortest number that a float prints otherwise as a whole one. */
const SHORTEST_CHANGED = 4;
const NUMBER = /-?\d[\d.eE+-]*/g;

/** The same value, changed in place, with raw numbers for marked strings. */
function unmarked(value: unknown, mark: string): unknown {
  if (typeof value === 'string')
    return value.startsWith(mark) ? JSON.rawJSON(value.slice(mark.length)) : value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) value[at] = unmarked(value[at], mark);
  } else if (isRecord(value)) {
    // Every member is there already, so an assignment makes none, not even of `__proto__`.
    for (const key of Object.keys(value)) value[key] = unmarked(value[key], mark);
  }
  return value;
}

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
