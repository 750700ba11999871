import { HOUR_MS } from '../../clock.ts';
import { RESULTS_BYTES_MAX } from '../../limits.ts';
import type { AgentState } from './state.ts';

/** Images are counted until the hour is over in which their links end: an agent has so many entries, not one a call. */
const storedHourEndMs = (untilMs: number): number => Math.ceil(untilMs / HOUR_MS) * HOUR_MS;

export function addStored({ stored }: AgentState, bytes: number, untilMs: number): void {
  const hourEndMs = storedHourEndMs(untilMs);
  stored.set(hourEndMs, (stored.get(hourEndMs) ?? 0) + bytes);
}

/** When the first of them end, where there is no room for more; else `null`. */
export function storageFullUntilMs({ stored }: AgentState, nowMs: number): number | null {
  let bytes = 0;
  let firstEndMs = Number.POSITIVE_INFINITY;
  for (const [hourEndMs, of] of stored) {
    if (hourEndMs <= nowMs) continue;
    bytes += of;
    firstEndMs = Math.min(firstEndMs, hourEndMs);
  }
  return bytes < RESULTS_BYTES_MAX ? null : firstEndMs;
}

export function forgetStored({ stored }: AgentState, atMs: number): void {
  for (const hourEndMs of stored.keys()) if (hourEndMs <= atMs) stored.delete(hourEndMs);
}
