/**
 * The three forms of RFC 9110: `Fri, 20 Nov 2026 10:00:09 GMT`, `Friday, 20-Nov-26 10:00:09 GMT` and `Fri Nov 20 10:00:09 2026`,
 * which is in GMT as well.
 *
 * @returns Milliseconds since 1970; `null`: another text.
 */
export function httpDate(text: string): number | null {
  const [, day, month, year, time] = USUAL.exec(text) ?? OBSOLETE.exec(text) ?? [];
  if (day !== undefined && month !== undefined && year !== undefined)
    return parsed(`${day} ${month} ${year.length === 2 ? `20${year}` : year} ${time} GMT`);
  const [, monthAndDay, timeOfC, yearOfC] = OF_C.exec(text) ?? [];
  return monthAndDay === undefined ? null : parsed(`${monthAndDay} ${yearOfC} ${timeOfC} GMT`);
}

const USUAL = /^[a-z]{3}, (\d{1,2}) ([a-z]{3}) (\d{4}) (\d{2}:\d{2}:\d{2}) (?:GMT|UTC|[+-]0000)$/i;
const OBSOLETE = /^[a-z]{6,9}, (\d{2})-([a-z]{3})-(\d{2}) (\d{2}:\d{2}:\d{2}) (?:GMT|UTC)$/i;
const OF_C = /^[a-z]{3} ([a-z]{3} [ \d]\d) (\d{2}:\d{2}:\d{2}) (\d{4})$/i;

function parsed(text: string): number | null {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}
