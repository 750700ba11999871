/**
 * Generic cell rate algorithm: `ratePerMinute` on average, `burst` at once. One number per subject, the theoretical
 * arrival time; a refusal spends nothing.
 */
export class GcraBuckets {
  readonly #ratePerMinute: () => number;
  readonly #burst: () => number;
  readonly #tatMs = new Map<number, number>();

  constructor(options: { ratePerMinute: () => number; burst: () => number }) {
    this.#ratePerMinute = options.ratePerMinute;
    this.#burst = options.burst;
  }

  /** Milliseconds to wait until one more is let through; 0: now. */
  waitMs(subject: number, nowMs: number): number {
    const tatMs = this.#tatMs.get(subject);
    if (tatMs === undefined) return 0;
    const stepMs = 60_000 / this.#ratePerMinute();
    return Math.max(0, Math.ceil(tatMs - (this.#burst() - 1) * stepMs - nowMs));
  }

  spend(subject: number, nowMs: number): void {
    const stepMs = 60_000 / this.#ratePerMinute();
    const tatMs = Math.max(this.#tatMs.get(subject) ?? 0, nowMs) + stepMs;
    if (this.#tatMs.size >= SUBJECTS_MAX) this.#forgetIdle(nowMs);
    this.#tatMs.set(subject, tatMs);
  }

  /** A subject whose time has come is as good as unknown. */
  #forgetIdle(nowMs: number): void {
    for (const [subject, tatMs] of this.#tatMs) if (tatMs <= nowMs) this.#tatMs.delete(subject);
    if (this.#tatMs.size >= SUBJECTS_MAX) this.#tatMs.clear();
  }
}

const SUBJECTS_MAX = 100_000;
