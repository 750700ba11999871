import type { AgentState } from '../machine/state.ts';
import type { LogPosition } from './effective-log.ts';

/**
 * Copies of a shard's agents, folded from the log and from nothing else, so that a recovery need not read all of it.
 * Written by whoever projects the shard: two at once, one of them slow, are safe, because an older copy never
 * replaces a newer one.
 */
export interface AgentStates {
  /** `null`: nothing was copied yet. To be read before the agents: an agent may be newer than the checkpoint, never older. */
  readCheckpoint(shard: number): Promise<Checkpoint | null>;
  readAgents(shard: number, onAgent: (agent: AgentState) => void): Promise<void>;
  /** As they are at this place. Resolves once they are stored; only then may a checkpoint name the place. */
  writeAgents(shard: number, at: LogPosition, agents: readonly AgentState[]): Promise<void>;
  writeCheckpoint(shard: number, checkpoint: Checkpoint): Promise<void>;
}

/** Every agent of the shard is stored as it was here, or later. */
export interface Checkpoint {
  position: LogPosition;
  /**
   * Behind the last record that was folded. Records that change no position move it on, so that the log need not be kept
   * back to the last event of an idle shard: of two checkpoints of one place, the one that is further stays.
   */
  offset: bigint;
  /** The latest time of a start up to here. */
  lastAtMs: number;
}
