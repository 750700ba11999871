import { type Clock, SECOND_MS } from '../../clock.ts';
import { CLOCK_APART_MAX_MS, CLOCK_JUMP_MIN_MS } from '../../limits.ts';

/** What a start was told of the log's lag is ignored after this long. */
const OUTBOX_LAG_SEEN_MS = 10 * SECOND_MS;

export interface ShardsSeenStats {
  /** Of which the last answer came from a shard that decides. */
  openShards: number;
  /** Of which the last answer said that it is being rebuilt, or never came. */
  closedShards: number;
  /** The age of the oldest event that the log does not have, as a start was told lately; the greatest of all shards'. */
  lagMs: number;
  times: ShardTimes;
}

/** How clocks agree, as shards that were looked at told it. */
export interface ShardTimes {
  /** The most by which a shard's remembered time is ahead of its node's clock. */
  aheadMs: number;
  /** The least: where it is large, no shard starts calls. */
  leastAheadMs: number;
  /** How far a node's clock is ahead of this process's, negative where it is behind: of the node that agrees best. */
  apartMs: number;
}

/** Both by this process's monotonic clock. */
interface SeenTimes {
  /** The time of the node's clock when the monotonic clock began. */
  nodeStartMs: number;
  lastMs: number;
}

/** What a process learns of the shards from the answers that it gets anyway. */
export class ShardsSeen {
  readonly #clock: Clock;
  readonly #shards: { isOpen: boolean | null; lagMs: number; lagAtMs: number }[];
  readonly #times = new Map<number, SeenTimes>();
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

  /** Answers whether the node's clock has jumped since this shard was looked at: then the others must be looked at again. */
  noteTimes(shard: number, nodeMs: number, lastMs: number): boolean {
    const nodeStartMs = nodeMs - this.#clock.monotonicMs();
    const before = this.#times.get(shard);
    const hasJumped = before !== undefined && Math.abs(nodeStartMs - before.nodeStartMs) > CLOCK_JUMP_MIN_MS;
    // A shard that does not answer now would go on saying that the clocks agree.
    if (hasJumped) this.#times.clear();
    this.#times.set(shard, { nodeStartMs, lastMs });
    return hasJumped;
  }

  /** Shards whose remembered time is so far ahead that they start nothing: each is looked at until it has changed. */
  ahead(): number[] {
    const nowMs = this.#clock.monotonicMs();
    return Array.from(this.#times).flatMap(([shard, seen]) =>
      aheadOf(seen, nowMs) > CLOCK_APART_MAX_MS ? [shard] : [],
    );
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
    const stats = { openShards: 0, closedShards: 0, lagMs: 0, times: this.#readTimes() };
    for (const { isOpen, lagMs, lagAtMs } of this.#shards) {
      if (isOpen === true) stats.openShards++;
      if (isOpen === false) stats.closedShards++;
      if (lagAtMs >= sinceMs) stats.lagMs = Math.max(stats.lagMs, lagMs);
    }
    return stats;
  }

  #readTimes(): ShardTimes {
    const monotonicMs = this.#clock.monotonicMs();
    const ownStartMs = this.#clock.now() - monotonicMs;
    const times = { aheadMs: 0, leastAheadMs: Number.POSITIVE_INFINITY, apartMs: Number.POSITIVE_INFINITY };
    for (const seen of this.#times.values()) {
      const aheadMs = Math.max(0, aheadOf(seen, monotonicMs));
      const apartMs = seen.nodeStartMs - ownStartMs;
      times.aheadMs = Math.max(times.aheadMs, aheadMs);
      times.leastAheadMs = Math.min(times.leastAheadMs, aheadMs);
      if (Math.abs(apartMs) < Math.abs(times.apartMs)) times.apartMs = apartMs;
    }
    return this.#times.size === 0 ? { aheadMs: 0, leastAheadMs: 0, apartMs: 0 } : times;
  }
}

const aheadOf = ({ nodeStartMs, lastMs }: SeenTimes, monotonicMs: number): number =>
  lastMs - nodeStartMs - monotonicMs;
