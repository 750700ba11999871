import type { ServerResponse } from 'node:http';
import type { Provider } from '#core/catalog/catalog.ts';
import { SECOND_MS } from '#core/clock.ts';
import type { ReserveResult } from '#core/ledger/command.ts';
import type { Executed } from '#core/ledger/ledger.ts';
import { GATE_TIMEOUT_MS, STALLED_READER_MS, USAGE_DRAIN_MS } from '#core/limits.ts';
import type { LogFields } from '#core/log.ts';
import type { NanoUsd } from '#core/money.ts';
import { traceOf } from '../../contract/trace-id.ts';
import { repeatsHidden } from '../scrub/scrub-words.ts';
import type { UpstreamRequest } from '../upstream/upstream-request.ts';
import { type CallerEvents, CallerSide } from './caller-side.ts';
import type { Gateway } from './gateway.ts';
import type { Ticking } from './open-calls.ts';

/** How often a running call renews its lease. Three renewals may fail before the lease expires. */
export const HOLD_LEASE_RENEW_MS = 15 * SECOND_MS;
/** A usage drain reads at most this much after the hang-up. */
const USAGE_DRAIN_BYTES = 16 * 1024 * 1024;
/** Usage drains at one time in a process. A hang-up beyond it closes the provider's connection. */
const USAGE_DRAINS_MAX = 200;

/**
 * Why the gateway ended a provider's answer. `hang_up`: the caller left, and the provider stops for that, or the usage drain
 * has reached its bound. `too_long`: there is more of an answer than can be kept, for a caller who waits for the whole.
 * `drain`: this process must end.
 */
export type EndedByUs = 'time_limit' | 'drain' | 'gate' | 'hang_up' | 'too_long';

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

/** How far an answer is read on for its usage after a hang-up. */
export interface DrainBounds {
  ms: number;
  bytes: number;
}

/** A call between its hold and its settlement, whatever it makes: who listens, and what ends it early. */
export abstract class HeldCall implements CallerEvents, Ticking {
  readonly options: HeldCallOptions;
  readonly caller: CallerSide;
  /** `shut`: the journal did not confirm the hold in time, so the caller may not see a byte of this call. */
  readonly gate: Promise<'open' | 'shut'>;
  /** Between a provider's socket and its first byte, over all attempts. */
  providerMs = 0;

  #upstream: UpstreamRequest | null = null;
  #endedByUs: EndedByUs | null = null;
  #headerId: string | null = null;
  #bodyId: string | null = null;
  #hungUp: boolean | null = null;
  #closing = false;
  #resolveGate: (gate: 'open' | 'shut') => void = () => {};
  #renewAtMs: number;
  #gateShut = false;
  /** Not null while the answer is read on after a hang-up. */
  #usageDrain: { endsAtMs: number; bytesMax: number } | null = null;
  #ended: PromiseWithResolvers<undefined> | null = null;

  /** What was asked for, by its path below `/v1`. */
  abstract readonly endpoint: string;
  /** Who runs the call now. */
  abstract readonly provider: Provider;
  /** What is worth keeping of the answer's id while the call still runs. */
  protected abstract readonly idToKeep: string | null;
  /** Whether the provider goes on, and bills, for a caller who has left: then only reading on tells what the call costs. */
  protected abstract readonly billsAfterHangUp: boolean;

  get callId(): number {
    return this.options.callId;
  }

  /** Why the gateway ended the provider's answer; `null`: it did not. */
  get endedByUs(): EndedByUs | null {
    return this.#endedByUs;
  }

  /** The provider's id for the answer, as soon as it is known. */
  get generationId(): string | null {
    return this.#headerId ?? this.#bodyId;
  }

  /** The id that came before there was an answer: the one under which a provider has a record even of a failure. */
  get headerId(): string | null {
    return this.#headerId;
  }

  /** True once the charge of the call has been decided. */
  get closing(): boolean {
    return this.#closing;
  }

  /** Whether the caller had left when the end of the call was decided; false before. */
  get hungUp(): boolean {
    return this.#hungUp ?? false;
  }

  /** The end of the call is decided now: a caller who leaves later has left after the call. */
  decideHangUp(): void {
    this.#hungUp ??= this.caller.gone;
  }

  beginClosing(): void {
    this.decideHangUp();
    this.#closing = true;
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
    this.#noteEnd('too_long');
  }

  /** What its lines in the log begin with. */
  get logFields(): Pick<LogFields, 'callId' | 'agentId' | 'traceId'> {
    const { callId, agentId, res } = this.options;
    return { callId, agentId, ...traceOf(res.req) };
  }

  constructor(options: HeldCallOptions) {
    this.options = options;
    this.#renewAtMs = options.arrivedAtMs + HOLD_LEASE_RENEW_MS;
    this.caller = new CallerSide(options.res, this, options.gateway.clock);
    this.gate = new Promise((resolve) => {
      this.#resolveGate = resolve;
    });
    void options.durable.then((durability) => {
      if (durability === 'durable') this.#openGate();
      else this.#shutGate();
    });
    options.gateway.openCalls.add(this);
    if (options.stream) options.gateway.openCalls.streams++;
  }

  protected get drainBounds(): DrainBounds {
    return textDrain;
  }

  /** Starts one attempt. Only the last one started is ended by a time limit or a hang-up. */
  protected send(post: () => UpstreamRequest): UpstreamRequest {
    this.startOver();
    this.#upstream = post();
    if (this.#endedByUs !== null) this.#upstream.abort();
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

  /** Resolves when we end it early. Made for who asks: few calls wait for anything but their provider. */
  get ended(): Promise<undefined> {
    this.#ended ??= Promise.withResolvers();
    if (this.#endedByUs !== null) this.#ended.resolve(undefined);
    return this.#ended.promise;
  }

  close(): void {
    const { gateway, holdNanoUsd, stream } = this.options;
    this.caller.leave();
    if (this.#usageDrain !== null) gateway.openCalls.usageDrains--;
    gateway.openCalls.delete(this);
    if (stream) gateway.openCalls.streams--;
    gateway.capacity.release(holdNanoUsd, this.#usageDrain === null);
    // What still comes after the end mark is not ours to wait for.
    if (this.#upstream?.ended === false) this.#upstream.abort();
  }

  tick(nowMs: number): void {
    const { arrivedAtMs, timeLimitMs } = this.options;
    if (nowMs - arrivedAtMs >= timeLimitMs) this.#endEarly('time_limit');
    else if (!this.caller.gateOpen && nowMs - arrivedAtMs >= GATE_TIMEOUT_MS) this.#shutGate();
    else if (this.#usageDrainIsOver(nowMs)) this.#endEarly('hang_up');

    const { blockedSinceMs } = this.caller;
    if (blockedSinceMs !== null && nowMs - blockedSinceMs >= STALLED_READER_MS) this.caller.drop();
    // Into a whole answer that is on its way nothing may be put.
    const mayBeSilent = this.options.stream && this.caller.committed;
    if (mayBeSilent && nowMs - this.caller.lastWriteAtMs >= HOLD_LEASE_RENEW_MS) this.caller.keepAlive();
    if (nowMs >= this.#renewAtMs) this.#renew(nowMs);
  }

  /** A caller who still listens hears why; a usage drain ends as any other that takes too long. */
  endForDrain(): void {
    this.#endEarly('drain');
  }

  /**
   * The hang-up. The provider's connection is closed in this very turn, so that the provider stops and the cost ends. Where
   * it would bill the whole answer all the same, that is read on within bounds, for the usage record of which the charge is
   * made. Before a byte of the request is out there is nothing to wait for either.
   */
  callerGone(): void {
    // The end was decided before the caller left.
    if (this.#hungUp !== null) return;
    if (this.billsAfterHangUp && this.requestSent) this.#beginUsageDrain();
    else this.#endEarly('hang_up');
  }

  callerDrained(): void {
    this.#upstream?.resume();
  }

  answerBegins(): void {
    const { gateway, arrivedAtMs } = this.options;
    gateway.metrics.added(gateway.clock.monotonicMs() - arrivedAtMs - this.providerMs);
  }

  #beginUsageDrain(): void {
    const { gateway } = this.options;
    if (gateway.openCalls.usageDrains >= USAGE_DRAINS_MAX) {
      this.#endEarly('hang_up');
      return;
    }
    gateway.openCalls.usageDrains++;
    const received = this.#upstream?.bytesReceived ?? 0;
    const { ms, bytes } = this.drainBounds;
    this.#usageDrain = { endsAtMs: gateway.clock.monotonicMs() + ms, bytesMax: received + bytes };
    gateway.capacity.leaveRunning();
    this.#upstream?.resume();
    // The call is no longer one of its agent's running ones. Its money stays held until it is settled.
    this.#renew(gateway.clock.monotonicMs());
  }

  #usageDrainIsOver(nowMs: number): boolean {
    if (this.#usageDrain === null) return false;
    const { endsAtMs, bytesMax } = this.#usageDrain;
    return nowMs >= endsAtMs || (this.#upstream?.bytesReceived ?? 0) > bytesMax;
  }

  #endEarly(cause: EndedByUs): void {
    this.#noteEnd(cause);
    this.#upstream?.abort();
    this.#ended?.resolve(undefined);
  }

  /** Whatever ends an answer that is read for nobody ends it for the hang-up. */
  #noteEnd(cause: EndedByUs): void {
    this.#endedByUs ??= this.caller.gone && cause !== 'gate' ? 'hang_up' : cause;
  }

  #openGate(): void {
    if (this.#gateShut) return;
    this.caller.openGate();
    this.#resolveGate('open');
  }

  #shutGate(): void {
    this.#gateShut = true;
    this.#endEarly('gate');
    this.#resolveGate('shut');
  }

  /** Keeps the slot, or leaves it after a hang-up. A renewal that is lost costs only the slot, never the money. */
  #renew(nowMs: number): void {
    this.#renewAtMs = nowMs + HOLD_LEASE_RENEW_MS;
    const { gateway, agentId, callId } = this.options;
    const holdsSlot = this.#usageDrain === null;
    gateway.ledger
      .execute({ type: 'renew', agentId, callId, generationId: this.idToKeep, holdsSlot })
      .catch((error) =>
        gateway.log.error('failed to renew the lease of a running call', { ...this.logFields, error }),
      );
  }
}

const textDrain: DrainBounds = { ms: USAGE_DRAIN_MS, bytes: USAGE_DRAIN_BYTES };
