import { type Clock, every, type Timer } from '../../clock.ts';
import { SNAPSHOT_EVENTS, SNAPSHOT_MS } from '../../limits.ts';
import { nextTurn } from '../../wait.ts';
import type { LedgerState } from '../machine/state.ts';
import type { AgentRow } from './journal.ts';
import { toAgentRow } from './journal-fold.ts';
import type { JournalQueue } from './journal-queue.ts';

/** A snapshot writes agents in slices. A slice ends after this time or this many agents. */
const SNAPSHOT_SLICE_MS = 4;
const SNAPSHOT_SLICE_AGENTS = 100;

export interface SnapshotsOptions {
  clock: Clock;
  state: LedgerState;
  queue: JournalQueue;
  /** Changed since the checkpoint, from the fold. */
  changedAgents: Set<number>;
  eventsSinceCheckpoint: number;
}

/**
 * Writes the agents that changed since the last round, so that a start folds a short tail. Agents are written one
 * slice at a time while the ledger goes on deciding: each row stands for its own version, and the checkpoint is the
 * seq at which the round began.
 */
export class Snapshots {
  readonly #options: SnapshotsOptions;
  #changed: Set<number>;
  #events: number;
  readonly #timer: Timer;
  #round: Promise<void> | null = null;
  #stopped = false;
  /** Of the slowest slice: how long it kept the thread. */
  #longestSliceMs = 0;

  constructor(options: SnapshotsOptions) {
    this.#options = options;
    this.#changed = options.changedAgents;
    this.#events = options.eventsSinceCheckpoint;
    this.#timer = every(options.clock, SNAPSHOT_MS, () => this.#start());
  }

  get longestSliceMs(): number {
    return this.#longestSliceMs;
  }

  noteChange(agentId: number): void {
    this.#changed.add(agentId);
    if (++this.#events >= SNAPSHOT_EVENTS) this.#start();
  }

  /** Writes what changed. Resolves when it is on the disk, or cannot be brought there. */
  async finish(): Promise<void> {
    await this.#round;
    this.#start();
    await this.#round;
    this.stop();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer.cancel();
  }

  #start(): void {
    if (this.#round !== null || this.#stopped || this.#changed.size === 0) return;
    this.#round = this.#write().finally(() => {
      this.#round = null;
    });
  }

  async #write(): Promise<void> {
    const { queue } = this.#options;
    const agentIds = [...this.#changed];
    const checkpointSeq = queue.lastSeq;
    this.#changed = new Set();
    this.#events = 0;
    // Not in the middle of a command.
    await nextTurn();
    while (agentIds.length > 0) {
      const rows = this.#slice(agentIds);
      if (this.#stopped) return;
      const durability = await queue.addAgents(rows, agentIds.length === 0 ? checkpointSeq : null);
      // The ledger will fold the journal anew, and find again what changed.
      if (durability === 'unknown') return;
    }
  }

  /** Takes from the end of the list. */
  #slice(agentIds: number[]): AgentRow[] {
    const { clock, state } = this.#options;
    const startedMs = clock.monotonicMs();
    const rows: AgentRow[] = [];
    while (agentIds.length > 0 && rows.length < SNAPSHOT_SLICE_AGENTS) {
      const agent = state.agents.get(agentIds.pop() ?? 0);
      if (agent !== undefined) rows.push(toAgentRow(agent));
      if (clock.monotonicMs() - startedMs >= SNAPSHOT_SLICE_MS) break;
    }
    this.#longestSliceMs = Math.max(this.#longestSliceMs, clock.monotonicMs() - startedMs);
    return rows;
  }
}
