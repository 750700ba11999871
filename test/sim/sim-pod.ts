import type { CallEnd, CallFacts, SavedPrice } from '#core/events/ledger-event.ts';
import type { Command, Reserve, ResultOf } from '#core/ledger/command.ts';
import type { Durability } from '#core/ledger/ledger.ts';
import { GATE_TIMEOUT_MS, USAGE_DRAIN_MS } from '#core/limits.ts';
import { minBigint } from '#core/money.ts';
import { HOLD_LEASE_RENEW_MS } from '../../api/inference/hold/lease.ts';
import { type Closing, LedgerRetries } from '../../api/inference/hold/ledger-retries.ts';
import { type CallPlan, SimCall } from './sim-call.ts';
import { SimHost } from './sim-host.ts';
import type { SimWorld } from './sim-world.ts';

/** An API process: it runs calls as `api/inference` does, without its HTTP. */
export class SimPod extends SimHost {
  readonly calls = new Set<SimCall>();
  readonly #retries: LedgerRetries;
  draining = false;

  constructor(world: SimWorld, name: string) {
    super(world, name);
    this.#retries = new LedgerRetries({ ledger: this.ledger, clock: this.process.clock, log: this.logger });
  }

  start(plan: CallPlan): SimCall {
    const call = new SimCall(plan, this.world.time.nowMs, this.process.name);
    this.calls.add(call);
    this.#run(call).then(
      () => void (call.closed && this.calls.delete(call)),
      (error) => this.world.broken('POD_THREW', { error: String(error), stack: stackOf(error) }),
    );
    return call;
  }

  /** SIGTERM: no new calls; ends when those that run have ended and the log has them. */
  async drain(): Promise<void> {
    this.draining = true;
    while (this.calls.size > 0) await this.sleep(250);
    await this.#retries.idle();
  }

  override die(): void {
    super.die();
    for (const call of this.calls) if (!call.closed) call.podDied = true;
  }

  override onTold(command: Command, _result: ResultOf<Command>): void {
    if (command.type !== 'settle' && command.type !== 'finish') return;
    for (const call of this.calls) {
      if (call.plan.callId !== command.callId) continue;
      call.closed = true;
      if (call.closing !== null) this.calls.delete(call);
    }
  }

  async #run(call: SimCall): Promise<void> {
    const { plan } = call;
    if (!(await this.#knowsKey(call))) return;
    const { result, durable } = await this.ledger.execute(this.#reserveOf(plan));
    if (!result.ok) {
      // As `startCall` does: a refusal counts once the log has what it rests on.
      call.refusal = (await durable) === 'durable' ? result.reason : 'unavailable';
      call.closed = true;
      this.world.count(`refused ${call.refusal}`);
      if (call.refusal !== result.reason) this.world.count('a refusal rested on what may never be');
      return;
    }
    this.world.provider.dispatch(call);
    this.#renew(call);
    const gate = await this.#gate(call, durable);
    if (gate === 'shut') {
      call.gateTimedOut = true;
      this.world.count('gate timed out');
      return await this.#close(call, this.#settleOf(call, 0n, failed(503, 'service_unavailable')));
    }
    await this.#until(call, plan.firstByteMs);
    this.#deliver(call);
    await this.#close(call, await this.#answered(call));
    if (this.world.draw(8) === 0) await this.#readBalance(plan.agentId);
  }

  /** As the edge does before anything else. A key that was made, and told of, is never unknown. */
  async #knowsKey(call: SimCall): Promise<boolean> {
    const { agentId, keyId, keyHash } = call.plan;
    const { count, oracle } = this.world;
    const found = await this.ledger.findKey([keyHash]);
    if (found !== 'unavailable' && found.found && !found.revoked) {
      if (oracle.has(agentId, `key_revoked ${keyId}`)) count('a revoked key looked live');
      return true;
    }
    call.closed = true;
    if (found === 'unavailable') call.refusal = 'unavailable';
    else if (found.found) call.refusal = 'key_revoked';
    else {
      call.refusal = 'unknown_key';
      count('a key looked unknown to a node of before');
      if (!this.world.mayBeStale(agentId)) this.world.broken('KEY_UNKNOWN', { agentId, keyId });
    }
    count(`key ${call.refusal}`);
    return false;
  }

  /** Opens once the hold is durable; shut for good after two seconds. */
  #gate(call: SimCall, durable: Promise<Durability>): Promise<'open' | 'shut'> {
    return new Promise((resolve) => {
      const leftMs = call.arrivedAtMs + GATE_TIMEOUT_MS - this.world.time.nowMs;
      const timer = this.process.clock.setTimer(leftMs, () => resolve('shut'));
      void durable.then((durability) => {
        timer.cancel();
        resolve(durability === 'durable' ? 'open' : 'shut');
      });
    });
  }

  #deliver(call: SimCall): void {
    const { plan, arrivedAtMs } = call;
    const { hangsUpAtMs } = plan;
    call.hungUp = hangsUpAtMs !== null && this.world.time.nowMs >= arrivedAtMs + hangsUpAtMs;
    if (call.hungUp) return;
    call.delivered = true;
    this.world.count('delivered');
    if (!this.world.oracle.has(plan.agentId, `reserved ${plan.callId}`)) {
      this.world.broken('DELIVERED_NOT_JOURNALED', { callId: plan.callId });
    }
  }

  /** The provider's answer to its end, the caller's patience, or the time limit: whichever comes first. */
  async #answered(call: SimCall): Promise<Closing> {
    const { plan } = call;
    const { hangsUpAtMs, wholeMs, timeLimitMs } = plan;
    const drainEndsMs = hangsUpAtMs === null ? Number.POSITIVE_INFINITY : hangsUpAtMs + USAGE_DRAIN_MS;
    const endsMs = Math.min(wholeMs, timeLimitMs, drainEndsMs);
    if (hangsUpAtMs !== null && hangsUpAtMs < endsMs) {
      await this.#until(call, hangsUpAtMs);
      call.hungUp = true;
      this.#sendRenewal(call);
    }
    await this.#until(call, endsMs);
    const ranMs = this.world.time.nowMs - call.arrivedAtMs;
    call.pastLimit = ranMs >= timeLimitMs;
    if (hangsUpAtMs !== null && hangsUpAtMs <= ranMs) call.hungUp = true;
    const isWhole = endsMs === wholeMs;
    if (isWhole && plan.failure !== 'none') {
      this.world.count('failed free of charge');
      return this.#settleOf(call, 0n, failed(502, 'provider_unavailable'));
    }
    if (isWhole && !plan.costUnknown) return this.#settleOf(call, plan.costNanoUsd, ended(call, ranMs));
    return {
      type: 'finish',
      agentId: plan.agentId,
      callId: plan.callId,
      end: ended(call, ranMs),
      pending: {
        price: savedPrice,
        generationId: this.world.provider.generationIdOf(call),
        tokensKnown: false,
        deliveredTokens: 1 + this.world.draw(2_000),
        ...(call.hungUp ? { promptRead: true as const } : {}),
      },
    };
  }

  async #close(call: SimCall, closing: Closing): Promise<void> {
    call.closing = closing.type === 'settle' ? closing.costNanoUsd : 'pending';
    this.world.count(closing.type);
    const charged = await this.#retries.close(closing);
    if (closing.type === 'finish' || !call.delivered || call.hungUp) return;
    call.shownNanoUsd = charged ?? minBigint(closing.costNanoUsd, call.plan.holdNanoUsd);
    this.world.count(call.closed ? 'shown and durable' : 'shown before it was durable');
  }

  async #readBalance(agentId: number): Promise<void> {
    const view = await this.ledger.readAgent(agentId);
    this.world.count(view === 'unavailable' ? 'balance unavailable' : 'balance read');
    if (view === null && !this.world.mayBeStale(agentId)) this.world.broken('AGENT_UNKNOWN', { agentId });
  }

  #renew(call: SimCall): void {
    this.process.clock.setTimer(HOLD_LEASE_RENEW_MS, () => {
      if (call.closing !== null) return;
      this.#sendRenewal(call);
      this.#renew(call);
    });
  }

  /** After a hang-up the call leaves its slot: it is read on for its usage alone. */
  #sendRenewal(call: SimCall): void {
    const { agentId, callId, firstByteMs } = call.plan;
    const isAnswering = this.world.time.nowMs >= call.arrivedAtMs + firstByteMs;
    const generationId = isAnswering ? this.world.provider.generationIdOf(call) : null;
    const holdsSlot = !call.hungUp;
    if (!holdsSlot) {
      this.world.oracle.agent(agentId)?.leftSlots.add(callId);
      this.world.count('a slot left by a hang-up');
    }
    this.ledger
      .execute({ type: 'renew', agentId, callId, generationId, holdsSlot })
      .catch((error) => this.world.broken('RENEW_THREW', { error: String(error) }));
  }

  async #until(call: SimCall, afterArrivalMs: number): Promise<void> {
    const leftMs = call.arrivedAtMs + afterArrivalMs - this.world.time.nowMs;
    if (leftMs > 0) await this.sleep(leftMs);
  }

  #reserveOf(plan: CallPlan): Reserve {
    const { agentId, keyId, callId, holdNanoUsd, timeLimitMs } = plan;
    return {
      type: 'reserve',
      agentId,
      keyId,
      callId,
      nonce: this.process.name,
      kind: 'text',
      nanoUsd: holdNanoUsd,
      timeLimitMs,
      callerNowMs: this.process.clock.now(),
      call: callFacts,
      price: savedPrice,
      limits: { callsPerMinute: 600, burst: 60, runningCalls: 8, dailyShareNanoUsd: null },
    };
  }

  #settleOf({ plan }: SimCall, costNanoUsd: bigint, end: CallEnd): Closing {
    return { type: 'settle', agentId: plan.agentId, callId: plan.callId, costNanoUsd, end, cause: 'end' };
  }
}

const noTokens = { prompt: 0, completion: 0, reasoning: null, cached: 0 };

const failed = (httpStatus: number, errorCode: string): CallEnd => ({
  outcome: 'failed',
  httpStatus,
  errorCode,
  tokens: noTokens,
  durationMs: 0,
});

const ended = (call: SimCall, durationMs: number): CallEnd => ({
  outcome: call.hungUp ? 'stopped' : 'ok',
  httpStatus: null,
  errorCode: null,
  tokens: { prompt: 10, completion: 20, reasoning: null, cached: 0 },
  durationMs,
});

const callFacts: CallFacts = { model: 'sim/small', modelName: 'Small', endpoint: 'chat', stream: true };

const savedPrice: SavedPrice = {
  providerId: 'sim',
  promptAtto: '1000000000000',
  completionAtto: '10000000000000',
  cacheReadAtto: '1000000000000',
  requestAtto: '0',
  factorPpm: '1000000',
  promptEstimateTokens: 10,
};

const stackOf = (error: unknown): string => (error instanceof Error ? (error.stack ?? '') : '');
