import { type Clock, wait } from './clock.ts';
import { START_RETRY_MS, START_SAID_MS } from './limits.ts';
import type { Log } from './log.ts';

export interface Attempt<T> {
  /** As operators call it. */
  store: string;
  attempt: () => Promise<T>;
  /** Whether it may pass by itself: anything else is thrown to whoever waits. */
  isAway: (error: unknown) => boolean;
}

/** What a process that starts waits for: said in its log, and to whoever asks whether it is ready. */
export class StartWaits {
  readonly #reasons = new Map<string, string>();
  readonly #clock: Clock;
  readonly #log: Log;
  #closed = false;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Nothing is tried any more. */
  close(): void {
    this.#closed = true;
  }

  /** By store. */
  get reasons(): ReadonlyMap<string, string> {
    return this.#reasons;
  }

  /** Tries until it succeeds, or fails by what no waiting mends. */
  async until<T>({ store, attempt, isAway }: Attempt<T>): Promise<T> {
    const sinceMs = this.#clock.monotonicMs();
    let sayAtMs = sinceMs;
    for (;;) {
      try {
        const result = await attempt();
        if (this.#reasons.delete(store)) {
          this.#log.info(`${store} is there`, {
            durationMs: Math.round(this.#clock.monotonicMs() - sinceMs),
          });
        }
        return result;
      } catch (error) {
        if (!isAway(error)) {
          this.#reasons.delete(store);
          throw error;
        }
        const reason = error instanceof Error ? error.message : String(error);
        const nowMs = this.#clock.monotonicMs();
        if (reason !== this.#reasons.get(store) || nowMs >= sayAtMs) {
          sayAtMs = nowMs + START_SAID_MS;
          this.#log.warn(`the start waits for ${store}`, { cause: reason });
        }
        this.#reasons.set(store, reason);
        await wait(this.#clock, START_RETRY_MS);
        if (this.#closed) throw error;
      }
    }
  }
}
