import { LIVE_CANDLES } from '#core/limits.ts';
import type { CandleRow } from '#core/market/candle.ts';
import { holdsTrade } from '#core/market/fold-candle.ts';

/** Older candles of a market that were read for late trades. The oldest are forgotten. */
export const OLDER_CANDLES_KEPT = 256;

/** What is in memory of a market's candles of one interval: the newest, and of older ones those that changed last. */
export class IntervalRows {
  /** All that there are from this time on. */
  readonly #newest = new Map<number, CandleRow>();
  /** `null`: there is no such row in the store. */
  readonly #older = new Map<number, CandleRow | null>();
  #fromMs: number;

  /** `rows`: all that there are from `fromMs` on. */
  constructor(fromMs: number, rows: readonly CandleRow[]) {
    this.#fromMs = fromMs;
    for (const row of rows) this.#newest.set(row.timeMs, row);
    this.trim();
  }

  /** Whether it stands in memory; if not, it has to be remembered first. */
  knows(timeMs: number): boolean {
    return timeMs >= this.#fromMs || this.#older.has(timeMs);
  }

  /** `null`: nothing was traded then, as far as is known. */
  get(timeMs: number): CandleRow | null {
    return this.#newest.get(timeMs) ?? this.#older.get(timeMs) ?? null;
  }

  /** Whether it is known that this trade is not in the candle of this time. */
  lacks(timeMs: number, seq: number): boolean {
    if (!this.knows(timeMs)) return false;
    const row = this.get(timeMs);
    return row === null || !holdsTrade(row, seq);
  }

  /** As the store has it. */
  remember(timeMs: number, row: CandleRow | null): void {
    this.#older.set(timeMs, row);
  }

  /** Answers whether it is one of the newest. */
  put(row: CandleRow): boolean {
    if (row.timeMs >= this.#fromMs) {
      this.#newest.set(row.timeMs, row);
      return true;
    }
    // Moved to the end: the first is the next to be forgotten.
    this.#older.delete(row.timeMs);
    this.#older.set(row.timeMs, row);
    return false;
  }

  newest(): CandleRow[] {
    return [...this.#newest.values()].sort((a, b) => a.timeMs - b.timeMs);
  }

  /** Keeps what has to be kept. Answers whether one of the newest has become an older one. */
  trim(): boolean {
    const moved = this.newest().slice(0, -LIVE_CANDLES);
    for (const row of moved) {
      this.#newest.delete(row.timeMs);
      this.#older.set(row.timeMs, row);
      this.#fromMs = row.timeMs + 1;
    }
    for (const timeMs of this.#older.keys()) {
      if (this.#older.size <= OLDER_CANDLES_KEPT) break;
      this.#older.delete(timeMs);
    }
    return moved.length > 0;
  }
}
