import type { NanoUsd } from '#core/money.ts';
import { type ApiError, errorTable } from '../../contract/errors.ts';
import { answerHeaders, EVENT_STREAM } from '../hold/answer-headers.ts';
import { type CallKind, countUnpaid } from '../hold/run-held-call.ts';
import { type CallCost, costOfCall } from '../price/call-cost.ts';
import { AnswerWords } from '../scrub/answer-words.ts';
import { scrubAnswer, scrubEvents } from '../scrub/scrub-answer.ts';
import { type Attempt, type FailedAttempt, failed } from './attempt.ts';
import { keepImages } from './keep-images.ts';
import { runAttempt } from './run-attempt.ts';
import type { RunningCall } from './running-call.ts';

type AnsweredAttempt = Exclude<Attempt, FailedAttempt>;

/** Implements the parts of a held call that are particular to text. */
export class TextKind implements CallKind<AnsweredAttempt, FailedAttempt> {
  readonly #call: RunningCall;

  constructor(call: RunningCall) {
    this.#call = call;
  }

  async ask(): Promise<Attempt> {
    const call = this.#call;
    const { images = [] } = call.options;
    const notKept = images.length === 0 ? null : await keepImages(call, images);
    if (notKept !== null) return failed(notKept, false);
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
    const { hungUp, options } = this.#call;
    const shownNow = !hungUp && (answered.kind === 'json' || options.plan.showUsage);
    return this.#cost(answered, { shownNow });
  }

  /**
   * A caller who left pays the prompt and all that was read until the gateway closed the provider's connection, and an answer
   * that had begun pays what was written. A call that is refused by a status pays what the provider recorded, usually
   * nothing, as the cost class of its error says: whatever limit ended it, its caller has nothing of it.
   */
  costOfFailure(failed: FailedAttempt): CallCost | null {
    const { caller, endedByUs, headerId, requestSent } = this.#call;
    const isHangUp = endedByUs === 'hang_up' && failed.cutByUs;
    if (isHangUp && requestSent) return this.#cost(failed, { shownNow: false, stopped: true });
    if (caller.committed) return this.#costOfWritten(failed);
    if (errorTable[failed.error.code].cost !== 'recorded') return null;
    const usage = failed.cutByUs ? null : failed.usage;
    const mayLookUp = headerId !== null && this.#call.provider.kind.price !== null;
    if (usage === null && !mayLookUp) return null;
    return this.#cost({ usage, deliveredTokens: 0 }, { shownNow: false, generationId: headerId });
  }

  costOfUnconfirmed(ended: Attempt): CallCost {
    return this.#cost(ended, { shownNow: true });
  }

  keepStored(): null {
    return null;
  }

  showAnswer(answered: AnsweredAttempt, cost: CallCost, shown: NanoUsd | null): void {
    const call = this.#call;
    const { caller } = call;
    if (answered.kind === 'json') {
      const answer = call.options.plan.format.showAnswer(
        answered,
        { identity: call.identity, shown, tokens: cost.tokens },
        call.candidate,
      );
      const bytes = scrubAnswer(answer, call.hidden);
      const headers = answerHeaders(call, 'application/json');
      caller.begin({ ...headers, 'content-length': String(bytes.length) });
      caller.end(bytes);
      return;
    }
    if (!caller.committed) caller.begin(answerHeaders(call, EVENT_STREAM));
    const last = answered.reader.end({ identity: call.identity, shown, tokens: cost.tokens });
    caller.end(scrubEvents(last, new AnswerWords(call.hidden)));
  }

  showError(error: ApiError): void {
    const { caller, identity, options, shownEvents } = this.#call;
    const { plan } = options;
    caller.end(plan.format.streamError(identity, error, shownEvents, plan));
  }

  /** A provider that failed before it wrote any text has a record only under the id that came ahead of the answer. */
  #costOfWritten(failed: FailedAttempt): CallCost {
    const { generationId, headerId, hungUp } = this.#call;
    const isWritten = failed.deliveredTokens > 0;
    return this.#cost(failed, {
      shownNow: false,
      stopped: hungUp && (isWritten || failed.usage !== null),
      generationId: isWritten ? generationId : headerId,
    });
  }

  #cost(
    { usage, deliveredTokens }: Pick<Attempt, 'usage' | 'deliveredTokens'>,
    facts: { shownNow: boolean; stopped?: boolean; generationId?: string | null },
  ): CallCost {
    const call = this.#call;
    return costOfCall({
      plan: call.options.plan,
      candidate: call.candidate,
      usage,
      generationId: call.generationId,
      deliveredTokens,
      stopped: false,
      ...facts,
    });
  }
}
