import type { Clock, Timer } from '#core/clock.ts';
import { IndexedSet } from '#core/indexed-set.ts';

export interface Waiting {
  endsAtMs: number;
  resolve: () => void;
}

/** Waits of one length share one timer: a timer for each call costs more than its charge. */
export class SharedDeadline {
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #waiting = new IndexedSet<Waiting>();
  #timer: Timer | null = null;

  constructor(clock: Clock, waitMs: number) {
    this.#clock = clock;
    this.#waitMs = waitMs;
  }

  /** Calls `resolve` once: when the wait is over, or when `end` is given what this answers. */
  start(resolve: () => void): Waiting {
    const waiting = { endsAtMs: this.#clock.monotonicMs() + this.#waitMs, resolve };
    this.#waiting.add(waiting);
    this.#timer ??= this.#clock.setTimer(this.#waitMs, this.#onTimer);
    return waiting;
  }

  end(waiting: Waiting): void {
    if (!this.#waiting.delete(waiting)) return;
    waiting.resolve();
    if (this.#waiting.size > 0) return;
    this.#timer?.cancel();
    this.#timer = null;
  }

  readonly #onTimer = (): void => {
    this.#timer = null;
    const nowMs = this.#clock.monotonicMs();
    let nextMs = this.#waitMs;
    for (const waiting of this.#waiting) {
      if (waiting.endsAtMs > nowMs) {
        nextMs = Math.min(nextMs, waiting.endsAtMs - nowMs);
        continue;
      }
      this.#waiting.delete(waiting);
      waiting.resolve();
    }
    if (this.#waiting.size > 0) this.#timer ??= this.#clock.setTimer(nextMs, this.#onTimer);
  };
}
