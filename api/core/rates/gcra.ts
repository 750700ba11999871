import { MINUTE_MS } from '../clock.ts';
import { SUBJECTS_MAX } from '../limits.ts';

/**
 * Generic cell rate algorithm: `ratePerMinute` on average, `burst` at once. One number per subject, the theoretical
 * arrival time in whole microseconds, so that no rounding asks for a wait where none is due; a refusal spends nothing.
 */
export class GcraBuckets {
  readonly #ratePerMinute: () => number;
  readonly #burst: () => number;
  readonly #tatUs = new Map<number, number>();

  constructor(options: Rate) {
    this.#ratePerMinute = options.ratePerMinute;
    this.#burst = options.burst;
  }

  /** Milliseconds to wait until so many more are let through; 0: now. Of more than a burst: for ever. */
  waitMs(subject: number, nowMs: number, count = 1): number {
    if (count > this.#burst()) return Number.POSITIVE_INFINITY;
    const tatUs = this.#tatUs.get(subject);
    if (tatUs === undefined) return 0;
    const allowedUs = Math.round(nowMs * US_PER_MS) + (this.#burst() - count) * this.#stepUs();
    return Math.max(0, Math.ceil((tatUs - allowedUs) / US_PER_MS));
  }

  spend(subject: number, nowMs: number, count = 1): void {
    const nowUs = Math.round(nowMs * US_PER_MS);
    if (this.#tatUs.size >= SUBJECTS_MAX) this.#forgetIdle(nowUs);
    this.#tatUs.set(subject, Math.max(this.#tatUs.get(subject) ?? 0, nowUs) + count * this.#stepUs());
  }

  /** Rounded down, in the caller's favour. */
  #stepUs(): number {
    return Math.max(1, Math.floor((MINUTE_MS * US_PER_MS) / this.#ratePerMinute()));
  }

  /** A subject whose time has come is as good as unknown. */
  #forgetIdle(nowUs: number): void {
    for (const [subject, tatUs] of this.#tatUs) if (tatUs <= nowUs) this.#tatUs.delete(subject);
    if (this.#tatUs.size >= SUBJECTS_MAX) this.#tatUs.clear();
  }
}

/** Asked for each time, because the operator may change both. */
export interface Rate {
  ratePerMinute: () => number;
  burst: () => number;
}

const US_PER_MS = 1_000;
