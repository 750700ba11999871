import { type Clock, SECOND_MS, type Timer } from '#core/clock.ts';
import { IndexedSet } from '#core/indexed-set.ts';
import type { Log } from '#core/log.ts';

/** What a running call does once a second: its time limits, its lease, its caller's patience. */
export interface Ticking {
  readonly callId: number;
  /** By the monotonic clock: a step of the wall clock ends no call. */
  tick(nowMs: number): void;
  /** This process has no more time for it. */
  endForShutdown(): void;
}

const TICK_MS = SECOND_MS;

/** All calls of this process share one timer: a timer and a closure for each would cost more than the calls do. */
export class OpenCalls {
  /** Answers that are read on after a hang-up, for their usage. */
  usageDrains = 0;
  streams = 0;
  /** Calls that a shutdown ended because its time was over. */
  endedByShutdown = 0;
  readonly #calls = new IndexedSet<Ticking>();
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #waiting: (() => void)[] = [];
  #isEnding = false;
  #timer: Timer | null = null;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Looks at all of them: for the few calls that seem to be orphans. */
  has(callId: number): boolean {
    for (const call of this.#calls) if (call.callId === callId) return true;
    return false;
  }

  add(call: Ticking): void {
    this.#calls.add(call);
    this.#timer ??= this.#clock.setTimer(TICK_MS, this.#tick);
    if (this.#isEnding) this.#end(call);
  }

  delete(call: Ticking): void {
    this.#calls.delete(call);
    if (this.#calls.size > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Answers how many there are: each ends by itself, soon, and so does one whose hold is still on its way. */
  endAll(): number {
    this.#isEnding = true;
    const ending = [...this.#calls];
    for (const call of ending) this.#end(call);
    return ending.length;
  }

  #end(call: Ticking): void {
    this.endedByShutdown += 1;
    call.endForShutdown();
  }

  /** Resolves when none is open, answers that are read on after a hang-up included. */
  idle(): Promise<void> {
    if (this.#calls.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  readonly #tick = (): void => {
    const nowMs = this.#clock.monotonicMs();
    for (const call of this.#calls) this.#tickCall(call, nowMs);
    this.#timer = this.#calls.size === 0 ? null : this.#clock.setTimer(TICK_MS, this.#tick);
  };

  /** One call's fault must not stop the timer of all the others. */
  #tickCall(call: Ticking, nowMs: number): void {
    try {
      call.tick(nowMs);
    } catch (error) {
      this.#log.error('failed to look after a running call', { error });
    }
  }
}
