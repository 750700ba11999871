import type { CallRecord } from '#core/calls/call-record.ts';
import { dayOf } from '#core/calls/day-number.ts';
import type { HistoryStore, LedgerEntry } from '#core/calls/history-store.ts';
import { projectCall } from '#core/calls/project-call.ts';
import { type Clock, SECOND_MS } from '#core/clock.ts';
import type { LedgerEvent } from '#core/events/ledger-event.ts';
import type { AgentStates } from '#core/ledger/cluster/agent-states.ts';
import type { StoredRecord } from '#core/ledger/cluster/ledger-log.ts';
import {
  type FoldedShard,
  foldRecord,
  readCopy,
  ShardGapError,
  sumOfVersions,
} from '#core/ledger/cluster/shard-fold.ts';
import type { ShardReader } from '#core/ledger/cluster/shard-reader.ts';
import { foldEvent } from '#core/ledger/machine/apply.ts';
import { postingsOf } from '#core/ledger/machine/postings.ts';
import { endedVideo } from '#core/ledger/machine/video.ts';
import { SNAPSHOT_EVENTS, SNAPSHOT_MS } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import type { VideoJob } from '#core/videos/video-job.ts';
import { type CountedCall, UsageBook } from './usage-book.ts';

/** Records that are folded before their result is written. */
export const PROJECTOR_RECORDS = 500;
/** The first pause between attempts to write to a store that is down. It doubles up to the next. */
export const PROJECTOR_RETRY_MS = 100;
export const PROJECTOR_RETRY_MS_MAX = 10 * SECOND_MS;

export interface ShardProjectionOptions {
  shard: number;
  states: AgentStates;
  history: HistoryStore;
  clock: Clock;
  log: Log;
  /** Counted by all projections of the process. */
  totals: ProjectedTotals;
  onClosed: () => void;
}

export interface ProjectedTotals {
  events: number;
  /** Rows of calls: a call whose price came later counts twice. */
  calls: number;
}

/** What the events of a few records amount to. */
interface Rows {
  calls: Map<string, CallRecord>;
  counted: CountedCall[];
  entries: LedgerEntry[];
  videos: VideoJob[];
}

/**
 * Makes one shard's log readable: calls, movements of money, sums of usage, and copies of its agents to recover from.
 * Rows first, then the agents that stand for them, then the checkpoint: whoever takes over from there writes some rows
 * again, and all of them as they are.
 */
export class ShardProjection implements ShardReader {
  readonly #options: ShardProjectionOptions;
  readonly #usage: UsageBook;
  #folded: FoldedShard | null = null;
  readonly #changed = new Set<number>();
  #eventsSinceCopy = 0;
  #copiedAtMs: number;
  #kept = -1n;
  /** All before this offset is written. */
  #written = 0n;
  /** Folded and not written: nothing may be copied. */
  #isAhead = false;
  #closed = false;
  #endWait: (() => void) | null = null;
  /** One thing at a time. */
  #work: Promise<unknown> = Promise.resolve();
  #hasFailed = false;
  #end = 0n;
  /** When what is not written yet was logged. */
  #waitsSinceMs: number | null;

  constructor(options: ShardProjectionOptions) {
    this.#options = options;
    this.#usage = new UsageBook(options.history.readUsage);
    this.#copiedAtMs = options.clock.monotonicMs();
    this.#waitsSinceMs = options.clock.now();
  }

  get shard(): number {
    return this.#options.shard;
  }

  get next(): bigint {
    return this.#folded?.offset ?? 0n;
  }

  get kept(): bigint {
    return this.#kept;
  }

  lag(): ShardLag {
    const events = this.#end - this.#written;
    const since = this.#waitsSinceMs;
    return {
      events: events > 0n ? Number(events) : 0,
      ms: since === null ? 0 : Math.max(0, this.#options.clock.now() - since),
    };
  }

  async load(): Promise<void> {
    const { states, shard } = this.#options;
    this.#folded = await this.#untilDone(() => readCopy(states, shard));
    this.#kept = this.#written = this.#folded.offset;
    this.#waitsSinceMs = null;
  }

  async read(records: readonly StoredRecord[], end: bigint): Promise<void> {
    this.#end = end;
    try {
      await this.#inTurn((folded) => this.#readOn(folded, records));
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    }
  }

  async #readOn(folded: FoldedShard, records: readonly StoredRecord[]): Promise<void> {
    for (let i = 0; i < records.length; i += PROJECTOR_RECORDS) {
      if (this.#closed) throw new Error('the projection was closed');
      const some = records.slice(i, i + PROJECTOR_RECORDS);
      this.#waitsSinceMs = some[0]?.appendedAtMs ?? null;
      await this.#project(folded, some);
      if (this.#eventsSinceCopy >= SNAPSHOT_EVENTS) await this.#copy(folded, this.#untilDone);
    }
    this.#waitsSinceMs = null;
  }

  /** Every now and then: a shard without events is copied, too, so that the log behind its copy stays short. */
  async copyWhenDue(): Promise<void> {
    const isDue = this.#options.clock.monotonicMs() - this.#copiedAtMs >= SNAPSHOT_MS;
    if (!isDue || this.#folded === null || this.#hasFailed) return;
    await this.#inTurn((folded) => this.#copy(folded, this.#untilDone));
  }

  /** Tries once to spare whoever comes next some work. To be called when nothing is read any more. */
  async copyAtEnd(): Promise<void> {
    await this.#work;
    if (this.#folded !== null && !this.#isAhead) await this.#copy(this.#folded, (task) => task());
  }

  close(): void {
    this.#closed = true;
    this.#endWait?.();
    this.#options.onClosed();
  }

  #inTurn(task: (folded: FoldedShard) => Promise<void>): Promise<void> {
    const done = this.#work.then(() => {
      if (this.#folded === null || this.#isAhead) throw new Error('the projection has failed before');
      return task(this.#folded);
    });
    this.#work = done.catch(() => undefined);
    return done;
  }

  /** What stands before a record that nobody can follow is written all the same. */
  async #project(folded: FoldedShard, records: readonly StoredRecord[]): Promise<void> {
    const rows: Rows = { calls: new Map(), counted: [], entries: [], videos: [] };
    let failure: unknown = null;
    this.#isAhead = true;
    try {
      for (const record of records) foldRecord(folded, record, (event) => this.#fold(folded, event, rows));
    } catch (error) {
      failure = error;
    }
    await this.#write(rows);
    if (failure !== null) throw failure;
    this.#isAhead = false;
    this.#written = folded.offset;
  }

  #fold({ state, position }: FoldedShard, event: LedgerEvent, rows: Rows): void {
    const call = projectCall(state, event);
    const postings = postingsOf(state, event);
    const video = event.type === 'settled' ? endedVideo(state.agents.get(event.agentId), event) : null;
    // A copy that is newer than its shard's checkpoint was made after these rows were written.
    if (foldEvent(state, event) === 'skipped') return;
    this.#changed.add(event.agentId);
    this.#eventsSinceCopy++;
    this.#options.totals.events++;
    const { epoch, seq } = position;
    const { agentId, version, atMs, type } = event;
    if (postings.length > 0) {
      const callId = 'callId' in event ? event.callId : null;
      rows.entries.push({ agentId, epoch, seq, version, atMs, type, callId, postings });
    }
    if (video !== null) rows.videos.push(video);
    if (call === null) return;
    rows.calls.set(`${agentId} ${call.callId}`, call);
    if (call.outcome === 'pending') return;
    rows.counted.push({
      agentId,
      day: dayOf(call.startedAtMs),
      model: call.call.model,
      modelName: call.call.modelName,
      tokens: call.tokens.prompt + call.tokens.completion,
      chargedNanoUsd: call.chargedNanoUsd,
      epoch,
      seq,
    });
  }

  async #write({ calls, counted, entries, videos }: Rows): Promise<void> {
    if (calls.size === 0 && entries.length === 0) return;
    const { history } = this.#options;
    await this.#untilDone(() => this.#usage.load(counted));
    const usage = this.#usage.count(counted);
    await this.#untilDone(() => history.write({ calls: [...calls.values()], entries, usage, videos }));
    this.#options.totals.calls += calls.size;
  }

  async #copy(folded: FoldedShard, untilDone: Attempt): Promise<void> {
    const { states, shard, clock } = this.#options;
    const { state, position, offset, lastAtMs } = folded;
    // Above it as long as some copies are newer than the place.
    if (sumOfVersions(state) < position.seq)
      throw new ShardGapError(shard, 'the copy of an agent is missing');
    this.#copiedAtMs = clock.monotonicMs();
    if (offset === this.#kept) return;
    const agents = [...this.#changed].flatMap((agentId) => state.agents.get(agentId) ?? []);
    await untilDone(() => states.writeAgents(shard, position, agents));
    await untilDone(() => states.writeCheckpoint(shard, { position, offset, lastAtMs }));
    this.#changed.clear();
    this.#eventsSinceCopy = 0;
    this.#kept = offset;
  }

  readonly #untilDone: Attempt = async (task) => {
    for (let waitMs = PROJECTOR_RETRY_MS; ; waitMs = Math.min(2 * waitMs, PROJECTOR_RETRY_MS_MAX)) {
      try {
        return await task();
      } catch (error) {
        if (this.#closed) throw error;
        const { shard, log } = this.#options;
        log.error('a shard could not be projected, it is tried again', { shard, error });
        await this.#wait(waitMs);
        if (this.#closed) throw error;
      }
    }
  };

  async #wait(waitMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = this.#options.clock.setTimer(waitMs, resolve);
    this.#endWait = resolve;
    await promise;
    timer.cancel();
  }
}

export interface ShardLag {
  /** In the log and not written; what does not count is among them. */
  events: number;
  ms: number;
}

type Attempt = <T>(task: () => Promise<T>) => Promise<T>;
