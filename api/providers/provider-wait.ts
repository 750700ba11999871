import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { isRecord } from '#core/is-record.ts';
import { UPSTREAM_TEXT_CHARS_MAX } from '#core/limits.ts';
import { saysWait } from './error-sentences.ts';

/* Waits that providers name, in milliseconds; `null`: none. Each vendor has a place and a unit of its own. */

type Headers = Readonly<Record<string, unknown>>;

/**
 * The wait that headers name. Some say it to the millisecond, beside or instead; some say only when a limit that is used up starts
 * again. A date is read by the provider's own clock, where the answer has it.
 *
 * @param headers Names in lower case.
 * @param nowMs Milliseconds since 1970.
 */
export function waitInHeaders(headers: Headers, nowMs: number): number | null {
  const sentAtMs = httpDate(textIn(headers, 'date')) ?? nowMs;
  for (const name of ['retry-after-ms', 'x-ms-retry-after-ms']) {
    const ms = textIn(headers, name);
    if (ms !== null && DECIMAL.test(ms)) return bounded(Number(ms));
  }
  const text = textIn(headers, 'retry-after');
  if (text === null) return waitForReset(headers, sentAtMs);
  if (DECIMAL.test(text)) return bounded(Number(text) * SECOND_MS);
  const untilMs = httpDate(text);
  return untilMs === null ? null : bounded(untilMs - sentAtMs);
}

/** The longest wait for a limit of which nothing is left. */
function waitForReset(headers: Headers, sentAtMs: number): number | null {
  const waits = RESETS.flatMap(([reset, remaining]) => {
    const left = textIn(headers, remaining);
    // One vendor's only limit has no count beside it.
    const isUsedUp = left === null ? reset === 'x-ratelimit-reset' : /^0+(?:\.0+)?$/.test(left);
    const text = textIn(headers, reset);
    return isUsedUp && text !== null ? (waitUntil(text, sentAtMs) ?? []) : [];
  });
  return waits.length === 0 ? null : Math.max(...waits);
}

/** Headers of limits: when one starts again, and how much of it is left. */
const RESETS: readonly (readonly [reset: string, remaining: string])[] = [
  ['x-ratelimit-reset', 'x-ratelimit-remaining'],
  ['ratelimit-reset', 'ratelimit-remaining'],
  ...['requests', 'tokens'].map(
    (kind) => [`x-ratelimit-reset-${kind}`, `x-ratelimit-remaining-${kind}`] as const,
  ),
  ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map(
    (kind) => [`anthropic-ratelimit-${kind}-reset`, `anthropic-ratelimit-${kind}-remaining`] as const,
  ),
];

/** `12`, `0.5`, `1m2.5s`, `120ms`, a time since 1970 in seconds or milliseconds, or an ISO date. */
function waitUntil(text: string, sentAtMs: number): number | null {
  if (DECIMAL_OR_TIME.test(text)) {
    const number = Number(text);
    if (number < LONGEST_WAIT_S) return Math.ceil(number * SECOND_MS);
    const untilMs = number < FIRST_TIME_MS ? number * SECOND_MS : number;
    return bounded(untilMs - sentAtMs);
  }
  if (ISO_DATE.test(text)) return bounded(Date.parse(text) - sentAtMs);
  return durationMs(text);
}

const bounded = (ms: number): number | null =>
  Number.isFinite(ms) && ms <= LONGEST_WAIT_S * SECOND_MS ? Math.max(0, Math.ceil(ms)) : null;

/** A larger number is a time, and no wait. */
const LONGEST_WAIT_S = (32 * DAY_MS) / SECOND_MS;
/** Times in seconds stay below it for thousands of years, and those in milliseconds have long been above. */
const FIRST_TIME_MS = 100_000_000_000;
const DECIMAL = /^\d{1,9}(?:\.\d{1,9})?$/;
const DECIMAL_OR_TIME = /^\d{1,13}(?:\.\d{1,9})?$/;
const ISO_DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{1,9})?(?:Z|[+-]\d{2}:\d{2})$/;

/** `1d`, `6m0s`, `1h2m3.5s`, `120ms`. */
function durationMs(text: string): number | null {
  const found = DURATION.exec(text);
  if (found === null || text === '') return null;
  const [, days = '0', hours = '0', minutes = '0', seconds = '0', ms = '0'] = found;
  const whole = Number(days) * DAY_MS + Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS;
  return bounded(whole + Number(seconds) * SECOND_MS + Number(ms));
}

const DURATION =
  /^(?:(\d{1,4})d)?(?:(\d{1,4})h)?(?:(\d{1,4})m)?(?:(\d{1,6}(?:\.\d{1,9})?)s)?(?:(\d{1,9}(?:\.\d{1,9})?)ms)?$/;

/** The wait that an error itself names: in a member, in headers that a router repeats, or in words. */
export function waitInError(error: Readonly<Record<string, unknown>>, nowMs: number): number | null {
  const { availability, metadata, details } = error;
  for (const place of [error, availability, metadata]) {
    const ms = isRecord(place) ? memberMs(place) : null;
    if (ms !== null) return ms;
  }
  const repeated = isRecord(metadata) && isRecord(metadata.headers) ? inLowerCase(metadata.headers) : {};
  return waitInHeaders(repeated, nowMs) ?? delayIn(details) ?? bounded(saysWait(error) ?? Number.NaN);
}

function memberMs(place: Readonly<Record<string, unknown>>): number | null {
  const ms = place.retry_after_ms ?? place.retryAfterMs;
  if (isWait(ms)) return Math.ceil(ms);
  const seconds = place.retry_after ?? place.retry_after_seconds ?? place.retryAfter;
  return isWait(seconds) ? Math.ceil(seconds * SECOND_MS) : null;
}

const isWait = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= LONGEST_WAIT_S * SECOND_MS;

/** A `retryDelay` such as `34s` among the details. */
function delayIn(details: unknown): number | null {
  for (const info of Array.isArray(details) ? details : []) {
    const delay: unknown = isRecord(info) ? info.retryDelay : null;
    const ms = typeof delay === 'string' ? durationMs(delay) : null;
    if (ms !== null) return ms;
  }
  return null;
}

const inLowerCase = (headers: Readonly<Record<string, unknown>>): Headers =>
  Object.fromEntries(
    Object.entries(headers)
      .slice(0, HEADERS_MAX)
      .map(([name, value]) => [name.toLowerCase(), typeof value === 'number' ? String(value) : value]),
  );
const HEADERS_MAX = 100;

function textIn(headers: Headers, name: string): string | null {
  const value = headers[name];
  return typeof value === 'string' && value.length <= UPSTREAM_TEXT_CHARS_MAX ? value.trim() : null;
}

/** Milliseconds since 1970 of the form that RFC 9110 has for all dates; `null`: another text. */
function httpDate(text: string | null): number | null {
  if (text === null || !/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(text))
    return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
