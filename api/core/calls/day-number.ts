import { DAY_MS } from '../clock.ts';

/** Tables keep days as their number since 1970. */
export const dayNumber = (day: string): number => Date.parse(`${day}T00:00:00Z`) / DAY_MS;
export const dayText = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

export const dayOf = (atMs: number): number => Math.floor(atMs / DAY_MS);
