import type { Registry } from 'prom-client';
import type { Pepper } from '#core/accounts/api-key.ts';
import type { AuditLog } from '#core/audit-log/audit-log.ts';
import type { BillStore } from '#core/bills/bill-store.ts';
import type { CallHistory } from '#core/calls/call-history.ts';
import type { Capacity } from '#core/capacity/capacity.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import type { LiveMarkets } from '#core/market/live-markets.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import type { AddressWeights } from '#core/rates/address-weights.ts';
import type { Rate } from '#core/rates/gcra.ts';
import type { RateLimiter } from '#core/rates/rate-limiter.ts';
import type { VideoHistory } from '#core/videos/video-history.ts';

/** All that differs between the two shapes, as the API sees it. */
export interface Store {
  ledger: Ledger;
  history: CallHistory;
  /** Videos that the ledger has forgotten. */
  videos: VideoHistory;
  /** What operators changed: it stands where the history does. */
  audit: AuditLog;
  /** What keys are hashed with, newest first. */
  peppers: Peppers;
  /** What providers took, to be compared with their bills. */
  bills: BillStore;
  /** What is kept of markets for good, and what changes many times a second. */
  markets: { store: MarketStore; live: LiveMarkets };
  /** What an address may read of markets in a minute, from all processes together. */
  countWeights(weightPerMinute: () => number): AddressWeights;
  /** A rate that all processes keep together, by its name. */
  limitRate(name: string, rate: Rate): RateLimiter;
  /** Whether this process can reach what decides its money, by what it knows without asking. */
  isReady(): boolean;
  /** How the ledger's time and the clock of this process agree, as far as is known without asking. */
  times(): LedgerTimes;
  /** Decisions that the journal has not confirmed yet, and how late it is. */
  lag(): { events: number; ms: number };
  /** Tells other processes what this one holds of the operator's pool; `null` where there are none. */
  share: ((capacity: Capacity, processId: string) => { stop(): Promise<void> }) | null;
  /** Gauges of this shape. */
  observe(registry: Registry): void;
  /** After the last call has ended. */
  close(): Promise<void>;
}

export interface LedgerTimes {
  /** How far the ledger's time is ahead of the clock by which it decides: it waits for that, because it never goes back. */
  aheadMs: number;
  /** The same of the shard that is ahead least, so of all agents. */
  leastAheadMs: number;
  /** How far the clock by which the ledger decides is ahead of this process's own; negative where it is behind. */
  apartMs: number;
}

export type Peppers = readonly [Pepper, ...Pepper[]];
