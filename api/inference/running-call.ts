import type { ServerResponse } from 'node:http';
import { SECOND_MS } from '#core/clock.ts';
import type { ReserveResult } from '#core/ledger/command.ts';
import type { Executed } from '#core/ledger/ledger.ts';
import {
  GATE_TIMEOUT_MS,
  LEASE_RENEW_MS,
  PUMP_BYTES,
  PUMP_MS,
  PUMPS_MAX,
  STALLED_READER_MS,
} from '#core/limits.ts';
import type { NanoUsd } from '#core/money.ts';
import type { CallPlan, Candidate } from './call-plan.ts';
import { type CallerEvents, CallerSide } from './caller-side.ts';
import type { AnswerIdentity } from './formats/call-format.ts';
import type { Gateway } from './gateway.ts';
import type { Ticking } from './open-calls.ts';
import type { UpstreamRequest } from './upstream-request.ts';

/** `too_long`: more of an answer than can be kept, for a caller who waits for the whole. */
export type EndedByUs = 'time_limit' | 'gate' | 'pump_limit' | 'too_long';

export interface RunningCallOptions {
  gateway: Gateway;
  plan: CallPlan;
  /** Of the plan, the one that is tried first. */
  candidate: Candidate;
  res: ServerResponse;
  callId: number;
  agentId: number;
  keyId: number;
  holdNanoUsd: NanoUsd;
  startedAtMs: number;
  /** When the whole request was here, by the monotonic clock. */
  arrivedAtMs: number;
  timeLimitMs: number;
  /** Of the messages format, those that the caller asked for; `null`: none. */
  betas: string | null;
  /** Of the reserve: no byte goes to the caller before it is durable. */
  durable: Executed<ReserveResult>['durable'];
}

/** A call between its hold and its settlement: who listens, who answers, and what ends it early. */
export class RunningCall implements CallerEvents, Ticking {
  readonly options: RunningCallOptions;
  readonly caller: CallerSide;
  /** `shut`: the journal did not confirm the hold in time, so the caller may not see a byte of this call. */
  readonly gate: Promise<'open' | 'shut'>;
  /** Who runs the call now. */
  candidate: Candidate;
  endedByUs: EndedByUs | null = null;
  /** What it pays has been decided. */
  closing = false;
  /** The provider's id for the answer, as soon as it is known. */
  generationId: string | null = null;
  /** Between a provider's socket and its first byte, over all attempts. */
  providerMs = 0;

  #upstream: UpstreamRequest | null = null;
  #resolveGate: (gate: 'open' | 'shut') => void = () => {};
  #renewAtMs: number;
  #gateShut = false;
  #pump: { endsAtMs: number; bytesMax: number } | null = null;

  get callId(): number {
    return this.options.callId;
  }

  constructor(options: RunningCallOptions) {
    this.options = options;
    this.candidate = options.candidate;
    this.#renewAtMs = options.arrivedAtMs + LEASE_RENEW_MS;
    this.caller = new CallerSide(options.res, this, options.gateway.clock);
    this.gate = new Promise((resolve) => {
      this.#resolveGate = resolve;
    });
    void options.durable.then((durability) => {
      if (durability === 'durable') this.#openGate();
      else this.#shutGate();
    });
    options.gateway.openCalls.add(this);
    if (options.plan.stream) options.gateway.openCalls.streams++;
  }

  /** Moves on to the next candidate. False: there is none, or nobody waits for it. */
  fallBack(): boolean {
    const { candidates } = this.options.plan;
    const next = candidates[candidates.indexOf(this.candidate) + 1];
    if (next === undefined || this.caller.gone || this.endedByUs !== null) return false;
    this.candidate = next;
    return true;
  }

  /** Also for a caller who waits for the whole answer, where a hang-up then stops the cost. */
  get asksStream(): boolean {
    return this.options.plan.stream || this.candidate.provider.cancel === 'stops_billing';
  }

  /** Starts one attempt. Only the last one started is ended by a time limit or a hang-up's bound. */
  dispatch(body: Buffer): UpstreamRequest {
    const { gateway } = this.options;
    // A failed attempt may still be sending: nobody would ever end it.
    if (this.#upstream?.ended === false) this.#upstream.abort();
    const { provider, format } = this.candidate;
    const { endpoint } = format;
    const betas = endpoint === 'messages' ? this.options.betas : null;
    this.#upstream = gateway.upstreams.post(provider, `/${endpoint}`, body, this.asksStream, betas);
    if (this.endedByUs !== null) this.#upstream.abort();
    return this.#upstream;
  }

  /** For what the gateway writes itself into the answer. */
  get identity(): AnswerIdentity {
    const { callId, startedAtMs } = this.options;
    return {
      id: this.generationId ?? String(callId),
      createdAtS: Math.floor(startedAtMs / SECOND_MS),
      model: this.candidate.model.id,
    };
  }

  /** False while no byte of the request can have reached the provider. */
  get requestSent(): boolean {
    return this.#upstream?.sent ?? false;
  }

  close(): void {
    this.caller.leave();
    if (this.#pump !== null) this.options.gateway.openCalls.pumps--;
    this.options.gateway.openCalls.delete(this);
    if (this.options.plan.stream) this.options.gateway.openCalls.streams--;
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
    if (this.caller.committed && nowMs - this.caller.lastWriteAtMs >= LEASE_RENEW_MS) this.caller.keepAlive();
    if (nowMs >= this.#renewAtMs) this.#renew(nowMs);
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
    this.#pump = { endsAtMs: gateway.clock.monotonicMs() + PUMP_MS, bytesMax: received + PUMP_BYTES };
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
    this.endedByUs ??= cause;
    this.#upstream?.abort();
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

  /**
   * Keeps the slot. A renewal that is lost costs only the slot, never the money. The answer's id is worth keeping
   * only beside the provider that the hold names: after a crash that one is asked for the price. And only of an attempt
   * that nothing can follow: a failed one is the operator's.
   */
  #renew(nowMs: number): void {
    this.#renewAtMs = nowMs + LEASE_RENEW_MS;
    const { gateway, plan, agentId, callId } = this.options;
    const isFirst = this.candidate === this.options.candidate;
    const isLast = this.caller.committed || plan.candidates.length === 1;
    const generationId = isFirst && isLast ? this.generationId : null;
    gateway.ledger
      .execute({ type: 'renew', agentId, callId, generationId })
      .catch((error) => gateway.log.error('a lease could not be renewed', { callId, agentId, error }));
  }
}
