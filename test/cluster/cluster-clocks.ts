import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import type { MovingClock } from '../support/moving-clock.ts';
import type { FaultCluster } from './fault-cluster.ts';

export const jumps = {
  '+10 min': 10 * MINUTE_MS,
  '+2 h': 2 * HOUR_MS,
  '+3 days': 3 * DAY_MS,
  '-10 min': -10 * MINUTE_MS,
  '-2 h': -2 * HOUR_MS,
  '-3 days': -3 * DAY_MS,
} as const;
export type Jump = keyof typeof jumps;

/** `all`: every process and the two stores by whose clocks the ledger goes. */
export const owners = ['an API process', 'a worker', 'Redis', 'all'] as const;
export type Owner = (typeof owners)[number];

/** The clocks of a cluster's processes. Each is ahead by what it was set to, and time itself can be moved on for all. */
export class ClusterClocks {
  readonly #cluster: FaultCluster;
  readonly #aheadS = new Map<MovingClock, number>();
  #movedOnS = 0;

  constructor(cluster: FaultCluster) {
    this.#cluster = cluster;
  }

  set(owner: Owner, aheadMs: number): void {
    for (const clock of this.#of(owner)) this.#aheadS.set(clock, Math.round(aheadMs / SECOND_MS));
    this.#write();
  }

  setRight(): void {
    this.#aheadS.clear();
    this.#write();
  }

  /**
   * Wall clocks and timers of every process go on by this much at once, as if the time had gone by. Kafka keeps its timers:
   * its broker would take itself for lost, and be away for up to half a minute.
   */
  moveOn(ms: number): void {
    this.#movedOnS += Math.round(ms / SECOND_MS);
    this.#write();
  }

  /** The environment of a command that an operator runs on a machine whose clock is right. */
  get operatorEnv(): Record<string, string> {
    this.#cluster.operatorClock.aheadBy(this.#movedOnS);
    return this.#cluster.operatorClock.env;
  }

  #of(owner: Owner): MovingClock[] {
    const { apis, workerClocks, redisClock, kafkaClock } = this.#cluster;
    switch (owner) {
      case 'an API process':
        return apis.slice(0, 1).map(({ clock }) => clock);
      case 'a worker':
        return workerClocks.slice(0, 1);
      case 'Redis':
        return [redisClock];
      case 'all':
        return [...apis.map(({ clock }) => clock), ...workerClocks, redisClock, kafkaClock];
    }
  }

  #write(): void {
    for (const clock of this.#of('all')) {
      if (clock !== this.#cluster.kafkaClock) clock.timersAheadBy(this.#movedOnS);
      clock.aheadBy(this.#movedOnS + (this.#aheadS.get(clock) ?? 0));
    }
  }
}
