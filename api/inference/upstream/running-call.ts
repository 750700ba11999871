import type { Provider } from '#core/catalog/catalog.ts';
import { SECOND_MS } from '#core/clock.ts';
import { betaHeaders, withBetasOf } from '../../providers/messages-betas.ts';
import type { CallPlan, Candidate } from '../admit/call-plan.ts';
import type { PlacedImage } from '../admit/place-inline-images.ts';
import type { AnswerIdentity } from '../formats/call-format.ts';
import { HeldCall, type HeldCallOptions } from '../hold/held-call.ts';
import { type Hidden, hiddenOf } from '../scrub/scrub-words.ts';
import type { UpstreamRequest } from './upstream-request.ts';

export interface RunningCallOptions extends HeldCallOptions {
  plan: CallPlan;
  /** Of the plan, the one that is tried first. */
  candidate: Candidate;
  /** Images that stood in the request, to be kept before any provider is asked. */
  images?: readonly PlacedImage[];
}

/** A call of a text model between its hold and its settlement: who answers it now, and who may instead. */
export class RunningCall extends HeldCall {
  declare readonly options: RunningCallOptions;
  /** The candidate of the current attempt. */
  candidate: Candidate;

  #shownEvents: () => number = () => 0;

  /** @param count How many events the caller has been shown. */
  countShown(count: () => number): void {
    this.#shownEvents = count;
  }

  get shownEvents(): number {
    return this.#shownEvents();
  }

  constructor(options: RunningCallOptions) {
    super(options);
    this.candidate = options.candidate;
  }

  get endpoint(): string {
    return this.options.plan.format.name;
  }

  get provider(): Provider {
    return this.candidate.provider;
  }

  /**
   * Only beside the provider that the hold names: after a crash that one is asked for the price. And only of an attempt
   * that nothing can follow: a failed one is the operator's.
   */
  protected get renewalId(): string | null {
    const isFirst = this.candidate === this.options.candidate;
    const isLast = this.caller.committed || this.options.plan.candidates.length === 1;
    return isFirst && isLast ? this.generationId : null;
  }

  override get ignoredFields(): readonly string[] {
    return [...this.candidate.leftOut, ...this.candidate.hints];
  }

  override get possiblyIgnoredFields(): readonly string[] {
    const { candidates } = this.options.plan;
    const possible = candidates.slice(candidates.indexOf(this.candidate));
    return [...new Set(possible.flatMap(({ leftOut }) => leftOut))];
  }

  protected get billsAfterHangUp(): boolean {
    return this.provider.cancel === 'bills_full';
  }

  /** Moves on to the next candidate. False: there is none, or nobody waits for it. */
  fallBack(): boolean {
    const { candidates } = this.options.plan;
    const next = candidates[candidates.indexOf(this.candidate) + 1];
    if (next === undefined || this.caller.gone || this.endedByUs !== null) return false;
    this.candidate = next;
    this.startOver();
    return true;
  }

  /** Also for a caller who waits for the whole answer, where a hang-up then ends the cost. */
  get asksStream(): boolean {
    const { format, provider } = this.candidate;
    return this.options.plan.stream || provider.cancel === 'stops_billing' || format.name === 'own';
  }

  dispatch(body: Buffer): UpstreamRequest {
    const { gateway } = this.options;
    const { provider, format, sentBetaFields = [] } = this.candidate;
    const betas = format.name === 'messages' ? withBetasOf(sentBetaFields, this.options.plan.betas) : null;
    const { upstreamModel } = this.candidate.endpoint;
    const stream = this.asksStream;
    const { kind } = provider;
    const asked = { format: format.name, upstreamModel, stream };
    const headers = betas === null ? null : betaHeaders(betas);
    const request = { path: kind.answerPath(asked), body, stream, headers };
    return this.send(() => gateway.upstreams.post(provider, request, kind.openAdapter?.(asked) ?? null));
  }

  /** The words that the answer must not show. */
  get hidden(): Hidden {
    return hiddenOf(this.candidate);
  }

  /** For what the gateway writes itself into the answer. */
  get identity(): AnswerIdentity {
    const { callId, gateway, startedAtMs } = this.options;
    return {
      id: this.generationId ?? String(callId),
      createdAtS: Math.floor(startedAtMs / SECOND_MS),
      // A clock that was set back would end the answer before it began.
      nowS: Math.floor(Math.max(startedAtMs, gateway.clock.now()) / SECOND_MS),
      model: this.candidate.model.id,
    };
  }
}
