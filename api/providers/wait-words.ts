import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';

/* Lengths of time as vendors write them in words: `1h6m0.5s`, `2 minutes 30 seconds`, `60 (seconds)`, `3600000 ms`. */

/** Characters of a message that are read: a server may repeat the whole request in it. */
const READ_CHARS = 2_000;

/** The wait that a message names, in milliseconds; `null`: none. */
export function waitInWords(message: string): number | null {
  const text = message.slice(0, READ_CHARS);
  for (const { 0: words, index } of text.matchAll(HEADER_LIKE)) {
    const from = index + words.length;
    const duration = readDuration(text, from);
    if (duration !== null) return duration.ms;
    const [amount = ''] = /^\d{1,9}(?:\.\d{1,9})?/.exec(text.slice(from)) ?? [];
    return Math.ceil(Number(amount) * (IN_MS.test(words) ? 1 : SECOND_MS));
  }
  for (const begin of text.matchAll(WAIT)) {
    const duration = readDuration(text, begin.index + begin[0].length);
    if (duration !== null) return duration.ms;
  }
  const [, waits = ''] = CHINESE_WAIT.exec(text) ?? [];
  let ms: number | null = null;
  for (const [, amount, unit = ''] of waits.matchAll(CHINESE_PART))
    ms = (ms ?? 0) + Number(amount) * (CHINESE_UNITS.get(unit) ?? unitMs(unit.toLowerCase()) ?? SECOND_MS);
  return ms === null ? null : Math.ceil(ms);
}

/** "Try again after 1 hour 30 minutes": the time, of up to four parts, stands before the word for later. */
const CHINESE_WAIT =
  /((?:\d{1,6}(?:\.\d{1,3})? ?(?:秒钟?|分钟?|个?小时|天|ms|secs?|s|mins?|m|hrs?|h) ?){1,4})(?:之|以)?后(?:再|重|后)?(?:试|次)/i;
const CHINESE_PART = /(\d{1,6}(?:\.\d{1,3})?) ?(秒钟?|分钟?|个?小时|天|[a-z]{1,4})/gi;
const CHINESE_UNITS: ReadonlyMap<string, number> = new Map([
  ...(['秒', '秒钟'] as const).map((unit) => [unit, SECOND_MS] as const),
  ...(['分', '分钟'] as const).map((unit) => [unit, MINUTE_MS] as const),
  ...(['小时', '个小时'] as const).map((unit) => [unit, HOUR_MS] as const),
  ['天', DAY_MS],
]);

/** A whole text that is a length of time; `null`: it is another. */
export function durationMs(text: string): number | null {
  const duration = readDuration(text, 0);
  return duration?.end === text.length ? duration.ms : null;
}

/** The milliseconds, rounded up, of the parts that begin at this place, and where they end. */
function readDuration(text: string, from: number): { ms: number; end: number } | null {
  let end = from;
  let ms: number | null = null;
  for (;;) {
    PART.lastIndex = end;
    const [part = '', amount = '', unit = ''] = PART.exec(text) ?? [];
    const partMs = part === '' ? null : unitMs(unit.toLowerCase());
    if (partMs === null) return ms === null ? null : { ms: Math.ceil(ms), end };
    ms = (ms ?? 0) + Number(amount) * partMs;
    end += part.length;
  }
}

/** The name of a header with its value, which is in seconds where it has no unit. */
const HEADER_LIKE = /\bretry[-_]after(?:[-_](?:ms|seconds?))?["']?\s?[:=]\s?["']?(?=\d)/gi;
const IN_MS = /[-_]ms\b/i;
/** Services that are "available 24 hours a day" name no wait. Of `1-2 minutes` the longer one counts. */
const WAIT =
  /(?:(?:try(?:ing)? again|retry(?:ing)?|wait)(?: again)?(?: (?:in|after|for))?|(?:available|resets?)(?: again)? (?:in|after)):? (?:(?:about|approximately|around|at least|another|a further|up to) )?~? ?(?:\d{1,4} ?(?:-|–|to) ?)?(?=\d)/gi;
/** One of the parts of `1h6m0.5s`, of `1h:30m`, of `2 minutes 30 seconds`, of `1 hour and 5 min` or of `60 (seconds)`. */
const PART = /(?:,? and |, |:| )?(\d{1,9}(?:\.\d{1,9})?) ?(?:more |\()?([a-z]{1,12})(?![a-z])(?:\(s\)|\))?/iy;

/** `null`: a word that is no unit of time. */
function unitMs(unit: string): number | null {
  for (const [words, ms] of UNITS) if (words.test(unit)) return ms;
  return null;
}

const UNITS: readonly (readonly [words: RegExp, ms: number])[] = [
  [/^(?:ms|msecs?|millis|milliseconds?)$/, 1],
  [/^(?:s|secs?|seconds?)$/, SECOND_MS],
  [/^(?:m|mins?|minutes?)$/, MINUTE_MS],
  [/^(?:h|hrs?|hours?)$/, HOUR_MS],
  [/^(?:d|days?)$/, DAY_MS],
];
