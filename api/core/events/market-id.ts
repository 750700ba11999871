import { DAY_MS, startOfDayMs } from '../clock.ts';
import { LOT_DAYS_MAX } from '../limits.ts';

/** Spec: Market. A name plus a date, such as `credit-2026-11-30`. Its credit ends on that date at 00:00 UTC. */
export interface MarketId {
  text: string;
  endsAtMs: number;
}

const MARKET_ID = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?-(\d{4}-\d{2}-\d{2})$/;

/** `null`: no market can have this id. */
export function parseMarketId(text: string): MarketId | null {
  const date = MARKET_ID.exec(text)?.[1];
  if (date === undefined) return null;
  const endsAtMs = Date.parse(`${date}T00:00:00.000Z`);
  // `2026-02-30` is the second of March to some.
  const isDay =
    Number.isInteger(endsAtMs / DAY_MS) && new Date(endsAtMs).getUTCDate() === Number(date.slice(-2));
  if (!isDay) return null;
  return { text, endsAtMs };
}

/** Design, Money: a market's date is the day on which a lot ends, so one of the next eight. */
export const lastMarketEndMs = (nowMs: number): number => startOfDayMs(nowMs) + LOT_DAYS_MAX * DAY_MS;

export const TOO_FAR = `market: ends more than ${LOT_DAYS_MAX} days from now`;
