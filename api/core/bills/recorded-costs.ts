import { type Clock, SECOND_MS, type Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import { FACTOR_ONE_PPM, type NanoUsd } from '../money.ts';
import type { BillStore } from './bill-store.ts';

/** How often a process stores what providers charged for its calls, to be compared with their bills. */
export const RECORDED_COSTS_MS = 10 * SECOND_MS;

/**
 * What calls say that their providers took, whoever paid for it. Gathered here and stored from time to time: a
 * process that is killed loses the last ten seconds, which then stands in the comparison as billed and not recorded.
 */
export class RecordedCosts {
  readonly #store: BillStore;
  readonly #clock: Clock;
  readonly #log: Log;
  #waiting = new Map<string, NanoUsd>();
  #timer: Timer | null = null;
  #stopped = false;
  /** One after the other, so that who waits for the last one waits for all. */
  #storing: Promise<void> = Promise.resolve();

  constructor({ store, clock, log }: { store: BillStore; clock: Clock; log: Log }) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  /** `nanoUsd` has the operator's margin in it, which no provider bills. */
  note(providerId: string, nanoUsd: NanoUsd, factorPpm: bigint): void {
    if (nanoUsd === 0n) return;
    const billed = factorPpm === FACTOR_ONE_PPM ? nanoUsd : (nanoUsd * FACTOR_ONE_PPM) / factorPpm;
    this.#waiting.set(providerId, (this.#waiting.get(providerId) ?? 0n) + billed);
    if (!this.#stopped) this.#timer ??= this.#clock.setTimer(RECORDED_COSTS_MS, () => void this.flush());
  }

  /** What cannot be stored is tried again with the next. */
  flush(): Promise<void> {
    this.#timer?.cancel();
    this.#timer = null;
    this.#storing = this.#storing.then(() => this.#storeWaiting());
    return this.#storing;
  }

  async #storeWaiting(): Promise<void> {
    if (this.#waiting.size === 0) return;
    const costs = this.#waiting;
    this.#waiting = new Map();
    try {
      await this.#store.add(costs);
    } catch (error) {
      this.#log.warn('what providers took could not be stored, it is tried again', { error });
      for (const [providerId, nanoUsd] of costs) this.note(providerId, nanoUsd, FACTOR_ONE_PPM);
    }
  }

  stop(): Promise<void> {
    this.#stopped = true;
    return this.flush();
  }
}
