import { type Clock, SECOND_MS } from '../clock.ts';
import type { LoopDelay } from './loop-delay.ts';

/** A verdict stands so long: one pause of the garbage collector says nothing. */
const WINDOW_MS = SECOND_MS;
/** Of the limit: what is below lets calls in again. Between the two nothing changes, so that it does not flap. */
const CALM_SHARE = 0.5;

export interface EventLoopLagOptions {
  delay: LoopDelay;
  clock: Clock;
  limitMs: () => number;
}

/**
 * Whether this process is too late with its work to take more. Looked at by whoever asks, after each window, by that
 * window alone: where no calls come nothing runs, and nothing that is long past keeps a call out.
 */
export class EventLoopLag {
  readonly #options: EventLoopLagOptions;
  #lookedAtMs: number;
  #lagMs = 0;
  #isOver = false;

  constructor(options: EventLoopLagOptions) {
    this.#options = options;
    this.#lookedAtMs = options.clock.monotonicMs();
  }

  isOver(): boolean {
    this.#look();
    return this.#isOver;
  }

  lagMs(): number {
    this.#look();
    return this.#lagMs;
  }

  #look(): void {
    const { delay, clock, limitMs } = this.#options;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#lookedAtMs < WINDOW_MS) return;
    this.#lookedAtMs = nowMs;
    this.#lagMs = delay.takeMs();
    this.#isOver = this.#lagMs > limitMs() * (this.#isOver ? CALM_SHARE : 1);
  }
}
