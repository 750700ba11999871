import { isRecord } from '#core/is-record.ts';
import { NumberMarks } from './number-marks.ts';

declare global {
  interface JSON {
    /** JSON text of a number, which is written again as it stands. */
    rawJSON(text: string): object;
    isRawJSON(value: unknown): value is { rawJSON: string };
  }
}

/**
 * A JSON text whose numbers `JSON.stringify` writes again digit by digit: `1.10`, `1e400` and 20 digits stay what they are. A
 * number that a float prints otherwise is an object to the code in between, so read numbers with `plainNumber`.
 * Throws a `SyntaxError` where the text is no JSON.
 */
export function parseExact(text: string): unknown {
  if (!mayBeInexact(text)) return JSON.parse(text);
  return text.length <= SHORT_CHARS ? JSON.parse(text, keepSource) : parseMarked(Buffer.from(text));
}

/** Whether a number of a JSON text may have other digits once it is parsed and printed again. */
export const mayBeInexact = (text: string): boolean =>
  HAS_LONG_NUMBER.test(text) && INEXACT_NUMBER.test(text);

/** A parse that shows each number's source takes three times as long as this one, which counts where there are thousands. */
const SHORT_CHARS = 4_096;

function parseMarked(bytes: Buffer): unknown {
  const marks = new NumberMarks();
  const marked = marks.parse(bytes);
  return marked === null ? JSON.parse(bytes.toString('utf8')) : withRawNumbers(marked.value, marks);
}

/** The same value, changed in place, with raw numbers for those of the marked ones that a float prints otherwise. */
function withRawNumbers(value: unknown, marks: NumberMarks): unknown {
  if (typeof value === 'string') {
    const text = marks.numberIn(value);
    return text === null ? value : numberOf(text);
  }
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) value[at] = withRawNumbers(value[at], marks);
  } else if (isRecord(value)) {
    // Every member is there already, so an assignment makes none, not even of `__proto__`.
    for (const key of Object.keys(value)) value[key] = withRawNumbers(value[key], marks);
  }
  return value;
}

function numberOf(text: string): unknown {
  const number = Number(text);
  return JSON.stringify(number) === text ? number : JSON.rawJSON(text);
}

/** A number as such, whichever way it was parsed; any other value as it is. */
export const plainNumber = (value: unknown): unknown =>
  JSON.isRawJSON(value) ? Number(value.rawJSON) : value;

/**
 * Numbers that a float may print otherwise: those of 16 digits, very small ones, minus zero, those that end in a zero behind the
 * point, those with an exponent. A text inside a string may look alike, which costs only the slower parse.
 */
const INEXACT_NUMBER = /[:[,\s](?:-0[\],}\s]|-?(?:[\d.]{16}|0\.0{6}|\d+\.\d*0(?!\d)|[\d.]+[eE]))/;

/** The first characters of such numbers alone: in a text of words the search for them takes a tenth of the time. */
const HAS_LONG_NUMBER = /\d(?:[.eE]|\d{15})|-0/;

const keepSource = (_key: string, value: unknown, ...[text]: { source?: string }[]): unknown =>
  typeof value === 'number' && text?.source !== undefined && JSON.stringify(value) !== text.source
    ? JSON.rawJSON(text.source)
    : value;
