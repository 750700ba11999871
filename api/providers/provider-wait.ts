import { DAY_MS, SECOND_MS } from '#core/clock.ts';
import { isRecord } from '#core/is-record.ts';
import { UPSTREAM_TEXT_CHARS_MAX } from '#core/limits.ts';
import { httpDate } from './http-date.ts';
import { durationMs, waitInWords } from './wait-words.ts';

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
  const sentAtMs = httpDate(textIn(headers, 'date') ?? '') ?? nowMs;
  for (const name of ['retry-after-ms', 'x-ms-retry-after-ms']) {
    const ms = textIn(headers, name);
    const waitMs = ms !== null && DECIMAL.test(ms) ? bounded(Number(ms)) : null;
    if (waitMs !== null) return waitMs;
  }
  const text = textIn(headers, 'retry-after') ?? textIn(headers, 'x-retry-after');
  const untilMs = text === null ? null : httpDate(text);
  const waitMs = untilMs === null ? waitUntil(text ?? '', sentAtMs) : bounded(untilMs - sentAtMs);
  // A value that cannot be read says nothing, so that the limits beside it count. One cloud's clock for a limit has a name of its own.
  return (
    waitMs ??
    waitForReset(headers, sentAtMs) ??
    waitUntil(textIn(headers, 'x-ratelimit-timeremaining') ?? '', sentAtMs)
  );
}

/** The longest wait for a limit of which nothing is left. */
function waitForReset(headers: Headers, sentAtMs: number): number | null {
  const waits = Object.keys(headers).flatMap((name) => {
    if (name === 'ratelimit') return waitsOfPolicies(textIn(headers, name) ?? '');
    if (!isReset(name) || !isUsedUp(headers, name)) return [];
    const text = textIn(headers, name);
    return text === null ? [] : (waitUntil(text, sentAtMs) ?? []);
  });
  return waits.length === 0 ? null : Math.max(...waits);
}

/** `x-ratelimit-reset-tokens-minute`, `anthropic-ratelimit-tokens-reset`, `ratelimitbysize-reset`: each vendor has names of its own. */
const isReset = (name: string): boolean =>
  (name.includes('ratelimit') || name.includes('rate-limit')) && name.includes('reset');

/** Whether nothing is left of the limit that starts again then, by the header of the same name with another word. */
function isUsedUp(headers: Headers, reset: string): boolean {
  const left = textIn(headers, reset.replace('reset', 'remaining'));
  if (left !== null) return NOTHING_LEFT.test(left);
  // One vendor's only limit has no count beside it, another says in a word what became of the request.
  return reset === 'x-ratelimit-reset' || textIn(headers, reset.replace('reset', 'status')) === 'rejected';
}

/** `"default";r=0;t=30`, or `limit=10, remaining=0, reset=30` of earlier drafts: the policies of which nothing is left. */
function waitsOfPolicies(text: string): number[] {
  const policies = /\bremaining=/.test(text) ? [text] : text.split(',');
  return policies.flatMap((policy) => {
    const left = /\b(?:r|remaining)=(\d{1,15})/.exec(policy)?.[1];
    const seconds = /\b(?:t|reset)=(\d{1,9})/.exec(policy)?.[1];
    const isOver = left !== undefined && seconds !== undefined && NOTHING_LEFT.test(left);
    return isOver ? (bounded(Number(seconds) * SECOND_MS) ?? []) : [];
  });
}

const NOTHING_LEFT = /^-?0+(?:\.0+)?$/;

/** `12`, `0.5`, `1m2.5s`, `120 seconds`, a time since 1970 in seconds or milliseconds, or an ISO date. */
function waitUntil(text: string, sentAtMs: number): number | null {
  if (DECIMAL_OR_TIME.test(text)) {
    const number = Number(text);
    if (number < LONGEST_WAIT_S) return Math.ceil(number * SECOND_MS);
    const waitMs = (number < FIRST_TIME_MS ? number * SECOND_MS : number) - sentAtMs;
    return waitMs < -LONGEST_WAIT_S * SECOND_MS ? null : bounded(waitMs);
  }
  if (ISO_DATE.test(text)) return bounded(Date.parse(text) - sentAtMs);
  return bounded(durationMs(text) ?? Number.NaN);
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

/** The wait that an error itself names: in a member, in headers that a router repeats, or in words. */
export function waitInError(error: Readonly<Record<string, unknown>>, nowMs: number): number | null {
  const { availability, metadata, details } = error;
  for (const place of [error, availability, metadata]) {
    const ms = isRecord(place) ? memberMs(place, nowMs) : null;
    if (ms !== null) return ms;
  }
  const repeated = isRecord(metadata) && isRecord(metadata.headers) ? inLowerCase(metadata.headers) : {};
  return waitInHeaders(repeated, nowMs) ?? delayIn(details) ?? waitInMessage(error, nowMs);
}

function waitInMessage({ message }: Readonly<Record<string, unknown>>, nowMs: number): number | null {
  if (typeof message !== 'string') return null;
  const ms = waitInWords(message);
  if (ms !== null) return bounded(ms);
  const [, day, time] = DATED.exec(message.slice(0, MESSAGE_CHARS)) ?? [];
  return day === undefined ? null : bounded(Date.parse(`${day}T${time}Z`) - nowMs);
}

const MESSAGE_CHARS = 2_000;
/** `Limit resets at: 2026-11-20 10:00:09 UTC`, `You will regain access on 2026-12-01 at 00:00 UTC.`. */
const DATED =
  /(?:resets?|try again|retry|available|access)(?: again)? (?:at|after|on|tomorrow at):? (\d{4}-\d{2}-\d{2})(?:[ T]| at )(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(?:Z|UTC|GMT|\+00:00)/i;

function memberMs(place: Readonly<Record<string, unknown>>, nowMs: number): number | null {
  const ms = place.retry_after_ms ?? place.retryAfterMs;
  if (isWait(ms)) return Math.ceil(ms);
  for (const name of SECONDS_NAMES) {
    const value = place[name];
    if (isWait(value)) return Math.ceil(value * SECOND_MS);
    const waitMs =
      typeof value === 'string' && value.length <= DURATION_CHARS ? waitUntil(value, nowMs) : null;
    if (waitMs !== null) return waitMs;
  }
  for (const name of TIME_NAMES) {
    const value = place[name];
    const waitMs =
      typeof value === 'number' && value > LONGEST_WAIT_S ? waitUntil(String(value), nowMs) : null;
    if (waitMs !== null) return waitMs;
  }
  return null;
}

const SECONDS_NAMES = [
  ...['retry_after', 'retry_after_seconds', 'retryAfter', 'retryAfterSeconds', 'retry_in'],
  ...['resets_in_seconds', 'reset_seconds', 'reset_after_seconds', 'estimated_time'],
];
/** Times since 1970. */
const TIME_NAMES = ['reset_at', 'resets_at', 'resetAt', 'resetsAt'];
const DURATION_CHARS = 40;

const isWait = (value: unknown): value is number =>
  typeof value === 'number' && value >= 0 && value <= LONGEST_WAIT_S * SECOND_MS;

/** A `retryDelay` such as `34s` among the details, or a `quotaResetDelay` in what describes one. */
function delayIn(details: unknown): number | null {
  for (const info of Array.isArray(details) ? details : []) {
    if (!isRecord(info)) continue;
    const delay = info.retryDelay ?? (isRecord(info.metadata) ? info.metadata.quotaResetDelay : null);
    const ms = typeof delay === 'string' ? bounded(durationMs(delay) ?? Number.NaN) : null;
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
