import { type Clock, DAY_MS, type MachineClock, SECOND_MS } from '#core/clock.ts';
import { type TrustedClock, trustedClock } from '#core/trusted-clock.ts';
import type { VirtualTime } from './virtual-time.ts';

/**
 * A process of the cluster, as others see it: it dies, stands still, and believes what its clock says. Code that runs
 * in it is left alone; a dead process is one to which nothing comes any more.
 */
export class SimProcess {
  readonly name: string;
  readonly clock: Clock;
  /** The same, where the process doubts jumps of its wall clock as the product's do. */
  readonly trusted: TrustedClock | null;
  /** Of its wall clock. */
  skewMs = 0;
  alive = true;
  /** What a process looks at again and again, it may look at so much more seldom where nothing happens. */
  stretch = 1;
  readonly #time: VirtualTime;
  readonly #startedAtMs: number;
  #stillUntilMs = 0;

  constructor(name: string, time: VirtualTime, doubtsJumps: boolean) {
    this.name = name;
    this.#time = time;
    this.#startedAtMs = time.nowMs;
    const machine: MachineClock = {
      bootId: null,
      // Its machine has learnt the time long ago.
      uptimeMs: () => DAY_MS + time.nowMs - this.#startedAtMs,
      now: () => time.nowMs + this.skewMs,
      monotonicMs: () => time.nowMs - this.#startedAtMs,
      setTimer: (delayMs, fire) => {
        let live = true;
        const timer = time.after(delayMs <= SECOND_MS ? delayMs * this.stretch : delayMs, () =>
          this.receive(() => {
            if (live) fire();
          }),
        );
        return {
          cancel() {
            live = false;
            timer.cancel();
          },
        };
      },
    };
    this.trusted = doubtsJumps ? trustedClock(machine) : null;
    this.clock = this.trusted ?? machine;
  }

  get standsStill(): boolean {
    return this.#stillUntilMs > this.#time.nowMs;
  }

  /** SIGSTOP, and SIGCONT so much later. */
  standStill(ms: number): void {
    this.#stillUntilMs = Math.max(this.#stillUntilMs, this.#time.nowMs + ms);
  }

  /** Something arrives. `delayMs`: how much later it is looked at where it had to wait. */
  receive(look: () => void, delayMs = 0): void {
    if (!this.alive) return;
    const stillMs = this.#stillUntilMs - this.#time.nowMs;
    if (stillMs > 0) this.#time.after(stillMs + delayMs, () => this.receive(look));
    else look();
  }
}
