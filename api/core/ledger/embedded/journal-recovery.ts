import { type Clock, MINUTE_MS, SECOND_MS, type Timer } from '../../clock.ts';
import type { Log } from '../../log.ts';
import type { LedgerState } from '../machine/state.ts';
import type { Journal, OpenJournal } from './journal.ts';
import type { JournalError } from './journal-errors.ts';
import { type Folded, foldJournal } from './journal-fold.ts';

/** The first pause between attempts to open a failed journal again. It doubles up to the next. */
export const JOURNAL_RETRY_MS = 100;
export const JOURNAL_RETRY_MS_MAX = 10 * SECOND_MS;

export interface OpenedJournal {
  journal: Journal;
  folded: Folded;
}

export async function openFolded(
  open: OpenJournal,
  file: string,
  onBroken: (error: JournalError) => void,
): Promise<OpenedJournal> {
  const journal = await open(file, { onBroken });
  try {
    return { journal, folded: await foldJournal(journal, file) };
  } catch (error) {
    await journal.close();
    throw error;
  }
}

/**
 * Renewed leases are not journaled, and calls go on while the journal is opened again: those that still run keep
 * their slots, or an agent could start more calls than it may run.
 */
export function carryLeases(from: LedgerState, to: LedgerState): void {
  for (const [agentId, agent] of from.agents) {
    const next = to.agents.get(agentId);
    for (const [callId, endsAtMs] of agent.leases) {
      if (next?.holds.get(callId)?.pending === null) next.leases.set(callId, endsAtMs);
    }
  }
}

/**
 * Tries until the journal opens, ever more slowly. The wait starts over only after a minute that went well: a disk
 * that is almost full takes the small commit of an opening and then refuses the next one.
 */
export class Reopening {
  readonly #clock: Clock;
  readonly #log: Log;
  #waitMs = JOURNAL_RETRY_MS;
  #openedMs: number;
  #loggedMs = Number.NEGATIVE_INFINITY;
  #timer: Timer | null = null;
  #wake: (() => void) | null = null;
  #stopped = false;

  constructor(clock: Clock, log: Log) {
    this.#clock = clock;
    this.#log = log;
    this.#openedMs = clock.monotonicMs();
  }

  /** `null` when it was stopped first. */
  async run(attempt: () => Promise<OpenedJournal>, reason: unknown): Promise<OpenedJournal | null> {
    const failedMs = this.#clock.monotonicMs();
    if (failedMs - this.#openedMs > MINUTE_MS) this.#waitMs = JOURNAL_RETRY_MS;
    this.#say('journal failed, no calls are started', reason);
    for (let attempts = 1; ; attempts++) {
      await this.#pause();
      if (this.#stopped) return null;
      try {
        const opened = await attempt();
        this.#openedMs = this.#clock.monotonicMs();
        this.#log.info('journal open again', { count: attempts, durationMs: this.#openedMs - failedMs });
        return opened;
      } catch (error) {
        this.#say('journal cannot be opened', error);
      }
    }
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#wake?.();
  }

  #pause(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    const waitMs = this.#waitMs;
    this.#waitMs = Math.min(waitMs * 2, JOURNAL_RETRY_MS_MAX);
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#timer = this.#clock.setTimer(waitMs, resolve);
    });
  }

  /** The first of an outage, then one a minute: an outage of days must not fill the rest of the disk. */
  #say(event: string, error: unknown): void {
    const nowMs = this.#clock.monotonicMs();
    if (nowMs - this.#loggedMs < MINUTE_MS) return;
    this.#loggedMs = nowMs;
    this.#log.error(event, { error });
  }
}
