import { setTimeout as sleep } from 'node:timers/promises';
import { parseNanoUsd } from '#core/money.ts';
import { createDraw, type Draw } from '../ledger/history/random.ts';
import { CallLoad, type LoadAgent, type LoadCounts } from './call-load.ts';
import type { FaultCluster } from './fault-cluster.ts';
import { type Fault, faults } from './faults.ts';
import { type Comparison, untilMoneyIsRight } from './find-problems.ts';

/** One fault under load, and what became of it. */
export interface FaultRound extends LoadCounts {
  fault: string;
  /** In the log, whoever was told of them. */
  charged: number;
  lower: number;
  orphans: number;
  /** From the fault's end until each process had served each agent. */
  servedAfterMs: number;
}

const AGENTS = 6;
const WARM_MS = 500;
const SERVED_WITHIN_MS = 60_000;

/** Faults one after another on one cluster: each is healed, and all money found right, before the next. */
export class FaultRun {
  readonly #cluster: FaultCluster;
  readonly #agents: readonly LoadAgent[];
  readonly #load: CallLoad;
  readonly #draw: Draw;
  readonly #redisAwayMs: number;
  readonly rounds: FaultRound[] = [];
  #found: Comparison = { problems: [], lower: 0, orphans: 0 };
  #isBroken = false;

  static async open(options: FaultRunOptions): Promise<FaultRun> {
    const agents: LoadAgent[] = [];
    while (agents.length < AGENTS) agents.push(await options.cluster.newAgent(parseNanoUsd('1000') ?? 0n));
    return new FaultRun(options, agents);
  }

  private constructor({ cluster, seed, redisAwayMs }: FaultRunOptions, agents: readonly LoadAgent[]) {
    const { baseUrls, provider } = cluster;
    this.#cluster = cluster;
    this.#agents = agents;
    this.#draw = createDraw(seed);
    this.#redisAwayMs = redisAwayMs;
    this.#load = new CallLoad({ baseUrls, agents, provider, draw: this.#draw });
  }

  async strike(name: string): Promise<FaultRound> {
    const fault = faults[name];
    if (fault === undefined) throw new Error(`no fault: ${name}`);
    if (this.#isBroken) throw new Error('an earlier fault has left something wrong');
    this.#isBroken = true;
    const chargedBefore = this.#cluster.book.charges.size;
    this.#load.start();
    const servedAfterMs = await this.#strike(fault).catch(async (error) => {
      await this.#load.stop();
      throw error;
    });
    const counts = await this.#load.stop();
    const before = this.#found;
    const found = await this.untilRight();
    this.#found = found;
    const lower = found.lower - before.lower;
    // Those of earlier rounds may have ended meanwhile.
    const orphans = Math.max(0, found.orphans - before.orphans);
    const charged = this.#cluster.book.charges.size - chargedBefore;
    const round = { fault: name, ...counts, charged, lower, orphans, servedAfterMs };
    this.rounds.push(round);
    this.#isBroken = false;
    return round;
  }

  async #strike(fault: Fault): Promise<number> {
    await sleep(WARM_MS);
    const heal = await fault({
      cluster: this.#cluster,
      load: this.#load,
      draw: this.#draw,
      redisAwayMs: this.#redisAwayMs,
    });
    const endsFromMs = performance.now();
    const served = this.#load
      .untilServed(SERVED_WITHIN_MS)
      .then(() => Math.round(performance.now() - endsFromMs));
    const [servedAfterMs] = await Promise.all([served, heal()]);
    return servedAfterMs;
  }

  /** Rejects with what is still wrong. */
  untilRight(withinMs?: number, mayHaveOrphans = true): Promise<Comparison> {
    return untilMoneyIsRight(this.#cluster, this.#agents, this.#load, {
      ...(withinMs === undefined ? {} : { withinMs }),
      mayHaveOrphans,
    });
  }

  close(): Promise<void> {
    return this.#load.close();
  }
}

export interface FaultRunOptions {
  cluster: FaultCluster;
  seed: number;
  /** In the one fault that takes longer. */
  redisAwayMs: number;
}
