import { type Clock, SECOND_MS } from '../../clock.ts';
import type { Durability } from '../ledger.ts';

/** While the log is further behind than this, a call waits for it before the provider is called. */
export const DISPATCH_WAITS_ABOVE_LAG_MS = 250;
/** After a gate timed out, calls wait for the log before the provider is called, for this long. */
export const DISPATCH_WAITS_AFTER_TIMEOUT_MS = 30 * SECOND_MS;

/**
 * A start's provider is usually asked at once, and only its answer waits for the log. But a provider that is asked in
 * vain is paid by the operator: where the log is slow, or has just been too late, asking waits, too.
 */
export class DispatchWait {
  readonly #clock: Clock;
  #lateAtMs = Number.NEGATIVE_INFINITY;
  gateTimeouts = 0;
  dispatchWaits = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `give_up`: the log did not have the start in time, and nobody has been asked yet. */
  async before(lagMs: number, durable: Promise<Durability>): Promise<'go' | 'give_up'> {
    const known = durable.then((durability) => {
      if (durability === 'unknown') this.#noteLate();
      return durability;
    });
    if (!this.#mustWait(lagMs)) return 'go';
    this.dispatchWaits++;
    return (await known) === 'durable' ? 'go' : 'give_up';
  }

  #mustWait(lagMs: number): boolean {
    if (lagMs > DISPATCH_WAITS_ABOVE_LAG_MS) return true;
    return this.#clock.monotonicMs() - this.#lateAtMs < DISPATCH_WAITS_AFTER_TIMEOUT_MS;
  }

  #noteLate(): void {
    this.gateTimeouts++;
    this.#lateAtMs = this.#clock.monotonicMs();
  }
}
