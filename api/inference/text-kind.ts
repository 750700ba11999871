import { reportsCost } from '#core/catalog/catalog.ts';
import type { NanoUsd } from '#core/money.ts';
import { type ApiError, errorTable } from '../contract/errors.ts';
import { answerHeaders, EVENT_STREAM } from './answer-headers.ts';
import type { Attempt, FailedAttempt } from './attempt.ts';
import { type CallCost, costOfCall } from './call-cost.ts';
import { runAttempt } from './run-attempt.ts';
import { type CallKind, countUnpaid } from './run-held-call.ts';
import type { RunningCall } from './running-call.ts';

type AnsweredAttempt = Exclude<Attempt, FailedAttempt>;

/** What a text call does differently from other held calls. */
export class TextKind implements CallKind<AnsweredAttempt, FailedAttempt> {
  readonly #call: RunningCall;

  constructor(call: RunningCall) {
    this.#call = call;
  }

  async ask(): Promise<Attempt> {
    const call = this.#call;
    let asked = call.provider;
    let attempt = await runAttempt(call);
    while (attempt.kind === 'failed' && attempt.mayFallBack && call.fallBack()) {
      countUnpaid(call.options.gateway, asked, 'failed_fallback', attempt.usage);
      asked = call.provider;
      attempt = await runAttempt(call);
    }
    return attempt;
  }

  costOfAnswer(answered: AnsweredAttempt): CallCost {
    return this.#cost(answered, answered.kind === 'json' || this.#call.options.plan.showUsage);
  }

  /**
   * What was written before the error; else, by the error's cost class, nothing or what the provider recorded, which is
   * usually nothing too.
   */
  costOfFailure({ error, usage, deliveredTokens }: FailedAttempt): CallCost | null {
    const call = this.#call;
    const recorded = errorTable[error.code].cost === 'recorded';
    // A call that the gate ended is a refusal, and was answered before.
    const byLimit = call.endedByUs !== null && call.endedByUs !== 'drain';
    const written = call.caller.committed || (byLimit && call.requestSent);
    if (!written && !(recorded && (usage !== null || this.#mayLookUp))) return null;
    // A caller who left owes no more for an answer that never began than one who waited.
    return this.#cost({ usage, deliveredTokens }, false, written && call.hungUp);
  }

  costOfUnconfirmed(ended: Attempt): CallCost {
    return this.#cost(ended, true, false);
  }

  keepStored(): null {
    return null;
  }

  showAnswer(answered: AnsweredAttempt, cost: CallCost, shown: NanoUsd | null): void {
    const call = this.#call;
    const { caller } = call;
    if (answered.kind === 'json') {
      const bytes = call.options.plan.format.showAnswer(answered, shown, call.candidate);
      const head = answerHeaders(call, 'application/json');
      head.push('content-length', String(bytes.length));
      caller.begin(head);
      caller.end(bytes);
      return;
    }
    if (!caller.committed) caller.begin(answerHeaders(call, EVENT_STREAM));
    caller.end(answered.reader.end({ identity: call.identity, shown, tokens: cost.tokens }));
  }

  showError(error: ApiError): void {
    const { caller, identity, options } = this.#call;
    caller.end(options.plan.format.streamError(identity, error));
  }

  get #mayLookUp(): boolean {
    return this.#call.generationId !== null && reportsCost(this.#call.provider);
  }

  #cost(
    { usage, deliveredTokens }: Pick<Attempt, 'usage' | 'deliveredTokens'>,
    shownNow: boolean,
    hungUp = this.#call.hungUp,
  ): CallCost {
    const call = this.#call;
    return costOfCall({
      plan: call.options.plan,
      candidate: call.candidate,
      usage,
      generationId: call.generationId,
      deliveredTokens,
      hungUp,
      shownNow: shownNow && !call.hungUp,
    });
  }
}
