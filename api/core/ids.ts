import { randomBytes, randomInt } from 'node:crypto';
import type { Clock } from './clock.ts';
import { firstFreeId, ID_LANES, type IdRun, withRun } from './id-lanes.ts';
import { CLOCK_APART_MAX_MS } from './limits.ts';

/**
 * A call's id: `(ms since 2025-01-01) × 4096 + 12 bits`, an integer below 2^53, made before anything else
 * happens, and the idempotency key of every money step of that call. Ids of one process do not repeat.
 */
export type CallId = number;

const ID_EPOCH_MS = Date.UTC(2025, 0, 1);
const ID_STEP = 4096;
/** The ledger refuses an id that is dated further ahead. */
const AHEAD_MAX = CLOCK_APART_MAX_MS * ID_STEP;
export interface IdSource {
  next(): CallId;
}

/**
 * Ids grow, unless the clock steps back by more than the ledger lets an id be ahead: then they begin again at the present
 * time, because ids that went on from a wrong time would be refused until it has come. No id comes twice, because a time
 * that was shown before is lived through in another lane (`id-lanes.ts`). Only where all lanes are used up for longer than an id
 * may be ahead, the random start within the millisecond alone tells ids apart.
 */
export function createIdSource(clock: Clock): IdSource {
  // A random start within the millisecond, and a random lane, keep the ids of several processes apart.
  let lane = randomInt(ID_LANES);
  let pastRuns: readonly IdRun[] = [];
  let runFrom = 0;
  let last = 0;
  /** The next id of the lane that may be used. */
  let freeUntil = Number.POSITIVE_INFINITY;

  function beginRun(from: CallId): void {
    if (last > 0) pastRuns = withRun(pastRuns, { lane, from: runFrom, to: last });
    const free = firstFreeId(pastRuns, from, lane);
    const isUsedUp = free.id - from > AHEAD_MAX - ID_STEP;
    if (!isUsedUp) lane = free.lane;
    runFrom = isUsedUp ? from + lane : free.id;
    freeUntil = isUsedUp ? free.id - AHEAD_MAX + ID_STEP : free.until;
    last = runFrom;
  }

  return {
    next() {
      const step = randomInt(ID_STEP);
      const earliest = (clock.now() - ID_EPOCH_MS) * ID_STEP + step - (step % ID_LANES);
      if (Math.abs(earliest - last) > AHEAD_MAX) beginRun(earliest);
      else {
        const id = Math.max(earliest + lane, last + ID_LANES);
        if (id < freeUntil) last = id;
        else beginRun(id - lane);
      }
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

/** The first letters of bytes that are even, such as a digest, as a number to the base of 62. */
export function base62Of(bytes: Uint8Array, length: number): string {
  let rest = BigInt(`0x${Buffer.from(bytes).toString('hex')}`);
  let text = '';
  for (let i = 0; i < length; i++) {
    text += BASE62[Number(rest % 62n)];
    rest /= 62n;
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
