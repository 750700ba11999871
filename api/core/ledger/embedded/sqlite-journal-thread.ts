import type { Worker } from 'node:worker_threads';
import { printCallRows } from '../../calls/sqlite-call-rows.ts';
import { startThread } from '../../drivers/start-thread.ts';
import { printVideoRows } from '../../videos/sqlite-video-history.ts';
import type { Journal, JournalBatch, JournalEvents, PruneBounds } from './journal.ts';
import { JournalError } from './journal-errors.ts';
import type { SqliteJournal } from './sqlite-journal.ts';
import { fromWireError, type JournalAnswer, type JournalRequest } from './sqlite-journal-messages.ts';

/** The journal of the file at `path`, in a thread of its own. Rejects when the file cannot be opened. */
export async function openJournalThread(path: string, events: JournalEvents): Promise<Journal> {
  const thread = new JournalThread(path, events);
  await thread.opened;
  return thread;
}

class JournalThread implements Journal {
  readonly opened: Promise<unknown>;
  readonly history: Journal['history'];
  readonly videos: Journal['videos'];
  readonly #worker: Worker;
  readonly #events: JournalEvents;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #ended = Promise.withResolvers<void>();
  #lastId = 0;
  #closing = false;
  #broken: JournalError | null = null;

  constructor(path: string, events: JournalEvents) {
    this.#events = events;
    this.opened = this.#expect(0);
    this.#worker = startThread(new URL('./sqlite-journal-worker.ts', import.meta.url), {
      name: 'journal',
      workerData: path,
    });
    this.#worker.on('message', (answer: JournalAnswer) => this.#take(answer));
    this.#worker.on('error', (cause) =>
      this.#break(new JournalError("the journal's thread died", { cause })),
    );
    this.#worker.on('exit', () => {
      this.#break(new JournalError("the journal's thread has ended"));
      this.#ended.resolve();
    });
    this.history = {
      list: (page) => this.#ask('listCalls', page),
      find: (callId) => this.#ask('findCall', callId),
      usage: (range) => this.#ask('usage', range),
    };
    this.videos = {
      find: (agentId, videoId) => this.#ask('findVideo', agentId, videoId),
      findByKey: (agentId, idempotencyKey) => this.#ask('findVideoByKey', agentId, idempotencyKey),
      list: (agentId, afterVideoId) => this.#ask('listVideos', agentId, afterVideoId),
    };
  }

  head() {
    return this.#ask('head');
  }

  readAgents(afterAgentId: number) {
    return this.#ask('readAgents', afterAgentId);
  }

  readEnded(afterSeq: number, sinceMs: number) {
    return this.#ask('readEnded', afterSeq, sinceMs);
  }

  readTail(afterSeq: number) {
    return this.#ask('readTail', afterSeq);
  }

  commit(batch: JournalBatch) {
    const rows = { calls: printCallRows(batch.calls), videos: printVideoRows(batch.videos) };
    return this.#ask('commit', { ...batch, ...rows });
  }

  prune(bounds: PruneBounds) {
    return this.#ask('prune', bounds);
  }

  async close() {
    if (!this.#closing) {
      this.#closing = true;
      // It may be broken already, and then has nothing to write.
      await this.#ask('close').catch(() => {});
    }
    await this.#ended.promise;
  }

  #ask<O extends keyof SqliteJournal>(operation: O, ...args: Parameters<SqliteJournal[O]>) {
    if (this.#broken !== null) return Promise.reject(this.#broken);
    const id = ++this.#lastId;
    // The thread runs this release's own code: what it answers has the type of what was asked.
    const answer = this.#expect(id) as Promise<ReturnType<SqliteJournal[O]>>;
    this.#worker.postMessage({ id, operation, args } satisfies JournalRequest);
    return answer;
  }

  #expect(id: number): Promise<unknown> {
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(id, waiting);
    return waiting.promise;
  }

  #take(answer: JournalAnswer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (answer.ok) waiting?.resolve(answer.answer);
    else waiting?.reject(fromWireError(answer.error));
  }

  #break(error: JournalError): void {
    if (this.#broken !== null) return;
    this.#broken = error;
    for (const waiting of this.#waiting.values()) waiting.reject(error);
    this.#waiting.clear();
    if (!this.#closing) this.#events.onBroken(error);
  }
}
