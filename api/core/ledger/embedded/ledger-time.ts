import { type Clock, MINUTE_MS } from '../../clock.ts';
import { CLOCK_APART_MAX_MS } from '../../limits.ts';
import type { Log } from '../../log.ts';

/** The ledger's time, which never steps back, whatever the machine's clock does. */
export class LedgerTime {
  readonly #clock: Clock;
  readonly #log: Log;
  #lastMs = 0;
  #warnAgainAtMs = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  /** At the last decision. */
  get lastMs(): number {
    return this.#lastMs;
  }

  /** The time of a decision, before which nothing is decided any more. */
  advance(): number {
    const wallMs = this.#clock.now();
    if (wallMs < this.#lastMs - CLOCK_APART_MAX_MS) this.#warnClockIsBehind(this.#lastMs - wallMs);
    this.#lastMs = Math.max(this.#lastMs, wallMs);
    return this.#lastMs;
  }

  /** A journal that was opened has a decision of this time. */
  advanceTo(atMs: number): void {
    this.#lastMs = Math.max(this.#lastMs, atMs);
  }

  /** The time of a read. It moves nothing, so a clock that is wrong for a moment has no lasting effect. */
  peek(): number {
    return Math.max(this.#lastMs, this.#clock.now());
  }

  /** Once a minute at most, while nothing starts for this reason. */
  #warnClockIsBehind(behindMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs < this.#warnAgainAtMs) return;
    this.#warnAgainAtMs = nowMs + MINUTE_MS;
    this.#log.error(
      'the clock of this machine is behind the journal: until it has caught up no call starts, see faregate clock',
      { durationMs: behindMs },
    );
  }
}
