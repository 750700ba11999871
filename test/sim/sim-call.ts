import { MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { type Draw, pick } from '../ledger/history/random.ts';

/** How a provider and a caller will behave; drawn before the call starts. Times count from its arrival. */
export interface CallPlan {
  callId: number;
  agentId: number;
  keyId: number;
  keyHash: string;
  holdNanoUsd: bigint;
  /** What the provider will bill. */
  costNanoUsd: bigint;
  firstByteMs: number;
  wholeMs: number;
  timeLimitMs: number;
  /** The provider tells no cost with its answer. */
  costUnknown: boolean;
  failure: 'none' | 'free' | 'free but billed';
  hangsUpAtMs: number | null;
  /** From when on the provider can be asked for the price; `null`: never. */
  priceReadyMs: number | null;
}

/** One call, with what its caller, its provider and its pod saw of it. */
export class SimCall {
  readonly plan: CallPlan;
  readonly arrivedAtMs: number;
  readonly podName: string;
  refusal: string | null = null;
  dispatched = false;
  billedNanoUsd = 0n;
  delivered = false;
  gateTimedOut = false;
  hungUp = false;
  pastLimit = false;
  shownNanoUsd: bigint | null = null;
  /** What its pod decided that it pays; `pending`: not known yet. */
  closing: bigint | 'pending' | null = null;
  /** Its pod knows that the log has its end. */
  closed = false;
  podDied = false;
  /** Its pod, or all machines, stood still while it ran. */
  stoodStill = false;
  orphaned = false;

  constructor(plan: CallPlan, arrivedAtMs: number, podName: string) {
    this.plan = plan;
    this.arrivedAtMs = arrivedAtMs;
    this.podName = podName;
  }
}

const UNIT_NANO_USD = 1_000_003n;

/** `mixed`: many a long one among them; `usual`: as callers make them; `small`: any number of them can be paid. */
export type CallShape = 'mixed' | 'usual' | 'small';

export function drawPlan(
  draw: Draw,
  who: Pick<CallPlan, 'callId' | 'agentId' | 'keyId' | 'keyHash'>,
  shape: CallShape,
): CallPlan {
  const hold = shape === 'small' ? 1 : 1 + draw(30);
  // One in twenty-five costs more than anybody thought.
  const cost = draw(25) === 0 ? hold + 1 + draw(hold) : draw(hold + 1);
  const firstByteMs = draw(5) === 0 ? draw(3_000) : 1 + draw(400);
  const long = draw(shape === 'usual' ? 200 : 12) === 0;
  const wholeMs =
    firstByteMs + (long ? draw(14 * MINUTE_MS) : draw(draw(3) === 0 ? 20 * SECOND_MS : 2 * SECOND_MS));
  return {
    ...who,
    holdNanoUsd: BigInt(hold) * UNIT_NANO_USD,
    costNanoUsd: BigInt(cost) * UNIT_NANO_USD,
    firstByteMs,
    wholeMs,
    timeLimitMs: 13 * MINUTE_MS,
    costUnknown: draw(10) === 0,
    failure: draw(14) === 0 ? pick(draw, ['free', 'free but billed']) : 'none',
    hangsUpAtMs: draw(10) === 0 ? draw(wholeMs + 1) : null,
    priceReadyMs: draw(4) === 0 ? null : draw(MINUTE_MS),
  };
}
