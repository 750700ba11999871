import type { Settle } from '#core/ledger/command.ts';
import type { NanoUsd } from '#core/money.ts';
import type { ApiError } from '../../contract/errors.ts';
import type { CallKind } from '../../inference/hold/run-held-call.ts';
import { type CallCost, freeOfCharge } from '../../inference/price/call-cost.ts';
import { warnOperator } from '../../inference/upstream/warn-operator.ts';
import { askForImages } from './ask-for-images.ts';
import { errorEvents } from './image-answer.ts';
import type { FailedImages, ImageAttempt, MadeImages } from './image-attempt.ts';
import type { ImageCall } from './image-call.ts';
import { costOfImages } from './image-cost.ts';
import type { ImageOutput } from './image-output.ts';

/** Implements the parts of a held call that are particular to images. */
export class ImageKind implements CallKind<MadeImages, FailedImages> {
  readonly #call: ImageCall;
  readonly #output: ImageOutput;

  constructor(call: ImageCall, output: ImageOutput) {
    this.#call = call;
    this.#output = output;
  }

  async ask(): Promise<ImageAttempt> {
    const call = this.#call;
    const { model } = call.options.plan;
    const ended = await askForImages(call, this.#output);
    if (ended.kind === 'failed') warnOperator(call, model, model.id, ended.error.code);
    // Images are linked before the charge: those that cannot be linked are not paid for.
    else if (!call.caller.gone) await this.#output.prepare?.();
    return ended;
  }

  costOfAnswer({ usage, delivered }: MadeImages): CallCost {
    return costOfImages(this.#call, usage, delivered);
  }

  /**
   * A failed request is free, because the caller has none of its images. It is paid by a caller who left and was waited
   * for in vain, and by one that took images until the time was over: else a caller who takes the last one slowly enough
   * would have all the others for nothing.
   */
  costOfFailure({ usage, delivered }: FailedImages): CallCost | null {
    if (!this.#endsPaid || !this.#call.requestSent) return null;
    return costOfImages(this.#call, usage, delivered, 'recorded');
  }

  costOfUnconfirmed({ usage, delivered }: ImageAttempt): CallCost {
    if (usage === null && delivered === 0) return freeOfCharge;
    return costOfImages(this.#call, usage, delivered, 'estimated');
  }

  keepStored(): Settle['stored'] | null {
    return this.#output.keep?.() ?? null;
  }

  showAnswer({ created }: MadeImages, { tokens }: CallCost, shown: NanoUsd | null): void {
    this.#output.end({ created, tokens, cost: shown });
  }

  showError(error: ApiError): void {
    const { caller, options } = this.#call;
    if (options.stream) caller.end(errorEvents(error));
    // Half a JSON text has no better end than a visible one.
    else caller.drop();
  }

  /**
   * A restart is no trick of the caller's: half a JSON text is free then, also for a caller whose connection the restart has
   * closed, but images of a stream have come.
   */
  get #endsPaid(): boolean {
    const { caller, endedByUs, hungUp, options } = this.#call;
    if (endedByUs === 'shutdown') return caller.committed && options.stream;
    return hungUp ? endedByUs !== null : caller.committed && endedByUs === 'time_limit';
  }
}
