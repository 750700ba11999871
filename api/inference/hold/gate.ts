import type { Durability } from '#core/ledger/ledger.ts';

export type GateOutcome = 'open' | 'shut';

/**
 * Stays closed until the journal has the hold of a call. `shut`: the journal did not confirm it in time, so the caller may
 * not see a byte of the call.
 */
export class Gate {
  readonly outcome: Promise<GateOutcome>;
  #resolve: (outcome: GateOutcome) => void = () => {};
  /**
   * `null` once it is decided. If the decided gate still had it, ended calls would live on until V8's next major collection,
   * with their bodies: that doubled the cost of collections.
   */
  #onDecided: ((outcome: GateOutcome) => void) | null;

  /** @param onDecided Called once, before `outcome` resolves. */
  constructor(durable: Promise<Durability>, onDecided: (outcome: GateOutcome) => void) {
    this.#onDecided = onDecided;
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    void durable.then((durability) => this.#decide(durability === 'durable' ? 'open' : 'shut'));
  }

  /** The journal has had its time. */
  shut(): void {
    this.#decide('shut');
  }

  #decide(outcome: GateOutcome): void {
    const onDecided = this.#onDecided;
    if (onDecided === null) return;
    this.#onDecided = null;
    onDecided(outcome);
    this.#resolve(outcome);
  }
}
