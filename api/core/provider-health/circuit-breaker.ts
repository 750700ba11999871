import { SECOND_MS } from '../clock.ts';
import { BREAKER_COOLDOWN_MS } from '../limits.ts';

export type BreakerCause = 'unconnected' | 'key_refused' | 'unpaid' | 'rate_limited' | 'failing';

/** A call that was sent: its place among all calls of this process tells what it can know of. */
export interface Ticket {
  readonly order: number;
}

export interface Opening {
  cause: BreakerCause;
  /** The way to close the breaker after the cooldown: a probe of ours, or one call that is let through. */
  recovery: 'probe' | 'call';
  /** A wait that the provider named; `null`: a cooldown that doubles each time. */
  waitMs: number | null;
}

/**
 * One circuit breaker. Closed lets all calls through, open lets none through, and half-open lets one call through. It knows
 * nothing of timers: who opens it for a probe's sake also runs that probe (`prober.ts`).
 */
export class CircuitBreaker {
  readonly #cooldownMaxMs: number;
  #state: 'closed' | 'open' | 'half_open' = 'closed';
  #cause: BreakerCause | null = null;
  #recovery: Opening['recovery'] = 'call';
  /** The newest call that was sent before the breaker opened. */
  #openedOrder = 0;
  #retryAtMs = 0;
  #closedAtMs = 0;
  /** Openings since the last call that worked. */
  #openings = 0;
  #trial: { order: number; endsAtMs: number } | null = null;
  #generation = 0;

  constructor(cooldownMaxMs: number) {
    this.#cooldownMaxMs = cooldownMaxMs;
  }

  /** `null` while the breaker is closed. */
  get cause(): BreakerCause | null {
    return this.#state === 'closed' ? null : this.#cause;
  }

  /** Counts the openings, so that a probe of an earlier one is told from a probe of this one. */
  get generation(): number {
    return this.#generation;
  }

  /** Nothing is remembered that a new breaker would not know. */
  get isPristine(): boolean {
    return this.#state === 'closed' && this.#openings === 0;
  }

  /** How long a call has to wait; `null`: it may be sent now. */
  waitMs(nowMs: number): number | null {
    switch (this.#state) {
      case 'closed':
        return null;
      case 'open':
        if (nowMs < this.#retryAtMs) return this.#retryAtMs - nowMs;
        // The probe is on its way, and has a second or two.
        return this.#recovery === 'probe' ? RETRY_SOON_MS : null;
      case 'half_open': {
        const waitMs = this.#trial === null ? 0 : this.#trial.endsAtMs - nowMs;
        return waitMs > 0 ? Math.min(waitMs, RETRY_SOON_MS) : null;
      }
    }
  }

  /** The call is sent. After a cooldown it is the trial, and all others wait for its answer. */
  begin({ order }: Ticket, nowMs: number): void {
    if (this.#state === 'closed') return;
    this.#state = 'half_open';
    this.#trial = { order, endsAtMs: nowMs + TRIAL_MS };
  }

  /**
   * @param newestOrder The newest call that has been sent by now. Later failures of these calls are of the same fault.
   * @returns Whether this is a new opening.
   */
  open({ order }: Ticket, opening: Opening, newestOrder: number, nowMs: number): boolean {
    if (this.#state !== 'closed' && order <= this.#openedOrder) {
      if (opening.waitMs !== null && opening.cause === this.#cause)
        this.#retryAtMs = Math.max(this.#retryAtMs, nowMs + opening.waitMs);
      return false;
    }
    this.#cause = opening.cause;
    this.#recovery = opening.recovery;
    this.#openedOrder = newestOrder;
    this.#generation++;
    this.#cool(opening.waitMs, nowMs);
    return true;
  }

  /** A probe failed: the next cooldown begins. */
  probeFailed(nowMs: number): void {
    if (this.#state === 'open') this.#cool(null, nowMs);
  }

  /** A probe passed. The next opening's cooldown is still longer, unless a call has worked by then. */
  probePassed(nowMs: number): void {
    this.#state = 'closed';
    this.#closedAtMs = nowMs;
  }

  /** No probe can tell: one call is let through. */
  awaitCall(): void {
    this.#recovery = 'call';
  }

  /** A call worked. One that was sent before the breaker opened says nothing of the time since. */
  callWorked({ order }: Ticket): void {
    if (this.#state !== 'closed' && order <= this.#openedOrder) return;
    this.#state = 'closed';
    this.#openings = 0;
    this.#trial = null;
  }

  /** The call showed nothing. If it was the trial, the next call is. */
  release({ order }: Ticket): void {
    if (this.#trial?.order === order) this.#trial = null;
  }

  #cool(waitMs: number | null, nowMs: number): void {
    if (this.#state === 'closed' && nowMs - this.#closedAtMs >= FORGET_MS) this.#openings = 0;
    this.#state = 'open';
    this.#trial = null;
    const doubled = BREAKER_COOLDOWN_MS * 2 ** Math.min(this.#openings, 10);
    this.#retryAtMs = nowMs + (waitMs ?? Math.min(this.#cooldownMaxMs, doubled));
    if (waitMs === null) this.#openings++;
  }
}

/** A trial whose answer has not begun by then keeps nobody else out. */
const TRIAL_MS = 10 * SECOND_MS;
/** The wait that a caller is told while a probe or a trial is on its way. */
const RETRY_SOON_MS = SECOND_MS;
/** A breaker that has been closed for so long begins again with the shortest cooldown. */
const FORGET_MS = 60 * SECOND_MS;
