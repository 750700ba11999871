import { randomBytes, randomFillSync } from 'node:crypto';
import type { Clock } from './clock.ts';

/**
 * A call's id: `(ms since 2025-01-01) × 4096 + 12 bits`, an integer below 2^53, made before anything else
 * happens, and the idempotency key of every money step of that call. Ids of one process never repeat.
 */
export type CallId = number;

const ID_EPOCH_MS = Date.UTC(2025, 0, 1);
const ID_STEP = 4096;
/** Randomness is drawn in stocks: a draw for every id would cost more than routing the request. */
const STOCK_BYTES = 4096;

export interface IdSource {
  next(): CallId;
}

export function createIdSource(clock: Clock): IdSource {
  // A random start within the millisecond keeps the ids of several processes apart.
  const stock = Buffer.alloc(STOCK_BYTES);
  let used = STOCK_BYTES;
  let last = 0;
  return {
    next() {
      if (used === STOCK_BYTES) {
        randomFillSync(stock);
        used = 0;
      }
      const step = (((stock[used] ?? 0) << 8) | (stock[used + 1] ?? 0)) % ID_STEP;
      used += 2;
      const earliest = (clock.now() - ID_EPOCH_MS) * ID_STEP + step;
      last = earliest > last ? earliest : last + 1;
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
