import type { Clock } from '#core/clock.ts';

/** Time limits of many requests at once, looked at from time to time: a timer each would cost more than a small request. */
export class Deadlines {
  readonly #clock: Clock;
  readonly #running = new Set<Running>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  start(limitMs: number, onDue: () => void) {
    const due = () => this.#clock.monotonicMs() + limitMs;
    const one = { dueMs: due(), onDue };
    this.#running.add(one);
    return {
      /** Starts the time again, also after its end. */
      renew: () => {
        one.dueMs = due();
        this.#running.add(one);
      },
      end: () => void this.#running.delete(one),
    };
  }

  look(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const one of this.#running) if (one.dueMs <= nowMs) this.#fire(one);
  }

  /** As if the time of all had come. */
  fireAll(): void {
    for (const one of this.#running) this.#fire(one);
  }

  #fire(one: Running): void {
    this.#running.delete(one);
    one.onDue();
  }
}

interface Running {
  dueMs: number;
  onDue: () => void;
}
