import type { Clock } from '../../clock.ts';
import { OUTBOX_LAG_SEEN_MS } from '../../limits.ts';

export interface ShardsSeenStats {
  /** Of which the last answer came from a shard that decides. */
  openShards: number;
  /** Of which the last answer said that it is being rebuilt, or never came. */
  closedShards: number;
  /** The age of the oldest event that the log does not have, as a start was told lately; the greatest of all shards'. */
  lagMs: number;
}

/** What a process learns of the shards from the answers that it gets anyway. */
export class ShardsSeen {
  readonly #clock: Clock;
  readonly #shards: { isOpen: boolean | null; lagMs: number; lagAtMs: number }[];
  #lastOpen = 0;

  constructor(clock: Clock, shards: number) {
    this.#clock = clock;
    this.#shards = Array.from({ length: shards }, () => ({ isOpen: null, lagMs: 0, lagAtMs: 0 }));
  }

  noteOpen(shard: number, isOpen: boolean): void {
    const seen = this.#shards[shard];
    if (seen !== undefined) seen.isOpen = isOpen;
  }

  noteLag(shard: number, lagMs: number): void {
    const seen = this.#shards[shard];
    if (seen === undefined) return;
    seen.lagMs = lagMs;
    seen.lagAtMs = this.#clock.monotonicMs();
  }

  /** As far as known. */
  notOpen(): number[] {
    return this.#shards.flatMap(({ isOpen }, shard) => (isOpen === true ? [] : [shard]));
  }

  /** Each in its turn. */
  nextOpen(): number | undefined {
    const open = this.#shards.flatMap(({ isOpen }, shard) => (isOpen === true ? [shard] : []));
    const next = open.find((shard) => shard > this.#lastOpen) ?? open[0];
    this.#lastOpen = next ?? 0;
    return next;
  }

  stats(): ShardsSeenStats {
    const sinceMs = this.#clock.monotonicMs() - OUTBOX_LAG_SEEN_MS;
    const stats = { openShards: 0, closedShards: 0, lagMs: 0 };
    for (const { isOpen, lagMs, lagAtMs } of this.#shards) {
      if (isOpen === true) stats.openShards++;
      if (isOpen === false) stats.closedShards++;
      if (lagAtMs >= sinceMs) stats.lagMs = Math.max(stats.lagMs, lagMs);
    }
    return stats;
  }
}
