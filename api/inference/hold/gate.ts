import type { Durability } from '#core/ledger/ledger.ts';

export type GateOutcome = 'open' | 'shut';

/**
 * Stays closed until the journal has the hold of a call. `shut`: the journal did not confirm it in time, so the caller may
 * not see a byte of the call.
 */
export class Gate {
  readonly outcome: Promise<GateOutcome>;
  readonly #decide: (outcome: GateOutcome) => void;

  /** @param onDecided - Called once, before `outcome` resolves. */
  constructor(durable: Promise<Durability>, onDecided: (outcome: GateOutcome) => void) {
    const { promise, resolve } = Promise.withResolvers<GateOutcome>();
    this.outcome = promise;
    let isDecided = false;
    this.#decide = (outcome) => {
      if (isDecided) return;
      isDecided = true;
      onDecided(outcome);
      resolve(outcome);
    };
    void durable.then((durability) => this.#decide(durability === 'durable' ? 'open' : 'shut'));
  }

  /** The journal has had its time. */
  shut(): void {
    this.#decide('shut');
  }
}
