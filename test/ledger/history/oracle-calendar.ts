/** The start of the UTC day, week or month that holds a time, or of the one after it, by the calendar of `Date`. */
export function windowStartMs(reset: 'daily' | 'weekly' | 'monthly', nowMs: number, windowsOn = 0): number {
  const date = new Date(nowMs);
  const [year, month, dayOfMonth] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  if (reset === 'monthly') return Date.UTC(year, month + windowsOn, 1);
  if (reset === 'daily') return Date.UTC(year, month, dayOfMonth + windowsOn);
  const daysSinceMonday = (date.getUTCDay() + 6) % 7;
  return Date.UTC(year, month, dayOfMonth - daysSinceMonday + 7 * windowsOn);
}
