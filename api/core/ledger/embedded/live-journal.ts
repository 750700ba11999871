import { projectCall } from '../../calls/project-call.ts';
import type { Clock } from '../../clock.ts';
import type { LedgerEvent } from '../../events/ledger-event.ts';
import type { Durability } from '../ledger.ts';
import { apply, applyUnjournaled } from '../machine/apply.ts';
import type { Decision } from '../machine/decision.ts';
import type { LedgerState } from '../machine/state.ts';
import { endedVideo } from '../machine/video.ts';
import type { EndedCall, Journal } from './journal.ts';
import { startPruning } from './journal-pruning.ts';
import { JournalQueue } from './journal-queue.ts';
import type { OpenedJournal } from './journal-recovery.ts';
import { Snapshots } from './journal-snapshots.ts';

export interface LiveJournalOptions {
  clock: Clock;
  onCommitted(events: readonly LedgerEvent[], durationMs: number): void;
  onFailed(live: LiveJournal, error: unknown): void;
}

/** An open journal with the state folded from it. It is replaced as a whole when the journal is opened again. */
export class LiveJournal {
  readonly journal: Journal;
  readonly state: LedgerState;
  readonly queue: JournalQueue;
  readonly #snapshots: Snapshots;
  readonly #stopPruning: () => void;
  readonly #fail: (error: unknown) => void;

  constructor({ journal, folded }: OpenedJournal, { clock, onCommitted, onFailed }: LiveJournalOptions) {
    const { state, head, changedAgents, calls } = folded;
    this.journal = journal;
    this.state = state;
    this.#fail = (error) => onFailed(this, error);
    const queue = new JournalQueue({
      clock,
      lastSeq: head.lastSeq,
      commit: (batch) => journal.commit(batch),
      onCommitted,
      onFailed: this.#fail,
    });
    const eventsSinceCheckpoint = head.lastSeq - head.checkpointSeq;
    this.queue = queue;
    this.#snapshots = new Snapshots({ clock, state, queue, changedAgents, eventsSinceCheckpoint });
    const agentIds = () => state.agents.keys();
    this.#stopPruning = startPruning({ clock, journal, agentIds, onFailed: this.#fail }).stop;
    if (calls.length > 0) void queue.addCalls(calls);
  }

  get longestSnapshotSliceMs(): number {
    return this.#snapshots.longestSliceMs;
  }

  /** Makes true what was decided, in memory at once and then on the disk. */
  enact(decision: Decision<unknown>): Promise<Durability> {
    const { state, queue } = this;
    let durable = queue.barrier();
    try {
      for (const event of decision.events) {
        const call = projectCall(state, event);
        const ended = endedCall(state, event);
        const video = event.type === 'settled' ? endedVideo(state.agents.get(event.agentId), event) : null;
        apply(state, event);
        durable = queue.add({ event, call, ended, video });
        this.#snapshots.noteChange(event.agentId);
      }
      applyUnjournaled(state, decision);
    } catch (error) {
      // A bug; but what is in memory may not be what the journal will have, so nothing may be built on it.
      this.#fail(error);
      throw error;
    }
    return durable;
  }

  /** Whether the last decisions are on the disk cannot be told any more. */
  abandon(): void {
    this.#snapshots.stop();
    this.#stopPruning();
    this.queue.abandon();
  }

  /** Closes the journal, where it works with everything that waits and a last snapshot. */
  async close(isWorking: boolean): Promise<void> {
    this.#stopPruning();
    if (isWorking) {
      await this.queue.barrier();
      await this.#snapshots.finish();
    }
    await this.journal.close();
  }
}

function endedCall(state: LedgerState, event: LedgerEvent): EndedCall | null {
  if (event.type !== 'settled') return null;
  const nonce = state.agents.get(event.agentId)?.holds.get(event.callId)?.nonce;
  if (nonce === undefined) return null;
  return [event.agentId, event.callId, nonce, event.chargedNanoUsd, event.atMs];
}
