import { MINUTE_MS, SECOND_MS, type Timer } from '#core/clock.ts';
import type { LedgerEvent } from '#core/events/ledger-event.ts';
import type { ShardLedger } from '#core/ledger/cluster/redis-ledger.ts';
import { shardOfAgent } from '#core/ledger/cluster/shards.ts';
import { Settlement, type SettlementOptions } from './settlement.ts';

export interface ShardSettlementsOptions
  extends Pick<SettlementOptions, 'clock' | 'log' | 'lookUp' | 'onLoss' | 'onPriced' | 'onCost'> {
  shards: number;
  ofShard: (shard: number) => ShardLedger;
  /** What this process publishes at the moment: whoever moves a shard's events also ends its calls. */
  ledShards: () => readonly number[];
  logTimeMs: (shard: number) => number;
}

/** How often it is looked which shards are ours. */
const POLL_MS = SECOND_MS;

/**
 * A settlement loop for each shard that this process leads. Two processes that both believe to lead one settle twice,
 * which the ledger answers like any repetition.
 */
export class ShardSettlements {
  readonly #options: ShardSettlementsOptions;
  readonly #running = new Map<number, Settlement>();
  /** Of each shard that was ever led: a call whose shard changes hands every few minutes would else never be priced. */
  readonly #knownSinceMs = new Map<number, Map<number, number>>();
  #timer: Timer | null = null;
  #closed = false;

  constructor(options: ShardSettlementsOptions) {
    this.#options = options;
    this.#look();
  }

  /** Pending calls that wait for their price. */
  get waiting(): number {
    let waiting = 0;
    for (const settlement of this.#running.values()) waiting += settlement.waiting;
    return waiting;
  }

  /** A call has ended with its cost unknown: without it, the next look at its shard would find it. */
  onEvent(event: LedgerEvent): void {
    if (event.type !== 'finished') return;
    const shard = shardOfAgent(event.agentId, this.#options.shards);
    void this.#running.get(shard)?.watch(event.agentId, event.callId);
  }

  /** Sweeps a shard that is open again. Calls may have ended meanwhile without an event. */
  onOpen(shard: number): void {
    this.#running.get(shard)?.sweepNow();
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    for (const settlement of this.#running.values()) settlement.close();
    this.#running.clear();
  }

  #look(): void {
    const led = new Set(this.#options.ledShards());
    for (const [shard, settlement] of this.#running) {
      if (led.has(shard)) continue;
      settlement.close();
      this.#running.delete(shard);
    }
    for (const shard of led) if (!this.#running.has(shard)) this.#begin(shard);
    if (!this.#closed) this.#timer = this.#options.clock.setTimer(POLL_MS, () => this.#look());
  }

  #begin(shard: number): void {
    const { log, ofShard, logTimeMs } = this.#options;
    const knownSinceMs = this.#knownSinceMs.get(shard) ?? new Map<number, number>();
    this.#knownSinceMs.set(shard, knownSinceMs);
    const settlement = new Settlement({
      ...this.#options,
      ledger: ofShard(shard),
      logTimeMs: () => logTimeMs(shard),
      knownSinceMs,
      // Any process may have died a moment ago and left calls behind.
      sweepMs: MINUTE_MS,
      // A shard that changes hands more often than that would else never be looked at.
      firstSweepMs: 0,
      isOpen: () => false,
    });
    this.#running.set(shard, settlement);
    settlement.start().catch((error: unknown) => {
      log.error('a shard could not be settled, it is tried again', { shard, error });
      this.#running.delete(shard);
      settlement.close();
    });
  }
}
