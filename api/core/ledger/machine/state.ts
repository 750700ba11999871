import type { CallEnd, CallFacts, KeyLimit, PendingPrice, SavedPrice } from '../../events/ledger-event.ts';
import type { CallId } from '../../ids.ts';
import type { NanoUsd } from '../../money.ts';
import type { GivenUpCalls } from './given-up-calls.ts';
import type { KeyVersions } from './key-versions.ts';
import type { OpenCallMap } from './open-call-map.ts';
import type { RecentlySettled } from './recently-settled.ts';
import type { VideoTable } from './video-table.ts';

/** Everything the ledger knows. Changed only by `apply`. */
export interface LedgerState {
  agents: Map<number, AgentState>;
  /** HMAC of a key to its owner. Revoked keys stay, so that they are told from unknown ones. */
  keysByHash: Map<string, KeyOwner>;
}

export interface KeyOwner {
  agentId: number;
  keyId: number;
}

export type AgentStatus = 'inactive' | 'active' | 'suspended';

/**
 * Identity, true after every event:
 * granted + moved in = free + held + charged + expired + moved out.
 */
export interface AgentState {
  agentId: number;
  /** Of the last journaled event. */
  version: number;
  name: string;
  token: string | null;
  createdAtMs: number;
  /** A suspension from any source wins; else one `active` is enough. */
  statusBySource: Map<string, { sourceVersion: number; status: AgentStatus }>;
  /** Soonest expiry first; at most eight have not ended. */
  lots: Lot[];
  grantedNanoUsd: NanoUsd;
  chargedNanoUsd: NanoUsd;
  expiredNanoUsd: NanoUsd;
  movedInNanoUsd: NanoUsd;
  movedOutNanoUsd: NanoUsd;
  /** GCRA: the theoretical arrival time of the next start, in microseconds, so that any rate is a whole number. */
  startsTatUs: number;
  /** Slots of running calls and when each frees itself. A lapsed lease says nothing about the hold. */
  leases: OpenCallMap<number>;
  holds: OpenCallMap<Hold>;
  /** Ended calls of the last hour (and up to a minute more), so that a repeated command is answered as it was. */
  done: RecentlySettled;
  /** Not journaled: whatever can still arrive late is on its way to this very engine or store. */
  givenUp: GivenUpCalls;
  keys: Map<number, KeyState>;
  /** Not in snapshots. */
  keyVersions: KeyVersions;
  /** What today's calls charged, for the daily share. */
  chargedToday: PeriodSum;
  /** Grant ids already booked, with the time until which they count. */
  grants: Map<string, number>;
  /** By `out:` or `in:` and the trade's id: an agent may trade with itself. */
  trades: Map<string, TradeDone>;
  /** When keys were made over MCP, the last 24 hours, oldest first. */
  mcpKeysMadeAtMs: number[];
  /** When each upload was started, by its id: the last 24 hours, and until the next one some that no longer count. */
  uploads: Map<string, number>;
  /** Open ones, and those that ended in the last day (and up to a minute more). */
  videos: VideoTable;
  /** Bytes of stored images, by the end of the hour in which their links end. */
  stored: Map<number, number>;
  /** When `done`, `grants` and `trades` were last cleared of what no longer counts. */
  prunedAtMs: number;
}

export interface Lot {
  /** 00:00 UTC of the day on which this credit ends; the lot's name. */
  expiresAtMs: number;
  freeNanoUsd: NanoUsd;
  heldNanoUsd: NanoUsd;
}

export interface Allocation {
  expiresAtMs: number;
  nanoUsd: NanoUsd;
}

export type HoldKind = 'text' | 'image' | 'video';

export interface Hold {
  callId: CallId;
  /** Of the process that reserved: two processes that drew one id are told apart by it. */
  nonce: string;
  keyId: number;
  kind: HoldKind;
  nanoUsd: NanoUsd;
  /** Soonest expiry first; sums to `nanoUsd`. */
  allocations: Allocation[];
  startedAtMs: number;
  timeLimitMs: number;
  call: CallFacts;
  price: SavedPrice;
  generationId: string | null;
  /** Set once the call has finished with its cost unknown: `pending`. Until then the call is `running`. */
  pending: { end: CallEnd; pending: PendingPrice } | null;
  /** `null`: no video, or one of a release that knew no jobs. */
  videoId: string | null;
}

export interface DoneCall {
  nonce: string;
  chargedNanoUsd: NanoUsd;
  settledAtMs: number;
}

export interface TradeDone {
  keptUntilMs: number;
  result: 'moved_out' | 'move_refused' | 'moved_in';
  /** Of a `moved_in`: booked in and expired at once. */
  expiredNanoUsd: NanoUsd;
  /** What a repetition is answered by: of a `moved_out` its terms, of a `move_refused` why; else nothing. */
  detail: string;
}

export interface PeriodSum {
  periodStartMs: number;
  nanoUsd: NanoUsd;
}

export interface KeyState {
  keyId: number;
  label: string;
  /** The leading twelve characters. */
  prefix: string;
  hash: string;
  createdAtMs: number;
  createdByKeyId: number | null;
  revokedAtMs: number | null;
  lastUsedAtMs: number | null;
  limit: { limitNanoUsd: NanoUsd; reset: KeyLimit['reset'] } | null;
  /** Counted for every key always, so that a limit set mid-period counts what was spent. */
  spent: { day: PeriodSum; week: PeriodSum; month: PeriodSum };
  /** Held by this key's open calls. */
  heldNanoUsd: NanoUsd;
}
