import type { LookUpPrice } from '#core/calls/look-up-price.ts';
import { costFromSavedPrice } from '#core/calls/price-ladder.ts';
import { type Clock, HOUR_MS, SECOND_MS, type Timer } from '#core/clock.ts';
import type { CallEnd, PendingPrice } from '#core/events/ledger-event.ts';
import type { Settle } from '#core/ledger/command.ts';
import type { HoldView, Ledger } from '#core/ledger/ledger.ts';
import { ORPHAN_MARGIN_MS, PRICE_LOOKUP_MS } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import { attoToNanoUp, type NanoUsd } from '#core/money.ts';

export interface SettlementOptions {
  ledger: Ledger;
  clock: Clock;
  log: Log;
  lookUp: LookUpPrice;
  /** The operator paid, perhaps, and nobody was charged. */
  onLoss: (cause: 'orphan' | 'price_unknown') => void;
  /** A pending call has its price. */
  onPriced: (chargedNanoUsd: NanoUsd) => void;
}

const WAITS_MS = [0, 1, 2, 4, 8, 16, 30, 60].map((seconds) => seconds * SECOND_MS);
const WAIT_MAX_MS = 60 * SECOND_MS;
const SWEEP_MS = HOUR_MS;
const FIRST_SWEEP_MS = SECOND_MS;

interface PendingCall {
  agentId: number;
  callId: number;
  endedAtMs: number;
  end: CallEnd;
  pending: PendingPrice;
  tries: number;
}

interface Priced {
  settle: Settle;
  /** Nobody could tell what the call cost: the operator bears it. */
  unknown: boolean;
}

/**
 * Ends what a call's own process could not: prices calls whose cost was unknown at their end, and once an hour
 * lets ended credit expire and frees holds that nobody runs any more. All it knows comes from the ledger, so a
 * restart loses nothing.
 */
export class Settlement {
  readonly #options: SettlementOptions;
  readonly #watched = new Map<number, Timer>();
  #sweepTimer: Timer | null = null;
  #closed = false;

  constructor(options: SettlementOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#watched.size;
  }

  async start(): Promise<void> {
    const holds = await this.#options.ledger.listHolds();
    if (holds !== 'unavailable') for (const hold of holds) this.#watchHold(hold);
    this.#sweepTimer = this.#options.clock.setTimer(FIRST_SWEEP_MS, () => void this.#sweep());
  }

  close(): void {
    this.#closed = true;
    this.#sweepTimer?.cancel();
    for (const timer of this.#watched.values()) timer.cancel();
    this.#watched.clear();
  }

  /** A call has just ended with its cost unknown. */
  async watch(agentId: number, callId: number): Promise<void> {
    const agent = await this.#options.ledger.readAgent(agentId);
    if (agent === null || agent === 'unavailable') return;
    const hold = agent.holds.find((each) => each.callId === callId);
    if (hold !== undefined) this.#watchHold(hold);
  }

  #watchHold({ agentId, callId, startedAtMs, pending }: HoldView): void {
    if (pending === null || this.#watched.has(callId)) return;
    const endedAtMs = startedAtMs + pending.end.durationMs;
    this.#schedule({ agentId, callId, endedAtMs, ...pending, tries: 0 });
  }

  #schedule(call: PendingCall): void {
    if (this.#closed) return;
    const waitMs = WAITS_MS[call.tries] ?? WAIT_MAX_MS;
    this.#watched.set(
      call.callId,
      this.#options.clock.setTimer(waitMs, () => void this.#price(call)),
    );
  }

  async #price(call: PendingCall): Promise<void> {
    const priced = await this.#priced(call);
    if (priced === null || !(await this.#settle(priced.settle))) {
      this.#schedule({ ...call, tries: call.tries + 1 });
      return;
    }
    this.#watched.delete(call.callId);
    this.#options.onPriced(priced.settle.costNanoUsd);
    if (priced.unknown) this.#options.onLoss('price_unknown');
  }

  /** Provider look-up for ten minutes, then known tokens × saved price, else estimates, else nothing. */
  async #priced({ agentId, callId, endedAtMs, end, pending }: PendingCall): Promise<Priced | null> {
    const { clock, lookUp } = this.#options;
    const base = { type: 'settle', agentId, callId, cause: 'end' } as const;
    if (pending.generationId !== null) {
      const found = await lookUp(pending.price.providerId, pending.generationId);
      if (found !== null) {
        const costNanoUsd = attoToNanoUp(found.attoUsd, BigInt(pending.price.factorPpm));
        const tokens = found.tokens ?? end.tokens;
        return { settle: { ...base, costNanoUsd, end: { ...end, tokens } }, unknown: false };
      }
      if (clock.now() - endedAtMs < PRICE_LOOKUP_MS) return null;
    }
    const { nanoUsd, tokens } = costFromSavedPrice(end, pending);
    const settle: Settle = { ...base, costNanoUsd: nanoUsd, end: { ...end, tokens } };
    return { settle, unknown: nanoUsd === 0n };
  }

  /** True once the journal has it, or there is nothing left to settle. */
  async #settle(command: Settle): Promise<boolean> {
    const { result, durable } = await this.#options.ledger.execute(command);
    if (!result.ok) return result.reason === 'no_hold';
    return (await durable) === 'durable';
  }

  async #sweep(): Promise<void> {
    const { ledger, clock, log } = this.#options;
    try {
      await this.#expireEnded();
      const holds = await ledger.listHolds();
      if (holds !== 'unavailable') for (const hold of holds) await this.#settleOrphan(hold, clock.now());
    } catch (error) {
      log.error('the hourly sweep failed', { error });
    }
    if (!this.#closed) this.#sweepTimer = clock.setTimer(this.#untilNextSweepMs(), () => void this.#sweep());
  }

  /** Credit ends at midnight, so a sweep follows each one closely. */
  #untilNextSweepMs(): number {
    return SWEEP_MS - (this.#options.clock.now() % SWEEP_MS) + FIRST_SWEEP_MS;
  }

  async #expireEnded(): Promise<void> {
    const agents = await this.#options.ledger.listAgents();
    if (agents === 'unavailable') return;
    for (const { agentId } of agents) await this.#options.ledger.execute({ type: 'expire', agentId });
  }

  async #settleOrphan(hold: HoldView, nowMs: number): Promise<void> {
    const { agentId, callId, startedAtMs, timeLimitMs, pending, kind } = hold;
    if (pending !== null) {
      this.#watchHold(hold);
      return;
    }
    if (kind === 'video' || nowMs - startedAtMs < timeLimitMs + ORPHAN_MARGIN_MS) return;
    const end: CallEnd = {
      outcome: 'failed',
      httpStatus: 500,
      errorCode: 'gateway_error',
      tokens: { prompt: 0, completion: 0, reasoning: null, cached: 0 },
      durationMs: nowMs - startedAtMs,
    };
    const settled = await this.#settle({
      type: 'settle',
      agentId,
      callId,
      costNanoUsd: 0n,
      end,
      cause: 'orphan',
    });
    if (settled) this.#options.onLoss('orphan');
  }
}
