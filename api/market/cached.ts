import type { Clock } from '#core/clock.ts';
import { SECOND_MS } from '#core/clock.ts';
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
 * What is read at most once in a second, however many ask (spec: Limits, market response cache). A read that failed is
 * kept for as long: a store that is down is not asked by every request.
 */
export class Cached<T extends object> {
  readonly #options: CacheOptions;
  readonly #load: (before: T | null) => Promise<T | 'unavailable'>;
  #value: T | 'unavailable' | null = null;
  /** The last one that was there. */
  #last: T | null = null;
  #readAtMs = 0;
  #pending: Promise<T | 'unavailable'> | null = null;

  /** `load`: given what was read before. May reject. */
  constructor(options: CacheOptions, load: (before: T | null) => Promise<T | 'unavailable'>) {
    this.#options = options;
    this.#load = load;
  }

  /** `null`: it has to be read. */
  get fresh(): T | 'unavailable' | null {
    return this.#options.clock.monotonicMs() - this.#readAtMs < MARKET_CACHE_MS ? this.#value : null;
  }

  /** Concurrent ones share one read, and nobody waits longer than `MARKET_READ_MS` for it. */
  async read(): Promise<T | 'unavailable'> {
    const { fresh } = this;
    if (fresh !== null) return fresh;
    this.#pending ??= this.#readAnew();
    return atMost(this.#options.clock, this.#pending, MARKET_READ_MS, 'unavailable');
  }

  async #readAnew(): Promise<T | 'unavailable'> {
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
    // What changed after it was asked for is not in it.
    this.#readAtMs = value === 'unavailable' ? clock.monotonicMs() : askedAtMs;
    return value;
  }
}
