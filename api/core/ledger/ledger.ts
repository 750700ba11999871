import type { KeyLimit } from '../events/ledger-event.ts';
import type { NanoUsd } from '../money.ts';
import type { VideoJob } from '../videos/video-job.ts';
import type { Command, ResultOf } from './command.ts';
import type { AgentStatus, Hold, KeyOwner, KeyState, Lot } from './machine/state.ts';

/**
 * The ledger as the rest of the gateway sees it: the same port for the embedded engine and the cluster.
 *
 * A command is answered twice. `result` is what was decided; `durable` resolves once the decision is in the
 * journal (or cannot be known to be). The upstream request may start on the result of a `reserve`; every byte to
 * the caller waits for `durable`, and every other command is answered only after it.
 */
export interface Ledger {
  execute<C extends Command>(command: C): Promise<Executed<ResultOf<C>>>;
  /** The first hash that belongs to a key: two peppers are tried during a rotation. */
  findKey(hashes: readonly string[]): Promise<KeyLookup>;
  /**
   * The owner of a key that was live, of an active agent, some seconds ago: enough to begin a start with, because
   * `reserve` decides that anew. `null`: it has to be asked for.
   */
  recallKey(hashes: readonly string[]): KeyOwner | null;
  /** Answers only with what is in the journal. `null`: no such agent. */
  readAgent(agentId: number): Promise<AgentView | null | Unavailable>;
  listAgents(): Promise<AgentSummary[] | Unavailable>;
  /** Agents with credit that ended by then and may not be expired yet; a few others may be among them. */
  listEnded(byMs: number): Promise<number[] | Unavailable>;
  /** Open holds of all agents: for the settlement loop, the orphan rule and the audit. */
  listHolds(): Promise<HoldView[] | Unavailable>;
  /** A video of this agent: open, or ended in the last day. `null`: none that the ledger knows. */
  readVideo(agentId: number, videoId: string): Promise<VideoJob | null | Unavailable>;
  findVideoByKey(agentId: number, idempotencyKey: string): Promise<VideoJob | null | Unavailable>;
  /** Videos of all agents that have not ended. */
  listOpenVideos(): Promise<VideoJob[] | Unavailable>;
  /** Stops deciding, waits for the journal, frees the folder. */
  close(): Promise<void>;
}

/** `unknown`: no acknowledgement came; the decision may or may not have been written. */
export type Durability = 'durable' | 'unknown';

export interface Executed<R> {
  result: R | UnavailableResult;
  durable: Promise<Durability>;
}

/** The ledger decides nothing at this moment: recovering, fenced, closed, its disk full. */
export interface UnavailableResult {
  ok: false;
  reason: 'unavailable';
}

export type Unavailable = 'unavailable';

export type KeyLookup =
  | { found: true; agentId: number; keyId: number; revoked: boolean; agentStatus: AgentStatus }
  | { found: false }
  | Unavailable;

export interface AgentSummary {
  agentId: number;
  name: string;
  token: string | null;
  status: AgentStatus;
  createdAtMs: number;
}

export interface AgentView extends AgentSummary {
  version: number;
  /** Who said what of its status last: the next `set_agent` of a source needs a higher version. */
  statusBySource: { source: string; sourceVersion: number; status: AgentStatus }[];
  lots: Lot[];
  grantedNanoUsd: NanoUsd;
  chargedNanoUsd: NanoUsd;
  expiredNanoUsd: NanoUsd;
  movedInNanoUsd: NanoUsd;
  movedOutNanoUsd: NanoUsd;
  runningCalls: number;
  holds: HoldView[];
  keys: KeyView[];
  chargedTodayNanoUsd: NanoUsd;
}

export interface HoldView extends Omit<Hold, 'nonce' | 'allocations' | 'price' | 'videoId'> {
  agentId: number;
}

export interface KeyView extends Omit<KeyState, 'hash' | 'limit' | 'spent' | 'heldNanoUsd'> {
  /** It has not changed since: what a command that changes it rests on. */
  version: number;
  limit: {
    limitNanoUsd: NanoUsd;
    reset: KeyLimit['reset'];
    spentNanoUsd: NanoUsd;
    heldNanoUsd: NanoUsd;
    resetsAtMs: number;
  } | null;
  monthNanoUsd: NanoUsd;
}
