import type { CallId } from '../ids.ts';
import type { NanoUsd } from '../money.ts';
import type { CallRecord } from './call-record.ts';

/**
 * Ended calls and what they cost, kept 90 days. A call that still runs, or whose price is not known yet, is among
 * the ledger's open holds: to list all, read the holds first, then this, and let this win, so that a call that ends
 * in between is seen once.
 *
 * `unavailable`: the store cannot answer at this moment.
 */
export interface CallHistory {
  /** Newest first. `beforeCallId` is the last call of the page before. */
  list(page: CallPage): Promise<CallRecord[] | 'unavailable'>;
  find(callId: CallId): Promise<CallRecord | null | 'unavailable'>;
  /** One row a day and model, oldest day first; days are UTC dates such as `2026-11-21`, both included. */
  usage(range: UsageRange): Promise<UsageRow[] | 'unavailable'>;
}

export interface CallPage {
  agentId: number;
  keyId?: number;
  limit: number;
  beforeCallId?: CallId;
}

export interface UsageRange {
  agentId: number;
  fromDay: string;
  toDay: string;
}

/** Calls of one agent and model that started on one day and whose cost is known, failed ones included. */
export interface UsageRow {
  day: string;
  model: string;
  modelName: string;
  calls: number;
  /** Prompt and completion together. */
  tokens: number;
  chargedNanoUsd: NanoUsd;
}
