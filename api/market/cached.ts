import { type Clock, SECOND_MS } from '#core/clock.ts';
import { MARKET_CACHE_MS } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import { atMost } from '#core/wait.ts';

/** A reader is told to wait after this long. */
export const MARKET_READ_MS = 2 * SECOND_MS;

export interface CacheOptions {
  clock: Clock;
  log: Log;
}

/**
 * A value that is read at most once a second, however many callers ask (docs/spec.md, Limits, market response cache). A
 * failed read is cached for as long, so a store that is down is not asked by every request.
 */
export class Cached<T extends object> {
  readonly #options: CacheOptions;
  readonly #load: (before: T | null) => Promise<T | 'unavailable'>;
  #value: T | 'unavailable' | null = null;
  /** The last value that was read without a failure. */
  #last: T | null = null;
  #readAtMs = 0;
  #pending: Promise<T | 'unavailable'> | null = null;

  /** `load` gets the last value. It may reject. */
  constructor(options: CacheOptions, load: (before: T | null) => Promise<T | 'unavailable'>) {
    this.#options = options;
    this.#load = load;
  }

  /** Concurrent callers share one read, and no caller waits longer than `MARKET_READ_MS` for it. */
  async read(): Promise<T | 'unavailable'> {
    const { clock } = this.#options;
    if (this.#value !== null && clock.monotonicMs() - this.#readAtMs < MARKET_CACHE_MS) return this.#value;
    this.#pending ??= this.#reload();
    return atMost(clock, this.#pending, MARKET_READ_MS, 'unavailable');
  }

  async #reload(): Promise<T | 'unavailable'> {
    const { clock, log } = this.#options;
    const askedAtMs = clock.monotonicMs();
    let value: T | 'unavailable';
    try {
      value = await this.#load(this.#last);
    } catch (error) {
      if (this.#value !== 'unavailable') log.warn('market data cannot be read, it is tried again', { error });
      value = 'unavailable';
    }
    this.#pending = null;
    this.#value = value;
    if (value !== 'unavailable') this.#last = value;
    // A change after the question is not in the value.
    this.#readAtMs = value === 'unavailable' ? clock.monotonicMs() : askedAtMs;
    return value;
  }
}
