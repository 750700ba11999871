export const SECOND_MS = 1000;
export const DAY_MS = 86_400_000;

/** The language of the page, with its day before its month. */
const LANGUAGE = 'en-GB';

const clock = new Intl.DateTimeFormat(LANGUAGE, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});
const precise = new Intl.DateTimeFormat(LANGUAGE, {
  dateStyle: 'medium',
  timeStyle: 'long',
});
const utcDay = new Intl.DateTimeFormat(LANGUAGE, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  timeZone: 'UTC',
});
const utcWeekday = new Intl.DateTimeFormat(LANGUAGE, { weekday: 'short', timeZone: 'UTC' });
const utcDate = new Intl.DateTimeFormat(LANGUAGE, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const utcSeconds = new Intl.DateTimeFormat(LANGUAGE, { timeStyle: 'medium', timeZone: 'UTC' });
const utcMinute = new Intl.DateTimeFormat(LANGUAGE, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});
const relative = new Intl.RelativeTimeFormat(LANGUAGE);

/** On the reader's own clock. @param {string} iso */
export const shortTime = (iso) => clock.format(new Date(iso));

/** With seconds and the zone. @param {string} iso */
export const longTime = (iso) => precise.format(new Date(iso));

/** A day as the gateway counts days: in UTC. @param {string | number} day */
export const dayName = (day) => utcDay.format(new Date(day));

/** @param {string | number} day */
export const shortDay = (day) => utcDate.format(new Date(day));

/** @param {string | number} day */
export const weekday = (day) => utcWeekday.format(new Date(day));

/** `10:04:31`. @param {number} ms */
export const utcClock = (ms) => utcSeconds.format(new Date(ms));

/** Of an interval on the UTC clock. @param {number} ms */
export const utcTime = (ms) => utcMinute.format(new Date(ms));

/** What a time away is counted in, from how many seconds on: one and three quarters of a day are not `in 1 day`. */
const units = /** @type {const} */ ([
  { unit: 'day', seconds: 86_400, from: 2 * 86_400 },
  { unit: 'hour', seconds: 3600, from: 3600 },
  { unit: 'minute', seconds: 60, from: 60 },
]);

/** @param {string} iso */
export function fromNow(iso) {
  const away = (Date.parse(iso) - Date.now()) / SECOND_MS;
  const fitting = units.find(({ from }) => Math.abs(away) >= from);
  if (fitting !== undefined) return relative.format(Math.trunc(away / fitting.seconds), fitting.unit);
  return away < 0 ? 'just now' : 'in less than a minute';
}

/** @param {number} ms */
export function duration(ms) {
  if (ms < SECOND_MS) return `${ms} ms`;
  const seconds = Math.round(ms / SECOND_MS);
  if (seconds < 60) return `${(ms / SECOND_MS).toFixed(1)} s`;
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** Days as `2026-11-29`, oldest first. @param {number} count @param {string} last */
export const lastDays = (count, last) =>
  Array.from({ length: count }, (_, index) => isoDay(Date.parse(last) - (count - 1 - index) * DAY_MS));

/** @param {number} ms */
export const isoDay = (ms) => new Date(ms).toISOString().slice(0, 10);

/** @param {number} ms */
export const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
