import type { Worker } from 'node:worker_threads';
import { startThread } from './start-thread.ts';

/** The file itself, as the thread has it. Everything there blocks; `close` is its last. */
export interface ThreadFile {
  close(): void;
}

type Asked<File> = {
  [Name in Exclude<keyof File, 'close'>]: File[Name] extends (...args: infer A) => infer R
    ? { args: A; answer: R }
    : never;
};

export interface ThreadRequest {
  place: number;
  operation: string;
  args: unknown[];
}

export type ThreadAnswer =
  | { place: number; ok: true; answer: unknown }
  | { place: number; ok: false; message: string; code: string };

/**
 * A SQLite file in a thread of its own, so that a slow disk stalls no stream. It starts with the first question: most
 * processes ask none for days. Where it died, or the file could not be opened, the next question starts it anew.
 */
export class SqliteThread<File extends ThreadFile> {
  readonly #options: { module: URL; name: string; path: string };
  #running: RunningThread | null = null;
  #isClosed = false;

  /** `module` calls `serveSqliteThread`. */
  constructor(options: { module: URL; name: string; path: string }) {
    this.#options = options;
  }

  async ask<Name extends keyof Asked<File> & string>(
    operation: Name,
    ...args: Asked<File>[Name]['args']
  ): Promise<Asked<File>[Name]['answer']> {
    if (this.#isClosed) throw new Error(`${this.#options.name} is closed`);
    if (this.#running === null || this.#running.hasEnded()) this.#running = new RunningThread(this.#options);
    // The thread runs this release's own code: what it answers has the type of what was asked.
    return this.#running.ask(operation, args) as Promise<Asked<File>[Name]['answer']>;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#running?.close();
  }
}

class RunningThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #ended = Promise.withResolvers<void>();
  #reason: Error | null = null;
  #lastPlace = 0;

  constructor({ module, name, path }: { module: URL; name: string; path: string }) {
    this.#worker = startThread(module, { name, workerData: path });
    this.#worker.on('message', (answer: ThreadAnswer) => this.#take(answer));
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', () => {
      this.#end(new Error(`the thread of ${name} has ended`));
      this.#ended.resolve();
    });
  }

  hasEnded(): boolean {
    return this.#reason !== null;
  }

  ask(operation: string, args: unknown[]): Promise<unknown> {
    const place = ++this.#lastPlace;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(place, waiting);
    this.#worker.postMessage({ place, operation, args } satisfies ThreadRequest);
    return waiting.promise;
  }

  async close(): Promise<void> {
    if (this.hasEnded()) return;
    // It may be broken already, and then has nothing to write.
    await this.ask('close', []).catch(() => undefined);
    await this.#ended.promise;
  }

  #take(answer: ThreadAnswer): void {
    const waiting = this.#waiting.get(answer.place);
    this.#waiting.delete(answer.place);
    if (answer.ok) waiting?.resolve(answer.answer);
    else waiting?.reject(Object.assign(new Error(answer.message), { code: answer.code }));
  }

  #end(reason: unknown): void {
    this.#reason ??= reason instanceof Error ? reason : new Error(String(reason));
    for (const waiting of this.#waiting.values()) waiting.reject(this.#reason);
    this.#waiting.clear();
  }
}
