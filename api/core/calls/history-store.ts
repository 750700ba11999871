import type { Posting } from '../ledger/machine/postings.ts';
import type { NanoUsd } from '../money.ts';
import type { VideoJob } from '../videos/video-job.ts';
import type { CallRecord } from './call-record.ts';

/**
 * Where a projection of the log leaves what people read. Every row comes from an event and is as old as it: rows that
 * are written again, late, or by two projections at once end as if they had been written once and in order.
 */
export interface HistoryStore {
  /** Resolves once all of them are stored; where it rejects, some may be, and all are to be written again. */
  write(rows: HistoryRows): Promise<void>;
  /** `null`: nothing was counted in it yet. */
  readUsage(key: UsageKey): Promise<UsageSum | null>;
}

export interface HistoryRows {
  calls: readonly CallRecord[];
  entries: readonly LedgerEntry[];
  usage: readonly UsageSum[];
  /** That have ended. */
  videos: readonly VideoJob[];
}

/** One movement of money, kept for ever. */
export interface LedgerEntry {
  agentId: number;
  /** The event's place in the log of its shard. */
  epoch: number;
  seq: number;
  /** Of the agent, after the event. */
  version: number;
  atMs: number;
  type: string;
  callId: number | null;
  postings: readonly Posting[];
}

export interface UsageKey {
  agentId: number;
  /** On which the calls started, as its number since 1970. */
  day: number;
  model: string;
}

/** All that was counted up to the event at this place. */
export interface UsageSum extends UsageKey {
  modelName: string;
  calls: number;
  /** Prompt and completion together. */
  tokens: number;
  chargedNanoUsd: NanoUsd;
  epoch: number;
  seq: number;
}
