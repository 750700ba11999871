import type { ServerResponse } from 'node:http';
import type { Provider } from '#core/catalog/catalog.ts';
import type { ReserveResult } from '#core/ledger/command.ts';
import type { Executed } from '#core/ledger/ledger.ts';
import { STALLED_READER_MS, USAGE_DRAIN_MS } from '#core/limits.ts';
import type { LogFields } from '#core/log.ts';
import type { NanoUsd } from '#core/money.ts';
import { traceOf } from '../../contract/trace-id.ts';
import { repeatsHidden } from '../scrub/scrub-words.ts';
import type { UpstreamRequest } from '../upstream/upstream-request.ts';
import { EVENT_STREAM, earlyHeaders } from './answer-headers.ts';
import { CallEnding } from './call-ending.ts';
import { type CallerEvents, CallerSide } from './caller-side.ts';
import { Gate, type GateOutcome } from './gate.ts';
import type { Gateway } from './gateway.ts';
import { Lease } from './lease.ts';
import type { Ticking } from './open-calls.ts';
import { UsageDrain, type UsageDrainBounds } from './usage-drain.ts';

/** How long a stream's caller may hear nothing. */
const SILENCE_MS = 10_000;

/** A usage drain of a text call reads at most this much after the hang-up. */
const USAGE_DRAIN_BYTES = 16 * 1024 * 1024;

/**
 * Why the gateway ended a provider's answer. `hang_up`: the caller left, and the provider stops for that, or the usage drain
 * has reached its bound. `too_long`: there is more of an answer than can be kept, for a caller who waits for the whole.
 * `shutdown`: this process must end.
 */
export type EndedByUs = 'time_limit' | 'shutdown' | 'gate' | 'hang_up' | 'too_long';

export interface HeldCallOptions {
  gateway: Gateway;
  res: ServerResponse;
  callId: number;
  agentId: number;
  keyId: number;
  holdNanoUsd: NanoUsd;
  startedAtMs: number;
  /** When the whole request was here, by the monotonic clock. */
  arrivedAtMs: number;
  timeLimitMs: number;
  /** The caller takes the answer as events. */
  stream: boolean;
  /** Of the reserve: no byte goes to the caller before it is durable. */
  durable: Executed<ReserveResult>['durable'];
}

/** A call between its hold and its settlement, whatever it makes: who listens, and what ends it early. */
export abstract class HeldCall implements CallerEvents, Ticking {
  readonly options: HeldCallOptions;
  readonly caller: CallerSide;
  readonly ending: CallEnding;
  /** Between a provider's socket and its first byte, over all attempts. */
  providerMs = 0;

  #upstream: UpstreamRequest | null = null;
  #headerId: string | null = null;
  #bodyId: string | null = null;
  readonly #gate: Gate;
  readonly #lease: Lease;
  /** Not null while the answer is read on after a hang-up. */
  #usageDrain: UsageDrain | null = null;

  /** The names of the fields that the provider was not sent, as the caller wrote them. */
  get ignoredFields(): readonly string[] {
    return [];
  }

  /** The same where it is not known yet which provider answers: those that any of them would not be sent. */
  get possiblyIgnoredFields(): readonly string[] {
    return this.ignoredFields;
  }

  /** The route of the call, below `/v1`. */
  abstract readonly endpoint: string;
  /** The provider that runs the current attempt. */
  abstract readonly provider: Provider;
  /** The answer's id to store with the lease while the call runs; `null`: none. */
  protected abstract readonly renewalId: string | null;
  /** Whether the provider goes on, and bills, for a caller who has left: then only reading on tells what the call costs. */
  protected abstract readonly billsAfterHangUp: boolean;

  /** Whether the journal confirmed the hold in time. */
  get gate(): Promise<GateOutcome> {
    return this.#gate.outcome;
  }

  get callId(): number {
    return this.options.callId;
  }

  /** Why the gateway ended the provider's answer; `null`: it did not. */
  get endedByUs(): EndedByUs | null {
    return this.ending.byUs;
  }

  /** Whether the caller had left when the end of the call was decided; false before. */
  get hungUp(): boolean {
    return this.ending.hungUp;
  }

  /** The provider's id for the answer, as soon as it is known. */
  get generationId(): string | null {
    return this.#headerId ?? this.#bodyId;
  }

  /** The id that came before there was an answer: the one under which a provider has a record even of a failure. */
  get headerId(): string | null {
    return this.#headerId;
  }

  /**
   * Keeps the first id that a place gives. An answer's own words count only where its head has none. The caller sees the id, so
   * one that repeats the provider's key is none.
   */
  nameAnswer(place: 'header' | 'body', generationId: string | null): void {
    if (generationId === null || repeatsHidden(generationId, this.provider)) return;
    if (place === 'header') this.#headerId ??= generationId;
    else this.#bodyId ??= generationId;
  }

  /** More of an answer came than can be kept, for a caller who waits for the whole. */
  endAsTooLong(): void {
    this.ending.endEarly('too_long');
  }

  /** The fields that identify the call in each of its log lines. */
  get logFields(): Pick<LogFields, 'callId' | 'agentId' | 'traceId'> {
    const { callId, agentId, res } = this.options;
    return { callId, agentId, ...traceOf(res.req) };
  }

  constructor(options: HeldCallOptions) {
    this.options = options;
    this.#lease = new Lease(options, options.arrivedAtMs);
    this.caller = new CallerSide(options.res, this, options.gateway.clock);
    this.ending = new CallEnding(this.caller);
    this.#gate = new Gate(options.durable, (outcome) => {
      if (outcome === 'open') this.caller.openGate();
      else this.#endEarly('gate');
    });
    options.gateway.openCalls.add(this);
    if (options.stream) options.gateway.openCalls.streams++;
  }

  protected get usageDrainBounds(): UsageDrainBounds {
    return textUsageDrain;
  }

  /** Starts one attempt. Only the last one started is ended by a time limit or a hang-up. */
  protected send(post: () => UpstreamRequest): UpstreamRequest {
    this.startOver();
    this.#upstream = post();
    if (this.endedByUs !== null) this.#upstream.abort();
    return this.#upstream;
  }

  /** The next attempt has asked nothing yet, and its answer has no id. */
  startOver(): void {
    this.#headerId = null;
    this.#bodyId = null;
    // A failed attempt may still be sending, and nothing else would end it.
    if (this.#upstream?.ended === false) this.#upstream.abort();
    this.#upstream = null;
  }

  /** False while no byte of the request can have reached the provider. */
  get requestSent(): boolean {
    return this.#upstream?.sent ?? false;
  }

  /** Resolves when the gateway ends the call early. */
  get ended(): Promise<undefined> {
    return this.ending.early;
  }

  close(): void {
    const { gateway, holdNanoUsd, stream } = this.options;
    this.caller.leave();
    this.#usageDrain?.end();
    gateway.openCalls.delete(this);
    if (stream) gateway.openCalls.streams--;
    gateway.capacity.release(holdNanoUsd, this.#usageDrain === null);
    this.#upstream?.leave(gateway.clock);
  }

  tick(nowMs: number): void {
    const { arrivedAtMs, timeLimitMs, gateway } = this.options;
    if (nowMs - arrivedAtMs >= timeLimitMs) this.#endEarly('time_limit');
    else if (!this.caller.gateOpen && nowMs - arrivedAtMs >= gateway.gateTimeoutMs) this.#gate.shut();
    else if (this.#usageDrain?.isOver(nowMs) === true) this.#endEarly('hang_up');

    const { blockedSinceMs } = this.caller;
    if (blockedSinceMs !== null && nowMs - blockedSinceMs >= STALLED_READER_MS) this.caller.drop();
    // A JSON answer has no place for a comment, and its caller waits.
    if (this.options.stream) this.#breakSilence(nowMs);
    if (this.#lease.isDue(nowMs)) this.#renew(nowMs);
  }

  /** Balancers close a connection that says nothing, and a model may read a long prompt for minutes. */
  #breakSilence(nowMs: number): void {
    const { caller } = this;
    if (nowMs - Math.max(caller.lastWriteAtMs, this.options.arrivedAtMs) < SILENCE_MS) return;
    if (!caller.headSent) caller.beginEarly(earlyHeaders(this, EVENT_STREAM));
    if (caller.headSent) caller.keepAlive();
  }

  /** A caller that is still connected receives the reason. A usage drain ends as one that has reached its bound. */
  endForShutdown(): void {
    this.#endEarly('shutdown');
  }

  /**
   * The hang-up. The provider's connection is closed in this very turn, so that the provider stops and the cost ends. A provider
   * that would bill the whole answer anyway is read on within bounds (`usage-drain.ts`). If no byte of the request has left, there is
   * nothing to read on for.
   */
  callerGone(): void {
    // The end was decided before the caller left.
    if (this.ending.decided) return;
    const upstream = this.#upstream;
    if (this.billsAfterHangUp && upstream?.sent === true) this.#beginUsageDrain(upstream);
    else this.#endEarly('hang_up');
  }

  callerResumed(): void {
    this.#upstream?.resume();
  }

  answerBegins(): void {
    const { gateway, arrivedAtMs } = this.options;
    gateway.metrics.added(gateway.clock.monotonicMs() - arrivedAtMs - this.providerMs);
  }

  #beginUsageDrain(upstream: UpstreamRequest): void {
    const { clock, openCalls, capacity } = this.options.gateway;
    const nowMs = clock.monotonicMs();
    this.#usageDrain = UsageDrain.begin(openCalls, upstream, this.usageDrainBounds, nowMs);
    if (this.#usageDrain === null) {
      this.#endEarly('hang_up');
      return;
    }
    capacity.leaveRunning();
    // The call is no longer one of its agent's running calls. Its money stays held until it is settled.
    this.#renew(nowMs);
  }

  #endEarly(cause: EndedByUs): void {
    this.ending.endEarly(cause);
    this.#upstream?.abort();
  }

  #renew(nowMs: number): void {
    const renewal = { generationId: this.renewalId, holdsSlot: this.#usageDrain === null };
    this.#lease.renew(nowMs, renewal, this.logFields);
  }
}

const textUsageDrain: UsageDrainBounds = { ms: USAGE_DRAIN_MS, bytes: USAGE_DRAIN_BYTES };
