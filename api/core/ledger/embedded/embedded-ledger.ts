import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { CallHistory } from '../../calls/call-history.ts';
import { type Clock, SECOND_MS } from '../../clock.ts';
import type { LedgerEvent } from '../../events/ledger-event.ts';
import { GATE_TIMEOUT_MS } from '../../limits.ts';
import type { Log } from '../../log.ts';
import { inTime, type VideoHistory } from '../../videos/video-history.ts';
import type { VideoJob } from '../../videos/video-job.ts';
import { atMost } from '../../wait.ts';
import type { Command, ResultOf } from '../command.ts';
import type {
  AgentSummary,
  AgentView,
  Executed,
  HoldView,
  KeyLookup,
  Ledger,
  Unavailable,
} from '../ledger.ts';
import { findKey, findLiveKey, findVideo, findVideoByKey, openVideos } from '../machine/agent-queries.ts';
import { toAgentSummary, toAgentView, toHoldView } from '../machine/agent-view.ts';
import { decide } from '../machine/decide.ts';
import { agentsWithEnded } from '../machine/lots.ts';
import type { KeyOwner, LedgerState } from '../machine/state.ts';
import type { Journal, OpenJournal } from './journal.ts';
import { type CrashedCall, endDeadCalls } from './journal-dead-calls.ts';
import { endDeadMoves } from './journal-dead-moves.ts';
import { JournalDamagedError, JournalError } from './journal-errors.ts';
import { carryLeases, type OpenedJournal, openFolded, Reopening } from './journal-recovery.ts';
import { LedgerTime } from './ledger-time.ts';
import { LiveJournal } from './live-journal.ts';
import { type FolderLock, lockFolder } from './sqlite-folder-lock.ts';
import { openJournalThread } from './sqlite-journal-thread.ts';

/** Time for the last commit at a shutdown. */
const JOURNAL_CLOSE_MS = 10 * SECOND_MS;

export interface EmbeddedLedgerOptions {
  /** Made when it is missing, readable by its owner only. One process owns it at a time. */
  dataDir: string;
  clock: Clock;
  log: Log;
  /** How long a decision may wait for the disk; missing: `GATE_TIMEOUT_MS`. */
  gateTimeoutMs?: number;
  /** The folder has been in use, so that a missing or empty journal is a lost one. */
  mustExist?: boolean;
  /** The file's journal, unless a test has one that can be made to fail. */
  openJournal?: OpenJournal;
}

export interface EmbeddedLedger extends Ledger {
  readonly history: CallHistory;
  readonly videos: VideoHistory;
  /** Calls that a crash cut off, ended at this start with a charge of 0. */
  readonly crashed: readonly CrashedCall[];
  /** Calls that a crash cut off whose price the provider can tell. */
  readonly crashedPending: readonly CrashedCall[];
  stats(): EmbeddedLedgerStats;
  onCommit(listener: (durationMs: number, events: number) => void): void;
  /** Each event once it is on the disk, in order; not those that turn up only after a failed commit. */
  onEvent(listener: (event: LedgerEvent) => void): void;
}

export interface EmbeddedLedgerStats {
  state: 'open' | 'recovering' | 'closed';
  /** Decided events that are not on the disk, and the age of the oldest. */
  lagEvents: number;
  lagMs: number;
  lastCommitMs: number;
  commits: number;
  /** Of the journal: the seq of the last decided event. */
  lastSeq: number;
  /** The ledger's time, which is the clock's or later, at the last decision. */
  timeMs: number;
  /** How long the slowest slice of a snapshot kept the thread. */
  longestSnapshotSliceMs: number;
}

/**
 * The ledger of one process: decided in memory, journaled in `<dataDir>/ledger.sqlite`.
 *
 * Rejects with `FolderInUseError` when another process owns the folder, with `JournalDamagedError` or
 * `JournalTooNewError` when the file must not be used, and with `JournalError` when it cannot be.
 */
export async function openEmbeddedLedger(options: EmbeddedLedgerOptions): Promise<EmbeddedLedger> {
  const lock = lockFolder(options.dataDir);
  const engine = new JournaledLedger(options, lock);
  try {
    await engine.start();
    return engine;
  } catch (error) {
    await engine.close();
    throw error;
  }
}

const UNAVAILABLE: Executed<never> = {
  result: { ok: false, reason: 'unavailable' },
  durable: Promise.resolve('durable'),
};

class JournaledLedger implements EmbeddedLedger {
  readonly history: CallHistory;
  readonly videos: VideoHistory;
  crashed: readonly CrashedCall[] = [];
  crashedPending: readonly CrashedCall[] = [];
  readonly #options: EmbeddedLedgerOptions;
  readonly #file: string;
  readonly #lock: FolderLock;
  readonly #reopening: Reopening;
  readonly #time: LedgerTime;
  readonly #commitListeners: ((durationMs: number, events: number) => void)[] = [];
  readonly #eventListeners: ((event: LedgerEvent) => void)[] = [];
  #status: 'recovering' | 'open' | 'closed' = 'recovering';
  #live: LiveJournal | null = null;
  #recovery: Promise<void> | null = null;
  #closing: Promise<void> | null = null;
  #commits = 0;

  constructor(options: EmbeddedLedgerOptions, lock: FolderLock) {
    this.#options = options;
    this.#lock = lock;
    this.#file = join(options.dataDir, 'ledger.sqlite');
    this.#reopening = new Reopening(options.clock, options.log);
    this.#time = new LedgerTime(options.clock, options.log);
    this.history = {
      list: (page) => this.#readHistory(({ history }) => history.list(page)),
      find: (callId) => this.#readHistory(({ history }) => history.find(callId)),
      usage: (range) => this.#readHistory(({ history }) => history.usage(range)),
    };
    this.videos = {
      find: (agentId, videoId) =>
        this.#readHistory(async ({ videos }) =>
          inTime(await videos.find(agentId, videoId), this.#time.peek()),
        ),
      findByKey: (agentId, idempotencyKey) =>
        this.#readHistory(async ({ videos }) =>
          inTime(await videos.findByKey(agentId, idempotencyKey), this.#time.peek()),
        ),
    };
  }

  async start(): Promise<void> {
    if (this.#options.mustExist && !hasContent(this.#file)) {
      throw new JournalDamagedError(
        this.#file,
        null,
        'it is missing or empty, though the pepper.json beside it says that the folder has been in use',
      );
    }
    const opened = await this.#openFolded();
    const live = this.#run(opened);
    const enact = (command: Command) => void live.enact(decide(live.state, command, this.#time.advance()));
    const { released, pending } = endDeadCalls(live.state, opened.folded.head.lastAtMs, enact);
    const moves = endDeadMoves(live.state, this.#time.advance(), enact);
    this.crashed = released;
    this.crashedPending = pending;
    if ((await live.queue.barrier()) === 'unknown') throw new JournalError(`${this.#file} cannot be written`);
    if (released.length + pending.length > 0) {
      this.#options.log.warn('calls cut off by a crash were ended', {
        count: released.length + pending.length,
      });
    }
    if (moves > 0) {
      this.#options.log.warn('trades cut off by a crash were ended: their buyers have the credit', {
        count: moves,
      });
    }
  }

  async execute<C extends Command>(command: C): Promise<Executed<ResultOf<C>>> {
    const live = this.#deciding();
    if (live === null || live.queue.isFull()) return UNAVAILABLE;
    const decision = decide(live.state, command, this.#time.advance());
    return { result: decision.result, durable: live.enact(decision) };
  }

  /**
   * At once, from memory, which is never behind the journal: a revoked key is refused before its revocation is on
   * the disk, and a new key is told to nobody before it is. Only `reserve` and reads follow, and they check again.
   */
  async findKey(hashes: readonly string[]): Promise<KeyLookup> {
    return this.#status === 'open' && this.#live !== null ? findKey(this.#live.state, hashes) : 'unavailable';
  }

  recallKey(hashes: readonly string[]): KeyOwner | null {
    if (this.#status !== 'open' || this.#live === null) return null;
    return findLiveKey(this.#live.state, hashes);
  }

  readAgent(agentId: number): Promise<AgentView | null | Unavailable> {
    return this.#read((state, nowMs) => {
      const agent = state.agents.get(agentId);
      return agent === undefined ? null : toAgentView(agent, nowMs);
    });
  }

  listAgents(): Promise<AgentSummary[] | Unavailable> {
    return this.#read((state) => Array.from(state.agents.values(), toAgentSummary));
  }

  listEnded(byMs: number): Promise<number[] | Unavailable> {
    return this.#read((state) => agentsWithEnded(state, byMs));
  }

  listHolds(): Promise<HoldView[] | Unavailable> {
    return this.#read((state) => {
      const holds: HoldView[] = [];
      for (const agent of state.agents.values()) {
        for (const hold of agent.holds.values()) holds.push(toHoldView(agent.agentId, hold));
      }
      return holds;
    });
  }

  readVideo(agentId: number, videoId: string): Promise<VideoJob | null | Unavailable> {
    return this.#read((state, nowMs) => findVideo(state.agents.get(agentId), videoId, nowMs));
  }

  findVideoByKey(agentId: number, idempotencyKey: string): Promise<VideoJob | null | Unavailable> {
    return this.#read((state, nowMs) => findVideoByKey(state.agents.get(agentId), idempotencyKey, nowMs));
  }

  listOpenVideos(): Promise<VideoJob[] | Unavailable> {
    return this.#read(openVideos);
  }

  stats(): EmbeddedLedgerStats {
    const queue = this.#live?.queue;
    const { lagEvents, lagMs, lastCommitMs } = queue?.stats() ?? { lagEvents: 0, lagMs: 0, lastCommitMs: 0 };
    return {
      state: this.#status,
      lagEvents,
      lagMs,
      lastCommitMs,
      commits: this.#commits,
      lastSeq: queue?.lastSeq ?? 0,
      timeMs: this.#time.lastMs,
      longestSnapshotSliceMs: this.#live?.longestSnapshotSliceMs ?? 0,
    };
  }

  onCommit(listener: (durationMs: number, events: number) => void): void {
    this.#commitListeners.push(listener);
  }

  onEvent(listener: (event: LedgerEvent) => void): void {
    this.#eventListeners.push(listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const wasOpen = this.#status === 'open';
    this.#status = 'closed';
    this.#reopening.stop();
    const wound = this.#wind(wasOpen).then(() => this.#lock.release());
    // A disk that hangs must not keep the process, but it keeps the folder: its last commit may still arrive.
    await atMost(this.#options.clock, wound, JOURNAL_CLOSE_MS, null);
  }

  async #wind(wasOpen: boolean): Promise<void> {
    await this.#recovery;
    await this.#live?.close(wasOpen);
  }

  get #gateTimeoutMs(): number {
    return this.#options.gateTimeoutMs ?? GATE_TIMEOUT_MS;
  }

  /** `null`: nothing is decided now. */
  #deciding(): LiveJournal | null {
    const live = this.#live;
    if (this.#status !== 'open' || live === null) return null;
    // A disk that hangs: what would be decided now could not be answered in time.
    return live.queue.lagMs() < this.#gateTimeoutMs ? live : null;
  }

  /** What is seen now, answered once it is on the disk. */
  async #read<T>(view: (state: LedgerState, nowMs: number) => T): Promise<T | Unavailable> {
    const live = this.#deciding();
    if (live === null) return 'unavailable';
    const seen = view(live.state, this.#time.peek());
    if (live.queue.isIdle()) return seen;
    const durability = await atMost(
      this.#options.clock,
      live.queue.barrier(),
      this.#gateTimeoutMs,
      'unknown',
    );
    return durability === 'durable' ? seen : 'unavailable';
  }

  async #readHistory<T>(read: (journal: Journal) => Promise<T | Unavailable>): Promise<T | Unavailable> {
    const live = this.#deciding();
    if (live === null) return 'unavailable';
    try {
      return await read(live.journal);
    } catch (error) {
      this.#options.log.error('the history cannot be read', { error });
      return 'unavailable';
    }
  }

  #openFolded(): Promise<OpenedJournal> {
    const open = this.#options.openJournal ?? openJournalThread;
    return openFolded(open, this.#file, (error) => {
      if (this.#live !== null) this.#fail(this.#live, error);
    });
  }

  #run(opened: OpenedJournal): LiveJournal {
    this.#time.advanceTo(opened.folded.head.lastAtMs);
    const live = new LiveJournal(opened, {
      clock: this.#options.clock,
      onCommitted: (events, durationMs) => this.#committed(events, durationMs),
      onFailed: (failed, error) => this.#fail(failed, error),
    });
    this.#live = live;
    this.#status = 'open';
    return live;
  }

  #committed(events: readonly LedgerEvent[], durationMs: number): void {
    this.#commits++;
    for (const listener of this.#commitListeners) listener(durationMs, events.length);
    if (this.#eventListeners.length === 0) return;
    for (const event of events) for (const listener of this.#eventListeners) listener(event);
  }

  /** Whether the last decisions are on the disk cannot be told from here: nothing is decided until it was read. */
  #fail(live: LiveJournal, error: unknown): void {
    if (this.#live !== live || this.#status === 'recovering') return;
    live.abandon();
    if (this.#status === 'closed') return;
    this.#status = 'recovering';
    this.#recovery = this.#recover(live, error).catch((bug) => {
      this.#options.log.error('journal recovery failed', { error: bug });
    });
  }

  async #recover(live: LiveJournal, reason: unknown): Promise<void> {
    await live.journal.close();
    const opened = await this.#reopening.run(() => this.#openFolded(), reason);
    if (opened === null) return;
    if (this.#status === 'closed') return opened.journal.close();
    carryLeases(live.state, opened.folded.state);
    this.#run(opened);
  }
}

const hasContent = (file: string): boolean => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
