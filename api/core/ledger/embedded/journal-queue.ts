import type { CallRecord } from '../../calls/call-record.ts';
import type { Clock } from '../../clock.ts';
import type { LedgerEvent } from '../../events/ledger-event.ts';
import type { VideoJob } from '../../videos/video-job.ts';
import type { Durability } from '../ledger.ts';
import type { AgentRow, EndedCall, JournalBatch } from './journal.ts';
import { packEvents } from './packed-events.ts';

/** Events that are decided but not on disk yet, about 10 MB. Beyond it nothing is decided. */
export const JOURNAL_QUEUE_EVENTS_MAX = 20_000;
/** Events in one commit, which is one row. A recovery folds a row without a pause. */
export const JOURNAL_BATCH_EVENTS_MAX = 500;
/** Turns of the event loop for which a commit gathers events. */
export const JOURNAL_TURNS = 2;
/** After a commit of this many events, the next one gathers for more turns. */
export const JOURNAL_LOADED_EVENTS = 4;
export const JOURNAL_LOADED_TURNS = 5;

export interface JournalQueueOptions {
  clock: Clock;
  /** The seq after which the first event goes. */
  lastSeq: number;
  commit(batch: JournalBatch): Promise<void>;
  onCommitted(events: readonly LedgerEvent[], durationMs: number): void;
  /** Called once; the queue takes nothing any more. */
  onFailed(error: unknown): void;
}

/** One event and what is written beside it. */
export interface Entry {
  event: LedgerEvent;
  call: CallRecord | null;
  ended: EndedCall | null;
  /** That it ends. */
  video: VideoJob | null;
}

interface Batch {
  firstSeq: number;
  atMs: number;
  events: LedgerEvent[];
  ended: EndedCall[];
  calls: CallRecord[];
  videos: VideoJob[];
  agents: AgentRow[];
  checkpointSeq: number | null;
  /** When the oldest of its events was decided; `null` while it has none. */
  oldestMs: number | null;
  durable: PromiseWithResolvers<Durability>;
}

const DURABLE: Promise<Durability> = Promise.resolve('durable');

/**
 * Group commit: what is decided while a commit runs goes into the next one. One batch is in flight at a time, so a
 * batch is on the disk only when all before it are.
 */
export class JournalQueue {
  readonly #options: JournalQueueOptions;
  /** The first is in flight when `#committing`; only the last takes more. */
  #batches: Batch[] = [];
  #committing = false;
  #scheduled = false;
  #failed = false;
  #lastSeq: number;
  #queuedEvents = 0;
  #lastCommitEvents = 0;
  #lastCommitMs = 0;

  constructor(options: JournalQueueOptions) {
    this.#options = options;
    this.#lastSeq = options.lastSeq;
  }

  get lastSeq(): number {
    return this.#lastSeq;
  }

  add({ event, call, ended, video }: Entry): Promise<Durability> {
    const batch = this.#openBatch();
    batch.oldestMs ??= this.#options.clock.monotonicMs();
    batch.atMs = event.atMs;
    batch.events.push(event);
    if (call !== null) batch.calls.push(call);
    if (ended !== null) batch.ended.push(ended);
    if (video !== null) batch.videos.push(video);
    this.#lastSeq++;
    this.#queuedEvents++;
    return batch.durable.promise;
  }

  /** Rows of the history whose events are in the journal already. */
  addCalls(calls: readonly CallRecord[]): Promise<Durability> {
    const batch = this.#openBatch();
    batch.calls.push(...calls);
    return batch.durable.promise;
  }

  /** Snapshots go behind every event that they contain. */
  addAgents(agents: readonly AgentRow[], checkpointSeq: number | null): Promise<Durability> {
    const batch = this.#openBatch();
    batch.agents.push(...agents);
    if (checkpointSeq !== null) batch.checkpointSeq = checkpointSeq;
    return batch.durable.promise;
  }

  /** Resolves once all that was decided so far is on the disk; at once when it is. */
  barrier(): Promise<Durability> {
    return this.#batches.at(-1)?.durable.promise ?? DURABLE;
  }

  isIdle(): boolean {
    return this.#batches.length === 0;
  }

  isFull(): boolean {
    return this.#queuedEvents >= JOURNAL_QUEUE_EVENTS_MAX;
  }

  /** Age of the oldest event that is not on the disk; 0 when all are. */
  lagMs(): number {
    const oldestMs = this.#batches[0]?.oldestMs ?? this.#batches[1]?.oldestMs;
    return oldestMs === undefined || oldestMs === null ? 0 : this.#options.clock.monotonicMs() - oldestMs;
  }

  stats(): { lagEvents: number; lagMs: number; lastCommitMs: number } {
    return { lagEvents: this.#queuedEvents, lagMs: this.lagMs(), lastCommitMs: this.#lastCommitMs };
  }

  /** What waits is told that nobody knows; nothing more is taken. */
  abandon(): void {
    this.#failed = true;
    for (const batch of this.#batches) batch.durable.resolve('unknown');
    this.#batches = [];
    this.#queuedEvents = 0;
  }

  #openBatch(): Batch {
    if (this.#failed) throw new Error('the journal takes nothing any more');
    const last = this.#batches.at(-1);
    const inFlight = this.#committing && this.#batches.length === 1;
    if (last !== undefined && !inFlight && last.events.length < JOURNAL_BATCH_EVENTS_MAX) return last;
    const batch = emptyBatch(this.#lastSeq + 1);
    this.#batches.push(batch);
    this.#schedule();
    return batch;
  }

  /**
   * Two turns of the event loop later, so that what is decided together shares a commit, and the call's
   * request to its provider goes out first: where the process has one core, the journal's thread would keep it back
   * by 0.14 ms (measured). Under load it is five turns. A commit costs about the same whatever is in it, most of
   * it the system's `fsync`: each one that is spared is worth more to the callers than the turns that they wait for
   * it. An idle loop turns in microseconds.
   */
  #schedule(): void {
    if (this.#scheduled || this.#committing) return;
    this.#scheduled = true;
    this.#commitIn(this.#lastCommitEvents < JOURNAL_LOADED_EVENTS ? JOURNAL_TURNS : JOURNAL_LOADED_TURNS);
  }

  #commitIn(turns: number): void {
    setImmediate(() => {
      // A second batch means that the first is full.
      if (turns > 1 && this.#batches.length === 1) return this.#commitIn(turns - 1);
      this.#scheduled = false;
      void this.#commitFirst();
    });
  }

  async #commitFirst(): Promise<void> {
    const [batch] = this.#batches;
    if (batch === undefined || this.#failed) return;
    this.#committing = true;
    const startedMs = this.#options.clock.monotonicMs();
    try {
      await this.#options.commit(toJournalBatch(batch));
    } catch (error) {
      if (!this.#failed) this.#options.onFailed(error);
      return;
    }
    if (this.#failed) return;
    this.#committing = false;
    this.#batches.shift();
    this.#queuedEvents -= batch.events.length;
    this.#lastCommitEvents = batch.events.length;
    this.#lastCommitMs = this.#options.clock.monotonicMs() - startedMs;
    batch.durable.resolve('durable');
    if (this.#batches.length > 0) this.#schedule();
    this.#options.onCommitted(batch.events, this.#lastCommitMs);
  }
}

function emptyBatch(firstSeq: number): Batch {
  return {
    firstSeq,
    atMs: 0,
    events: [],
    ended: [],
    calls: [],
    videos: [],
    agents: [],
    checkpointSeq: null,
    oldestMs: null,
    durable: Promise.withResolvers(),
  };
}

function toJournalBatch(batch: Batch): JournalBatch {
  const { firstSeq, atMs, events, ended, calls, videos, agents, checkpointSeq } = batch;
  return {
    firstSeq,
    lastSeq: firstSeq + events.length - 1,
    atMs,
    events: events.length === 0 ? '' : packEvents(events),
    ended: ended.length === 0 ? '' : JSON.stringify(ended),
    calls,
    videos,
    agents,
    checkpointSeq,
  };
}
