import { executeDurably } from '#core/accounts/execute-durably.ts';
import type { LookedUpPrice, LookUpPrice } from '#core/calls/look-up-price.ts';
import { costFromSavedPrice } from '#core/calls/price-ladder.ts';
import { type Clock, HOUR_MS, MINUTE_MS, SECOND_MS, startOfDayMs, type Timer } from '#core/clock.ts';
import type { CallEnd, PendingPrice } from '#core/events/ledger-event.ts';
import type { Settle } from '#core/ledger/command.ts';
import type { HoldView, Ledger, Unavailable } from '#core/ledger/ledger.ts';
import { ORPHAN_MARGIN_MS, PRICE_LOOKUP_MS } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import { attoToNanoUp, type NanoUsd } from '#core/money.ts';
import type { LossCause } from '#core/operator-losses.ts';

/** Price look-ups at one time. After a long outage thousands may be pending. */
const PRICE_LOOKUPS_AT_ONCE = 32;

export type SettlementLoss = Extract<
  LossCause,
  'orphan' | 'price_unknown' | 'price_estimated' | 'cost_above_hold'
>;

export interface SettlementOptions {
  /** All that this loop settles: everything, or one shard of a cluster. */
  ledger: Pick<Ledger, 'execute' | 'readAgent' | 'listHolds' | 'listEnded'>;
  clock: Clock;
  log: Log;
  lookUp: LookUpPrice;
  /** What the operator bears; 0 where nobody knows how much. */
  onLoss: (cause: SettlementLoss, nanoUsd: NanoUsd) => void;
  /** What the provider took, with the operator's margin. */
  onCost: (providerId: string, nanoUsd: NanoUsd, factorPpm: bigint) => void;
  /** A pending call has its price. */
  onPriced: (chargedNanoUsd: NanoUsd) => void;
  /** By the journal's own clock: what takes something for good waits for it. Before the process knows it, long ago. */
  logTimeMs: (agentId: number) => number;
  /** Between two looks for what others left behind, at the most. Where nobody else starts calls, an hour. */
  sweepMs: number;
  /** Until the first of these looks. 0 where somebody else has settled before: what is due then has waited already. */
  firstSweepMs: number;
  /** Of pending calls, by the monotonic clock; whoever settles in the same process after this one goes on with it. */
  knownSinceMs: Map<number, number>;
  /** A call that this process runs is no orphan, whatever a step of the wall clock makes of its age. */
  isOpen: (callId: number) => boolean;
}

const WAITS_MS = [0, 1, 2, 4, 8, 16, 30, 60].map((seconds) => seconds * SECOND_MS);
const WAIT_MAX_MS = MINUTE_MS;
/** Until an end that the journal has not confirmed yet is read again. */
const REREAD_MS = SECOND_MS;
/** Until a call that found all look-ups taken tries for one again. */
const TURN_WAIT_MS = SECOND_MS;
/** After a sweep that threw, and while credit waits for the journal's clock. */
const SWEEP_AGAIN_MS = MINUTE_MS;
/**
 * Until a ledger that could not be asked is asked again, or a hold that should be over is tried again: its shard was opened
 * just now, or the journal's clock is behind.
 */
const DUE_AGAIN_MS = 5 * SECOND_MS;
const AFTER_HOUR_MS = SECOND_MS;

interface PendingCall {
  agentId: number;
  callId: number;
  end: CallEnd;
  pending: PendingPrice;
  /**
   * By the monotonic clock, from when this process came to know of it: a step of the wall clock takes nothing of the
   * ten minutes, a call found after an outage has all of them, and one whose shard goes to and fro has them once.
   */
  askedUntilMs: number;
  tries: number;
}

interface Priced {
  settle: Settle;
  /** Nobody could tell what the call cost: what it cost beyond an estimate, or at all, the operator bears. */
  loss: 'price_unknown' | 'price_estimated' | null;
}

/**
 * Ends what a call's own process could not: prices calls whose cost was unknown at their end, lets ended credit
 * expire after each full hour, and frees holds that nobody runs any more. All it knows comes from the ledger, so a
 * restart loses nothing.
 */
export class Settlement {
  readonly #options: SettlementOptions;
  readonly #watched = new Map<number, Timer>();
  #lookUps = 0;
  /** `null`: a sweep is under way, or none has been asked for yet. */
  #sweepTimer: Timer | null = null;
  #sweepsAgain = false;
  #closed = false;

  constructor(options: SettlementOptions) {
    this.#options = options;
  }

  get waiting(): number {
    return this.#watched.size;
  }

  async start(): Promise<void> {
    const holds = await this.#options.ledger.listHolds();
    if (holds !== 'unavailable') {
      this.#forgetAllBut(holds);
      for (const hold of holds) this.#watchHold(hold);
    }
    const { firstSweepMs } = this.#options;
    if (firstSweepMs === 0) await this.#sweep(holds);
    else if (!this.#closed) this.#sweepIn(firstSweepMs);
  }

  /** Sweeps at once, or again after the sweep that is running. The ledger was closed, so calls may have ended without an event. */
  sweepNow(): void {
    if (this.#closed) return;
    if (this.#sweepTimer === null) this.#sweepsAgain = true;
    else {
      this.#sweepTimer.cancel();
      void this.#sweep();
    }
  }

  close(): void {
    this.#closed = true;
    this.#sweepTimer?.cancel();
    for (const timer of this.#watched.values()) timer.cancel();
    this.#watched.clear();
  }

  /** Others have priced them meanwhile. */
  #forgetAllBut(holds: readonly HoldView[]): void {
    const { knownSinceMs } = this.#options;
    const open = new Set(holds.map(({ callId }) => callId));
    for (const callId of knownSinceMs.keys()) if (!open.has(callId)) knownSinceMs.delete(callId);
  }

  /** A call has just ended with its cost unknown. Its end may not be in the journal yet: then it is read again. */
  async watch(agentId: number, callId: number): Promise<void> {
    const hold = await this.#findHold(agentId, callId);
    if (hold === null || this.#closed || this.#watched.has(callId)) return;
    if (hold !== 'unavailable' && hold.pending !== null) {
      this.#watchHold(hold);
      return;
    }
    const again = () => {
      this.#watched.delete(callId);
      void this.watch(agentId, callId);
    };
    this.#watched.set(callId, this.#options.clock.setTimer(REREAD_MS, again));
  }

  async #findHold(agentId: number, callId: number): Promise<HoldView | null | Unavailable> {
    try {
      const agent = await this.#options.ledger.readAgent(agentId);
      if (agent === null || agent === 'unavailable') return agent;
      return agent.holds.find((each) => each.callId === callId) ?? null;
    } catch (error) {
      this.#options.log.error('an ended call could not be read, it is tried again', {
        agentId,
        callId,
        error,
      });
      return 'unavailable';
    }
  }

  #watchHold({ agentId, callId, pending }: HoldView): void {
    if (pending === null || this.#watched.has(callId)) return;
    const { clock, knownSinceMs } = this.#options;
    const sinceMs = knownSinceMs.get(callId) ?? clock.monotonicMs();
    knownSinceMs.set(callId, sinceMs);
    this.#schedule({ agentId, callId, ...pending, askedUntilMs: sinceMs + PRICE_LOOKUP_MS, tries: 0 });
  }

  #schedule(call: PendingCall, waitMs = WAITS_MS[call.tries] ?? WAIT_MAX_MS): void {
    if (this.#closed) return;
    this.#watched.set(
      call.callId,
      this.#options.clock.setTimer(waitMs, () => void this.#price(call)),
    );
  }

  async #price(call: PendingCall): Promise<void> {
    if (this.#waitsForTurn(call)) return this.#schedule(call, TURN_WAIT_MS);
    let isOver = false;
    try {
      isOver = await this.#tryToPrice(call);
    } catch (error) {
      const { agentId, callId } = call;
      this.#options.log.error('a call could not be priced, it is tried again', { agentId, callId, error });
    }
    if (isOver) {
      this.#watched.delete(call.callId);
      this.#options.knownSinceMs.delete(call.callId);
    } else this.#schedule({ ...call, tries: call.tries + 1 });
  }

  #waitsForTurn({ pending, askedUntilMs }: PendingCall): boolean {
    if (pending.generationId === null || this.#lookUps < PRICE_LOOKUPS_AT_ONCE) return false;
    return this.#options.clock.monotonicMs() < askedUntilMs;
  }

  async #tryToPrice(call: PendingCall): Promise<boolean> {
    const priced = await this.#priced(call);
    if (priced === null) return false;
    const result = await executeDurably(this.#options.ledger, priced.settle);
    if (!result.ok) return result.reason !== 'unavailable';
    const { onPriced, onLoss, onCost } = this.#options;
    onPriced(result.chargedNanoUsd);
    const { providerId, factorPpm } = call.pending.price;
    onCost(providerId, priced.settle.costNanoUsd, BigInt(factorPpm));
    if (priced.loss !== null) onLoss(priced.loss, 0n);
    const overrun = priced.settle.costNanoUsd - result.chargedNanoUsd;
    if (overrun > 0n) onLoss('cost_above_hold', overrun);
    return true;
  }

  /** Provider look-up for ten minutes, then known tokens × saved price, else estimates, else nothing. */
  async #priced({ agentId, callId, askedUntilMs, end, pending }: PendingCall): Promise<Priced | null> {
    const base = { type: 'settle', agentId, callId, cause: 'end' } as const;
    if (pending.generationId !== null && this.#lookUps < PRICE_LOOKUPS_AT_ONCE) {
      const found = await this.#lookUp(pending.price.providerId, pending.generationId);
      if (found !== null && !isUnfinished(found, pending)) {
        const costNanoUsd = attoToNanoUp(found.attoUsd, BigInt(pending.price.factorPpm));
        const tokens = found.tokens ?? end.tokens;
        return { settle: { ...base, costNanoUsd, end: { ...end, tokens } }, loss: null };
      }
      if (this.#options.clock.monotonicMs() < askedUntilMs) return null;
    }
    const { nanoUsd, tokens } = costFromSavedPrice(end, pending);
    const settle: Settle = { ...base, costNanoUsd: nanoUsd, end: { ...end, tokens } };
    return {
      settle,
      loss: nanoUsd === 0n ? 'price_unknown' : pending.tokensKnown ? null : 'price_estimated',
    };
  }

  async #lookUp(...[providerId, generationId]: Parameters<LookUpPrice>): ReturnType<LookUpPrice> {
    this.#lookUps++;
    try {
      return await this.#options.lookUp(providerId, generationId);
    } finally {
      this.#lookUps--;
    }
  }

  #sweepIn(waitMs: number): void {
    this.#sweepTimer = this.#options.clock.setTimer(waitMs, () => void this.#sweep());
  }

  async #sweep(read?: readonly HoldView[] | Unavailable): Promise<void> {
    if (this.#closed) return;
    this.#sweepTimer = null;
    let waitMs = SWEEP_AGAIN_MS;
    try {
      const holds = read ?? (await this.#options.ledger.listHolds());
      const expired = await this.#expireEnded();
      if (holds === 'unavailable' || expired === 'unavailable') waitMs = DUE_AGAIN_MS;
      else if (expired === 'all') waitMs = await this.#sweepHolds(holds);
    } catch (error) {
      this.#options.log.error('a sweep of the ledger failed, it is tried again', { error });
    }
    if (this.#closed) return;
    this.#sweepIn(this.#sweepsAgain ? 0 : waitMs);
    this.#sweepsAgain = false;
  }

  /** `some`: the journal's clock has not come so far for the rest. */
  async #expireEnded(): Promise<'all' | 'some' | Unavailable> {
    const { ledger, clock, logTimeMs } = this.#options;
    const nowMs = clock.now();
    const agentIds = await ledger.listEnded(nowMs);
    if (agentIds === 'unavailable') return agentIds;
    let isAll = true;
    for (const agentId of agentIds) {
      // Three clocks have to agree that credit has ended: the log's, Redis' own and this process's.
      const endedByMs = Math.min(nowMs, logTimeMs(agentId));
      const { result } = await ledger.execute({ type: 'expire', agentId, endedByMs });
      if (!result.ok) return 'unavailable';
      if (endedByMs < startOfDayMs(nowMs)) isAll = false;
    }
    return isAll ? 'all' : 'some';
  }

  /** Answers when to look again: after the next full hour, for credit ends at midnight, or when a hold falls due. */
  async #sweepHolds(holds: readonly HoldView[]): Promise<number> {
    const { clock, sweepMs } = this.#options;
    let nextDueMs = Number.POSITIVE_INFINITY;
    for (const hold of holds) {
      if (hold.pending !== null) this.#watchHold(hold);
      else {
        const dueMs = hold.startedAtMs + hold.timeLimitMs + ORPHAN_MARGIN_MS;
        const isDue = dueMs <= Math.min(clock.now(), this.#options.logTimeMs(hold.agentId));
        if (isDue && this.#options.isOpen(hold.callId)) continue;
        if (isDue && (await this.#settleOrphan(hold))) continue;
        nextDueMs = Math.min(nextDueMs, dueMs);
      }
    }
    const nowMs = clock.now();
    const untilNextHourMs = HOUR_MS - (nowMs % HOUR_MS) + AFTER_HOUR_MS;
    return Math.min(sweepMs, untilNextHourMs, Math.max(DUE_AGAIN_MS, nextDueMs - nowMs));
  }

  /** False: it still holds, because the ledger does not take it for an orphan yet, or cannot be asked. */
  async #settleOrphan({ agentId, callId, startedAtMs }: HoldView): Promise<boolean> {
    const end: CallEnd = {
      outcome: 'failed',
      httpStatus: 500,
      errorCode: 'gateway_error',
      tokens: { prompt: 0, completion: 0, reasoning: null, cached: 0 },
      durationMs: this.#options.clock.now() - startedAtMs,
    };
    const result = await executeDurably(this.#options.ledger, {
      type: 'settle',
      agentId,
      callId,
      costNanoUsd: 0n,
      end,
      cause: 'orphan',
    });
    if (result.ok && !result.repeated) this.#options.onLoss('orphan', 0n);
    return result.ok || result.reason === 'no_hold';
  }
}

/**
 * A record of a price of zero that counts no answer, although text was delivered, is not complete yet. Where it never is, the
 * call pays the estimate. An explicit zero beside counted tokens stays zero.
 */
const isUnfinished = ({ attoUsd, tokens }: LookedUpPrice, { deliveredTokens }: PendingPrice): boolean =>
  attoUsd === 0n && tokens?.completion === 0 && deliveredTokens > 0;
