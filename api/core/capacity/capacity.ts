import { minBigint, type NanoUsd } from '../money.ts';

/** The operator's numbers; they may change while calls run. */
export interface CapacityLimits {
  perCallNanoUsd: NanoUsd;
  poolNanoUsd: NanoUsd;
  runningCalls: number;
}

/** Whether this process is too late with the work that it has. */
export type Overload = { isOver(): boolean };

export type CapacityAnswer =
  | 'admitted'
  | 'ending'
  | 'over_per_call'
  | 'pool_full'
  | 'too_many_running'
  | 'too_late';

/**
 * What all calls may hold together of the operator's money at the providers. Shared by all agents, so it is no part of
 * any agent's ledger; whatever is admitted is released exactly once.
 */
export class Capacity {
  /** By the calls of this process. */
  heldNanoUsd: NanoUsd = 0n;
  /** By those of the others in a cluster, as they last told. */
  othersNanoUsd: NanoUsd = 0n;
  runningCalls = 0;
  /** This process ends, and starts nothing any more. */
  ending = false;
  readonly #limits: () => CapacityLimits;
  readonly #overload: Overload;
  readonly #videosNanoUsd: () => NanoUsd;

  /** @param videosNanoUsd - By open videos, which outlive the request that ordered them; in a cluster their workers tell. */
  constructor(limits: () => CapacityLimits, overload: Overload, videosNanoUsd: () => NanoUsd = () => 0n) {
    this.#limits = limits;
    this.#overload = overload;
    this.#videosNanoUsd = videosNanoUsd;
  }

  /** Of the pool, by all that this process runs. */
  get ownNanoUsd(): NanoUsd {
    return this.heldNanoUsd + this.#videosNanoUsd();
  }

  /** The most that one call may hold, even if no other runs. */
  get ceilingNanoUsd(): NanoUsd {
    const { perCallNanoUsd, poolNanoUsd } = this.#limits();
    return minBigint(perCallNanoUsd, poolNanoUsd);
  }

  /** @param ceilingNanoUsd The most that one call may hold by this and every other bound that no waiting lifts. */
  admit(nanoUsd: NanoUsd, ceilingNanoUsd: NanoUsd = this.ceilingNanoUsd): CapacityAnswer {
    if (this.ending) return 'ending';
    const limits = this.#limits();
    if (nanoUsd > ceilingNanoUsd) return 'over_per_call';
    if (this.ownNanoUsd + this.othersNanoUsd + nanoUsd > limits.poolNanoUsd) return 'pool_full';
    if (this.runningCalls >= limits.runningCalls) return 'too_many_running';
    if (this.#overload.isOver()) return 'too_late';
    this.heldNanoUsd += nanoUsd;
    this.runningCalls++;
    return 'admitted';
  }

  /** The call goes on for its usage alone: it is no running call any more, but its money is still at stake. */
  leaveRunning(): void {
    this.runningCalls--;
  }

  /** @param isRunning - False after `leaveRunning`. */
  release(nanoUsd: NanoUsd, isRunning = true): void {
    this.heldNanoUsd -= nanoUsd;
    if (isRunning) this.runningCalls--;
  }
}
