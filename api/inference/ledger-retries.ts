import { type Clock, SECOND_MS } from '#core/clock.ts';
import type { Finish, FinishResult, Settle, SettleResult } from '#core/ledger/command.ts';
import type { Executed, Ledger } from '#core/ledger/ledger.ts';
import type { Log } from '#core/log.ts';

export type Closing = Settle | Finish;
export type ClosingResult = Executed<SettleResult | FinishResult>;

const FIRST_WAIT_MS = SECOND_MS / 4;
const WAIT_MAX_MS = 30 * SECOND_MS;

/**
 * The last step of a call is asked again, with the same id and the same amount, until the journal has it: a hold is
 * never left behind because the journal was out for a moment. Only a process's death ends this early, and then its
 * start cleans up.
 */
export class LedgerRetries {
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #owed = new Set<Promise<void>>();

  /** Closings whose acknowledgement is still owed. */
  get waiting(): number {
    return this.#owed.size;
  }

  constructor(options: { ledger: Ledger; clock: Clock; log: Log }) {
    this.#ledger = options.ledger;
    this.#clock = options.clock;
    this.#log = options.log;
  }

  /** Resolves when nothing is owed: the journal knows how every call of this process ended. */
  async idle(): Promise<void> {
    while (this.waiting > 0) await Promise.all(this.#owed);
  }

  /** The first answer, at once; whatever it was, the closing is carried on until it is durable. */
  async close(command: Closing): Promise<ClosingResult> {
    const first = await this.#ask(command);
    const owed = this.#carryOn(command, first);
    this.#owed.add(owed);
    void owed.then(() => this.#owed.delete(owed));
    return first;
  }

  async #carryOn(command: Closing, first: ClosingResult): Promise<void> {
    let answer = first;
    for (let waitMs = FIRST_WAIT_MS; !(await isClosed(answer)); waitMs = Math.min(waitMs * 2, WAIT_MAX_MS)) {
      await new Promise<void>((resolve) => this.#clock.setTimer(waitMs, resolve));
      answer = await this.#ask(command);
    }
    if (!answer.result.ok && answer.result.reason === 'no_hold') {
      this.#log.warn('call closed without a hold', { agentId: command.agentId, callId: command.callId });
    }
  }

  /** A ledger that throws is no reason to leave a hold behind either. */
  async #ask(command: Closing): Promise<ClosingResult> {
    try {
      return await (command.type === 'settle'
        ? this.#ledger.execute(command)
        : this.#ledger.execute(command));
    } catch (error) {
      const { agentId, callId } = command;
      this.#log.error('a call could not be closed, it is tried again', { agentId, callId, error });
      return { result: { ok: false, reason: 'unavailable' }, durable: Promise.resolve('unknown') };
    }
  }
}

async function isClosed(answer: ClosingResult): Promise<boolean> {
  if (!answer.result.ok) return answer.result.reason !== 'unavailable';
  return (await answer.durable) === 'durable';
}
