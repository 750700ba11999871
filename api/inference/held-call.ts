import type { ServerResponse } from 'node:http';
import type { Provider } from '#core/catalog/catalog.ts';
import type { ReserveResult } from '#core/ledger/command.ts';
import type { Executed } from '#core/ledger/ledger.ts';
import {
  GATE_TIMEOUT_MS,
  HOLD_LEASE_RENEW_MS,
  PUMP_BYTES,
  PUMP_MS,
  PUMPS_MAX,
  STALLED_READER_MS,
} from '#core/limits.ts';
import type { LogFields } from '#core/log.ts';
import type { NanoUsd } from '#core/money.ts';
import { traceOf } from '../contract/trace-id.ts';
import { type CallerEvents, CallerSide } from './caller-side.ts';
import type { Gateway } from './gateway.ts';
import type { Ticking } from './open-calls.ts';
import { repeatsHidden } from './scrub-words.ts';
import type { UpstreamRequest } from './upstream-request.ts';

/**
 * `too_long`: more of an answer than can be kept, for a caller who waits for the whole. `drain`: this process has to end.
 */
export type EndedByUs = 'time_limit' | 'drain' | 'gate' | 'pump_limit' | 'too_long';

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

export interface PumpBounds {
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
  #generationId: string | null = null;
  #hungUp: boolean | null = null;
  #closing = false;
  #resolveGate: (gate: 'open' | 'shut') => void = () => {};
  #renewAtMs: number;
  #gateShut = false;
  #pump: { endsAtMs: number; bytesMax: number } | null = null;
  #ended: PromiseWithResolvers<undefined> | null = null;

  /** What was asked for, by its path below `/v1`. */
  abstract readonly endpoint: string;
  /** Who runs the call now. */
  abstract readonly provider: Provider;
  /** What is worth keeping of the answer's id while the call still runs. */
  protected abstract readonly idToKeep: string | null;

  get callId(): number {
    return this.options.callId;
  }

  /** Why the gateway ended the provider's answer; `null`: it did not. */
  get endedByUs(): EndedByUs | null {
    return this.#endedByUs;
  }

  /** The provider's id for the answer, as soon as it is known. */
  get generationId(): string | null {
    return this.#generationId;
  }

  /** What the call pays has been decided. */
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

  /** Keeps the first id that the answer is given. The caller sees it, so an id that repeats the provider's key is none. */
  nameAnswer(generationId: string | null): void {
    if (generationId === null || repeatsHidden(generationId, this.provider)) return;
    this.#generationId ??= generationId;
  }

  /** More of an answer came than can be kept, for a caller who waits for the whole. */
  endAsTooLong(): void {
    this.#endedByUs ??= 'too_long';
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

  /** How far an answer is read on after a hang-up. */
  protected get pumpBounds(): PumpBounds {
    return textPump;
  }

  /** Starts one attempt. Only the last one started is ended by a time limit or a hang-up's bound. */
  protected send(post: () => UpstreamRequest): UpstreamRequest {
    this.startOver();
    this.#upstream = post();
    if (this.#endedByUs !== null) this.#upstream.abort();
    return this.#upstream;
  }

  /** The next attempt has asked nothing yet, and its answer has no id. */
  startOver(): void {
    this.#generationId = null;
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
    this.caller.leave();
    if (this.#pump !== null) this.options.gateway.openCalls.pumps--;
    this.options.gateway.openCalls.delete(this);
    if (this.options.stream) this.options.gateway.openCalls.streams--;
    // What still comes after the end mark is not ours to wait for.
    if (this.#upstream?.ended === false) this.#upstream.abort();
  }

  tick(nowMs: number): void {
    const { arrivedAtMs, timeLimitMs } = this.options;
    if (nowMs - arrivedAtMs >= timeLimitMs) this.#endEarly('time_limit');
    else if (!this.caller.gateOpen && nowMs - arrivedAtMs >= GATE_TIMEOUT_MS) this.#shutGate();
    else if (this.#pump !== null && this.#pumpIsOver(nowMs)) this.#endEarly('pump_limit');

    const { blockedSinceMs } = this.caller;
    if (blockedSinceMs !== null && nowMs - blockedSinceMs >= STALLED_READER_MS) this.caller.drop();
    // Into a whole answer that is on its way nothing may be put.
    const mayBeSilent = this.options.stream && this.caller.committed;
    if (mayBeSilent && nowMs - this.caller.lastWriteAtMs >= HOLD_LEASE_RENEW_MS) this.caller.keepAlive();
    if (nowMs >= this.#renewAtMs) this.#renew(nowMs);
  }

  /** Whoever still listens hears why; what is only read on for its usage ends as any other that takes too long. */
  endForDrain(): void {
    this.#endEarly(this.caller.gone ? 'pump_limit' : 'drain');
  }

  /** The answer is read on, within bounds, for the usage record that the charge is made of. */
  callerGone(): void {
    const { gateway } = this.options;
    this.#upstream?.resume();
    if (gateway.openCalls.pumps >= PUMPS_MAX) {
      this.#endEarly('pump_limit');
      return;
    }
    gateway.openCalls.pumps++;
    const received = this.#upstream?.bytesReceived ?? 0;
    const { ms, bytes } = this.pumpBounds;
    this.#pump = { endsAtMs: gateway.clock.monotonicMs() + ms, bytesMax: received + bytes };
  }

  callerDrained(): void {
    this.#upstream?.resume();
  }

  answerBegins(): void {
    const { gateway, arrivedAtMs } = this.options;
    gateway.metrics.added(gateway.clock.monotonicMs() - arrivedAtMs - this.providerMs);
  }

  #pumpIsOver(nowMs: number): boolean {
    if (this.#pump === null) return false;
    return nowMs >= this.#pump.endsAtMs || (this.#upstream?.bytesReceived ?? 0) > this.#pump.bytesMax;
  }

  #endEarly(cause: EndedByUs): void {
    this.#endedByUs ??= cause;
    this.#upstream?.abort();
    this.#ended?.resolve(undefined);
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

  /** Keeps the slot. A renewal that is lost costs only the slot, never the money. */
  #renew(nowMs: number): void {
    this.#renewAtMs = nowMs + HOLD_LEASE_RENEW_MS;
    const { gateway, agentId, callId } = this.options;
    gateway.ledger
      .execute({ type: 'renew', agentId, callId, generationId: this.idToKeep })
      .catch((error) => gateway.log.error('a lease could not be renewed', { ...this.logFields, error }));
  }
}

const textPump: PumpBounds = { ms: PUMP_MS, bytes: PUMP_BYTES };
