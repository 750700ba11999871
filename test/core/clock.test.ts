import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DAY_MS,
  isoTime,
  startOfDayMs,
  startOfMonthMs,
  startOfNextMonthMs,
  startOfWeekMs,
} from '#core/clock.ts';

const time = fc.integer({ min: Date.UTC(1970, 0, 5), max: Date.UTC(2100, 0, 1) });
const at = (text: string) => Date.parse(text);

describe('days, weeks and months in UTC', () => {
  it.each([
    // A Wednesday, a Monday's first and a Sunday's last moment, a leap day, a year that ends within a week.
    ['2026-11-18T10:00:00Z', '2026-11-18', '2026-11-16', '2026-11-01', '2026-12-01'],
    ['2026-11-16T00:00:00.000Z', '2026-11-16', '2026-11-16', '2026-11-01', '2026-12-01'],
    ['2026-11-15T23:59:59.999Z', '2026-11-15', '2026-11-09', '2026-11-01', '2026-12-01'],
    ['2028-02-29T12:00:00Z', '2028-02-29', '2028-02-28', '2028-02-01', '2028-03-01'],
    ['2026-12-31T23:59:59.999Z', '2026-12-31', '2026-12-28', '2026-12-01', '2027-01-01'],
    ['2027-01-01T00:00:00Z', '2027-01-01', '2026-12-28', '2027-01-01', '2027-02-01'],
    ['1970-01-05T00:00:00Z', '1970-01-05', '1970-01-05', '1970-01-01', '1970-02-01'],
  ])('%s', (moment, day, week, month, nextMonth) => {
    expect(isoTime(startOfDayMs(at(moment))).slice(0, 10)).toBe(day);
    expect(isoTime(startOfWeekMs(at(moment))).slice(0, 10)).toBe(week);
    expect(isoTime(startOfMonthMs(at(moment))).slice(0, 10)).toBe(month);
    expect(isoTime(startOfNextMonthMs(at(moment))).slice(0, 10)).toBe(nextMonth);
  });

  it('hold every moment, and begin on midnight, a Monday, the first', () => {
    fc.assert(
      fc.property(time, (moment) => {
        const [day, week, month] = [startOfDayMs(moment), startOfWeekMs(moment), startOfMonthMs(moment)];
        for (const start of [day, week, month]) expect(start % DAY_MS).toBe(0);
        expect(moment - day).toBeLessThan(DAY_MS);
        expect(new Date(week).getUTCDay()).toBe(1);
        expect(Math.abs(moment - week - 3.5 * DAY_MS)).toBeLessThanOrEqual(3.5 * DAY_MS);
        expect(new Date(month).getUTCDate()).toBe(1);
        expect(startOfNextMonthMs(moment)).toBeGreaterThan(moment);
        expect(startOfMonthMs(startOfNextMonthMs(moment) - 1)).toBe(month);
      }),
    );
  });
});
