import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/** The only source of time. Tests hand in a fake whose time moves when they say so. */
export interface Clock {
  /** Milliseconds since 1970, UTC. */
  now(): number;
  /** Milliseconds that never step back, for durations. */
  monotonicMs(): number;
  setTimer(delayMs: number, fire: () => void): Timer;
}

export interface Timer {
  cancel(): void;
}

/** The clocks of a machine, for `trustedClock`, which finds out whether the first of them can be believed. */
export interface MachineClock extends Clock {
  /** Milliseconds since the machine started, with the time that it slept. Setting the wall clock does not move it. */
  uptimeMs(): number;
  /** One for each start of the machine; `null` where the system has none. */
  readonly bootId: string | null;
}

export const systemClock: MachineClock = {
  now: () => Date.now(),
  monotonicMs: () => performance.now(),
  // A container may be shown an uptime of its own, which is less than the time that the kernel counts without sleep.
  uptimeMs: () => Math.max(uptime() * SECOND_MS, Number(process.hrtime.bigint() / 1_000_000n)),
  bootId: readBootId(),
  setTimer(delayMs, fire) {
    const handle = setTimeout(fire, delayMs);
    return { cancel: () => clearTimeout(handle) };
  },
};

/** Linux has one. Elsewhere each start of a process counts as the first one since the machine started. */
function readBootId(): string | null {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return null;
  }
}

export const wait = (clock: Clock, waitMs: number): Promise<void> =>
  new Promise((resolve) => void clock.setTimer(waitMs, resolve));

/** Fires again and again, for the first time after one interval. */
export function every(clock: Clock, intervalMs: number, fire: () => void): Timer {
  const again = (): Timer =>
    clock.setTimer(intervalMs, () => {
      timer = again();
      fire();
    });
  let timer = again();
  return { cancel: () => timer.cancel() };
}

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** 00:00 UTC of the day that holds `atMs`. */
export const startOfDayMs = (atMs: number): number => atMs - (atMs % DAY_MS);

/** 00:00 UTC of the Monday of the week that holds `atMs`. 1970-01-01 was a Thursday. */
export function startOfWeekMs(atMs: number): number {
  const day = Math.floor(atMs / DAY_MS);
  return (day - ((day + 3) % 7)) * DAY_MS;
}

/** 00:00 UTC of the first day of the month that holds `atMs`. */
export function startOfMonthMs(atMs: number): number {
  const date = new Date(atMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
}

export function startOfNextMonthMs(atMs: number): number {
  const date = new Date(atMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** `2026-11-21T00:00:00.000Z`: the one form of a time that this API shows. */
export const isoTime = (atMs: number): string => new Date(atMs).toISOString();
