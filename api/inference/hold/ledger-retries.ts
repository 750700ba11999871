import { type Clock, SECOND_MS, wait } from '#core/clock.ts';
import type { Finish, FinishResult, Settle, SettleResult } from '#core/ledger/command.ts';
import type { Executed, Ledger } from '#core/ledger/ledger.ts';
import { END_AGAIN_MAX_MS } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import type { NanoUsd } from '#core/money.ts';

/** How long the last chunk of an answer waits for its settlement to become durable. */
export const LAST_CHUNK_WAIT_MS = 250;

export type Closing = Settle | Finish;

/** What the call was charged; `null`: its price is open, or nobody knows it. */
type Charged = NanoUsd | null;

const FIRST_WAIT_MS = SECOND_MS / 4;

/**
 * The last step of a call is asked again, with the same id and the same amount, until the journal has it: a hold is
 * never left behind because the journal was out for a moment. Only a process's death ends this early, and then its
 * start cleans up.
 */
export class LedgerRetries {
  readonly #options: { ledger: Ledger; clock: Clock; log: Log };
  readonly #waitingForIdle: (() => void)[] = [];
  #owed = 0;

  /** Closings whose acknowledgement is still owed. */
  get waiting(): number {
    return this.#owed;
  }

  constructor(options: { ledger: Ledger; clock: Clock; log: Log }) {
    this.#options = options;
  }

  /** Resolves when nothing is owed: the journal knows how every call of this process ended. */
  idle(): Promise<void> {
    if (this.#owed === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waitingForIdle.push(resolve));
  }

  /**
   * Resolves when the closing is durable, with what was charged; or after a quarter of a second, with `null`: then it
   * is carried on, and charges no more than the closing says.
   */
  close(command: Closing): Promise<Charged> {
    this.#owed++;
    return new Promise((resolve) => {
      const lastChunk = this.#options.clock.setTimer(LAST_CHUNK_WAIT_MS, () => resolve(null));
      void this.#carryOn(command, (charged) => {
        lastChunk.cancel();
        resolve(charged);
      });
    });
  }

  async #carryOn(command: Closing, onClosed: (charged: Charged) => void): Promise<void> {
    let closed = await this.#closes(command);
    for (let waitMs = FIRST_WAIT_MS; closed === 'open'; waitMs = Math.min(waitMs * 2, END_AGAIN_MAX_MS)) {
      await wait(this.#options.clock, waitMs);
      closed = await this.#closes(command);
    }
    this.#owed--;
    onClosed(closed);
    if (this.#owed === 0) for (const idle of this.#waitingForIdle.splice(0)) idle();
  }

  /** `open`: the journal does not have it. A ledger that throws is no reason to leave a hold behind either. */
  async #closes(command: Closing): Promise<Charged | 'open'> {
    const { ledger, log } = this.#options;
    const { agentId, callId } = command;
    try {
      const { result, durable }: Executed<SettleResult | FinishResult> = await (command.type === 'settle'
        ? ledger.execute(command)
        : ledger.execute(command));
      if (!result.ok && result.reason === 'unavailable') return 'open';
      // A refusal, too, may rest on what the journal does not have, or come from a store whose time has passed.
      if ((await durable) !== 'durable') return 'open';
      if (!result.ok && result.reason === 'no_hold')
        log.warn('call closed without a hold', { agentId, callId });
      return 'chargedNanoUsd' in result ? result.chargedNanoUsd : null;
    } catch (error) {
      log.error('a call could not be closed, it is tried again', { agentId, callId, error });
      return 'open';
    }
  }
}
