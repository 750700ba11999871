import { CLOCK_APART_MAX_MS } from '../../limits.ts';

/**
 * Whether a time that the ledger wrote is too far ahead to have been written by a clock that agrees with this one. The ledger's
 * time was set back since then (`faregate clock repair`), or the clock of a Redis was wrong, and nothing may wait for it.
 */
export const isAhead = (writtenMs: number, nowMs: number): boolean => writtenMs > nowMs + CLOCK_APART_MAX_MS;
