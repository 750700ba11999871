import { randomBytes, randomFillSync } from 'node:crypto';
import type { Clock } from './clock.ts';
import { CLOCK_APART_MAX_MS } from './limits.ts';

/**
 * A call's id: `(ms since 2025-01-01) × 4096 + 12 bits`, an integer below 2^53, made before anything else
 * happens, and the idempotency key of every money step of that call. Ids of one process do not repeat.
 */
export type CallId = number;

const ID_EPOCH_MS = Date.UTC(2025, 0, 1);
const ID_STEP = 4096;
/** Randomness is drawn in stocks: a draw for every id would cost more than routing the request. */
const STOCK_BYTES = 4096;
/** The ledger refuses an id that is dated further ahead. */
const AHEAD_MAX = CLOCK_APART_MAX_MS * ID_STEP;
/** Each takes a clock that was wrong and is right again. */
const PAST_RUNS_MAX = 8;

export interface IdSource {
  next(): CallId;
}

/**
 * Ids grow, unless the clock steps back by more than the ledger lets an id be ahead: then they begin again at the present
 * time, because ids that went on from a wrong time would be refused until it has come. When it comes, the ids of that time
 * are skipped, or where they are too many to skip, told apart by their random start.
 */
export function createIdSource(clock: Clock): IdSource {
  // A random start within the millisecond keeps the ids of several processes apart.
  const stock = Buffer.alloc(STOCK_BYTES);
  let used = STOCK_BYTES;
  let last = 0;
  let runFrom = 0;
  const pastRuns: { from: CallId; to: CallId }[] = [];

  function beginAgain(id: CallId): void {
    if (last > id) pastRuns.push({ from: runFrom, to: last });
    if (pastRuns.length > PAST_RUNS_MAX) pastRuns.shift();
    runFrom = id;
    last = id;
  }

  function skipPastRuns(): void {
    for (const { from, to } of pastRuns) {
      if (last >= from && last <= to && to - last < AHEAD_MAX) last = to + 1;
    }
  }

  return {
    next() {
      if (used === STOCK_BYTES) {
        randomFillSync(stock);
        used = 0;
      }
      const step = (((stock[used] ?? 0) << 8) | (stock[used + 1] ?? 0)) % ID_STEP;
      used += 2;
      const earliest = (clock.now() - ID_EPOCH_MS) * ID_STEP + step;
      if (Math.abs(earliest - last) > AHEAD_MAX) beginAgain(earliest);
      else last = earliest > last ? earliest : last + 1;
      if (pastRuns.length > 0) skipPastRuns();
      return last;
    },
  };
}

/** When the id was made, in milliseconds since 1970. */
export const idTimeMs = (id: CallId): number => Math.floor(id / ID_STEP) + ID_EPOCH_MS;

/** No id made at `atMs` or later is smaller. */
export const firstIdAt = (atMs: number): CallId => Math.max(0, (atMs - ID_EPOCH_MS) * ID_STEP);

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** Uniform letters and digits: bytes of 248 and above are drawn again, else the first letters would be likelier. */
export function randomBase62(length: number): string {
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      if (byte < 248 && text.length < length) text += BASE62[byte % 62];
    }
  }
  return text;
}

export function toBase62(value: number, length: number): string {
  let text = '';
  let rest = value;
  for (let i = 0; i < length; i++) {
    text = BASE62[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
