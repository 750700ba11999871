import type { LedgerEvent } from '#core/events/ledger-event.ts';
import type { Command, ResultOf } from '#core/ledger/command.ts';
import type { Durability, Executed } from '#core/ledger/ledger.ts';
import { apply, foldEvent } from '#core/ledger/machine/apply.ts';
import { decide } from '#core/ledger/machine/decide.ts';
import { emptyLedger } from '#core/ledger/machine/empty-ledger.ts';
import type { LedgerState } from '#core/ledger/machine/state.ts';

/** One shard of a ledger whose log has each event some time after it was decided, or never. */
export class FaultyShard {
  /** What the log has. */
  readonly journal: LedgerEvent[] = [];
  #state: LedgerState = emptyLedger();
  #decided: LedgerEvent[] = [];
  #waits: { until: number; end: (durability: Durability) => void }[] = [];
  #isOpen = true;

  get state(): LedgerState {
    return this.#state;
  }

  execute<C extends Command>(command: C, nowMs: number): Executed<ResultOf<C>> {
    if (!this.#isOpen) {
      return { result: { ok: false, reason: 'unavailable' }, durable: Promise.resolve('durable') };
    }
    const { result, events } = decide(this.#state, command, nowMs);
    for (const event of events) {
      apply(this.#state, event);
      this.#decided.push(event);
    }
    return { result, durable: this.#durable() };
  }

  /** A repetition, too, waits for what it was answered from. */
  #durable(): Promise<Durability> {
    if (this.#decided.length === 0) return Promise.resolve('durable');
    const until = this.journal.length + this.#decided.length;
    return new Promise((end) => void this.#waits.push({ until, end }));
  }

  /** The log takes some. */
  acknowledge(count: number): void {
    this.journal.push(...this.#decided.splice(0, count));
    const waits = this.#waits;
    this.#waits = [];
    for (const wait of waits) {
      if (wait.until <= this.journal.length) wait.end('durable');
      else this.#waits.push(wait);
    }
  }

  /** Nobody waits any longer; what was decided may still come to the log. */
  lapse(): void {
    for (const { end } of this.#waits.splice(0)) end('unknown');
  }

  /** Of what was decided, the log gets only so many, and nobody hears of it. Closed until it is opened. */
  crash(kept: number): void {
    this.journal.push(...this.#decided.slice(0, kept));
    this.#decided = [];
    this.lapse();
    this.#isOpen = false;
  }

  /** Rebuilt from the log. */
  open(): void {
    if (this.#isOpen) return;
    this.#state = emptyLedger();
    for (const event of this.journal) foldEvent(this.#state, event);
    this.#isOpen = true;
  }
}
