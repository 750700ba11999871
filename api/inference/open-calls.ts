import { type Clock, SECOND_MS, type Timer } from '#core/clock.ts';

/** What a running call does once a second: its time limits, its lease, its caller's patience. */
export interface Ticking {
  tick(nowMs: number): void;
}

const TICK_MS = SECOND_MS;

/** All calls of this process share one timer: a timer and a closure for each would cost more than the calls do. */
export class OpenCalls {
  /** Answers that are read on after a hang-up. */
  pumps = 0;
  streams = 0;
  readonly #calls = new Set<Ticking>();
  readonly #clock: Clock;
  #timer: Timer | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#calls.size;
  }

  add(call: Ticking): void {
    this.#calls.add(call);
    this.#timer ??= this.#clock.setTimer(TICK_MS, this.#tick);
  }

  delete(call: Ticking): void {
    this.#calls.delete(call);
  }

  readonly #tick = (): void => {
    const nowMs = this.#clock.now();
    for (const call of this.#calls) call.tick(nowMs);
    this.#timer = this.#calls.size === 0 ? null : this.#clock.setTimer(TICK_MS, this.#tick);
  };
}
