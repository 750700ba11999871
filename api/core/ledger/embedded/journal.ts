import type { CallHistory } from '../../calls/call-history.ts';
import type { CallRecord } from '../../calls/call-record.ts';
import type { VideoJob } from '../../videos/video-job.ts';
import type { JournalError } from './journal-errors.ts';

/**
 * Where the embedded ledger's events are kept. One writer; batches come in order, one at a time.
 *
 * Methods reject with a `JournalError`. After a rejected `commit` the journal takes nothing any more: whether
 * the batch is on the disk can only be told by opening it again.
 */
export interface Journal {
  head(): Promise<JournalHead>;
  /** Snapshots of agents in the order of their ids, in chunks; empty at the end. */
  readAgents(afterAgentId: number): Promise<AgentRow[]>;
  /** Calls that ended after `sinceMs`, of rows that end after `afterSeq`, up to the checkpoint; empty at the end. */
  readEnded(afterSeq: number, sinceMs: number): Promise<EndedRow[]>;
  /** Rows that end after `afterSeq`, in order, in chunks; empty at the end. */
  readTail(afterSeq: number): Promise<JournalRow[]>;
  /** Resolves once the batch is on the disk. */
  commit(batch: JournalBatch): Promise<void>;
  /** Drops a bounded number of rows that nobody needs any more; answers how many, 0 when none is left. */
  prune(older: PruneBounds): Promise<number>;
  readonly history: CallHistory;
  readonly videos: JournalVideos;
  /** Writes what is left into the one file, if it can. Never rejects; a broken journal is closed like a whole one. */
  close(): Promise<void>;
}

/** Videos that have ended. */
export interface JournalVideos {
  find(agentId: number, videoId: string): Promise<VideoJob | null>;
  findByKey(agentId: number, idempotencyKey: string): Promise<VideoJob | null>;
  /** Of one agent in the order of their ids, in portions; empty at the end. */
  list(agentId: number, afterVideoId: string): Promise<VideoJob[]>;
}

export type OpenJournal = (path: string, events: JournalEvents) => Promise<Journal>;

export interface JournalEvents {
  /** The journal ended without being asked to; its requests, if any were under way, are rejected too. */
  onBroken(error: JournalError): void;
}

export interface JournalHead {
  /** Of the last event; 0 when there is none. */
  lastSeq: number;
  /** The ledger's time at the last event. */
  lastAtMs: number;
  /** Every event up to here is in the agents' snapshots. */
  checkpointSeq: number;
  /** Every call that ended up to here is in the history. */
  projectedSeq: number;
}

/** One commit. Without events (`events` is empty) it only carries snapshots or rows of the history. */
export interface JournalBatch {
  firstSeq: number;
  /** With no events: the last seq before, so `firstSeq - 1`. */
  lastSeq: number;
  atMs: number;
  /** See `packEvents`. */
  events: string;
  /** A JSON array, see `EndedCall`. */
  ended: string;
  calls: readonly CallRecord[];
  /** That end in these events. */
  videos: readonly VideoJob[];
  agents: readonly AgentRow[];
  checkpointSeq: number | null;
}

/** Holds no events, rows or snapshots: a commit lays its own over it. */
export const emptyBatch: Omit<JournalBatch, 'firstSeq' | 'lastSeq' | 'atMs'> = {
  events: '',
  ended: '',
  calls: [],
  videos: [],
  agents: [],
  checkpointSeq: null,
};

/** An agent as `serializeAgent` writes it, without its ended calls. */
export interface AgentRow {
  agentId: number;
  text: string;
}

export interface JournalRow extends EndedRow {
  firstSeq: number;
  events: string;
}

/**
 * What a repeated command is answered from: agent, call, nonce, charge in nano-dollars, time of the settle. Ended
 * calls stand in the journal's rows and not in the snapshots, which would else be written anew with up to 36,000
 * of them an agent.
 */
export type EndedCall = [
  agentId: number,
  callId: number,
  nonce: string,
  chargedNanoUsd: string,
  atMs: number,
];

export interface EndedRow {
  lastSeq: number;
  ended: string;
}

export type PruneBounds =
  | { kind: 'journal'; beforeMs: number }
  | { kind: 'calls'; beforeCallId: number }
  | { kind: 'videos'; endedBeforeMs: number }
  | { kind: 'usage'; beforeDay: string; agentIds: readonly number[] };
