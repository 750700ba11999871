import { type Clock, SECOND_MS, wait } from './clock.ts';
import type { Log } from './log.ts';

/** How often a starting process tries to reach a store that is away. */
const START_RETRY_MS = SECOND_MS;
/** How often it says so. */
const START_SAID_MS = 30 * SECOND_MS;

export interface StoreAttempt<T> {
  /** As operators call it. */
  store: string;
  attempt: () => Promise<T>;
  /** Whether it may pass by itself: anything else is thrown to whoever waits. */
  isAway: (error: unknown) => boolean;
}

interface Waiting {
  store: string;
  /** `null`: the first attempt still runs. */
  reason: string | null;
}

/** What a process that starts waits for: said in its log, and to whoever asks whether it is ready. */
export class StartWaits {
  readonly #waiting = new Set<Waiting>();
  /** Lines of the log, with when each was written: reasons that take turns are no news each time. */
  readonly #saidMs = new Map<string, number>();
  readonly #clock: Clock;
  readonly #log: Log;
  #closed = false;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** Nothing is tried any more; what is waited for then never comes. */
  close(): void {
    this.#closed = true;
  }

  /** By store; several may wait for one, each for something else of it. */
  get reasons(): ReadonlyMap<string, string> {
    const found = new Map<string, Set<string>>();
    for (const { store, reason } of this.#waiting) {
      if (reason !== null) found.set(store, (found.get(store) ?? new Set()).add(reason));
    }
    return new Map([...found].map(([store, reasons]) => [store, [...reasons].join('; ')]));
  }

  /** Tries until it succeeds, or fails by what no waiting mends. Several may wait for one store. */
  async until<T>({ store, attempt, isAway }: StoreAttempt<T>): Promise<T> {
    const sinceMs = this.#clock.monotonicMs();
    const waiting: Waiting = { store, reason: null };
    this.#waiting.add(waiting);
    for (;;) {
      try {
        const result = await attempt();
        this.#waiting.delete(waiting);
        if (waiting.reason !== null && !this.reasons.has(store)) {
          this.#log.info(`${store} is there`, {
            durationMs: Math.round(this.#clock.monotonicMs() - sinceMs),
          });
        }
        return result;
      } catch (error) {
        if (!isAway(error)) {
          this.#waiting.delete(waiting);
          throw error;
        }
        waiting.reason = error instanceof Error ? error.message : String(error);
        this.#say(`the start waits for ${store}`, waiting.reason);
        await wait(this.#clock, START_RETRY_MS);
        // Nobody is there any more whom it could tell.
        if (this.#closed) return await new Promise<never>(() => {});
      }
    }
  }

  #say(line: string, cause: string): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [said, atMs] of this.#saidMs) if (nowMs - atMs >= START_SAID_MS) this.#saidMs.delete(said);
    const key = `${line}: ${cause}`;
    if (this.#saidMs.has(key)) return;
    this.#saidMs.set(key, nowMs);
    this.#log.warn(line, { cause });
  }
}
