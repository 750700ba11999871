import { Worker } from 'node:worker_threads';
import type { AuditLog } from './audit-log.ts';
import type { AuditAnswer, AuditOperation, AuditOperations, AuditRequest } from './sqlite-audit-messages.ts';

/**
 * The file at `path`, in a thread of its own, so that a slow disk stalls no stream. It starts with the first change or
 * look: most processes see neither for days. Where it died, or the file could not be opened, the next one starts anew.
 */
export function openSqliteAuditLog(path: string): AuditLog {
  let thread: AuditThread | null = null;
  const ask = <O extends AuditOperation>(operation: O, ...args: AuditOperations[O]['args']) => {
    if (thread === null || thread.hasEnded()) thread = new AuditThread(path);
    return thread.ask(operation, ...args);
  };
  let isClosed = false;
  return {
    async write(line) {
      if (isClosed) throw new Error('the audit log is closed');
      await ask('write', line);
    },
    list: (page) => ask('list', page),
    async close() {
      isClosed = true;
      await thread?.close();
    },
  };
}

class AuditThread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  readonly #ended = Promise.withResolvers<void>();
  #reason: Error | null = null;
  #lastPlace = 0;

  constructor(path: string) {
    this.#worker = new Worker(new URL('./sqlite-audit-worker.ts', import.meta.url), {
      name: 'audit log',
      workerData: path,
    });
    this.#worker.on('message', (answer: AuditAnswer) => this.#take(answer));
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', () => {
      this.#end(new Error("the audit log's thread has ended"));
      this.#ended.resolve();
    });
  }

  hasEnded(): boolean {
    return this.#reason !== null;
  }

  ask<O extends AuditOperation>(operation: O, ...args: AuditOperations[O]['args']) {
    const place = ++this.#lastPlace;
    const waiting = Promise.withResolvers<unknown>();
    this.#waiting.set(place, waiting);
    this.#worker.postMessage({ place, operation, args } as AuditRequest);
    // The thread runs this release's own code: what it answers has the type of what was asked.
    return waiting.promise as Promise<AuditOperations[O]['answer']>;
  }

  async close(): Promise<void> {
    if (this.hasEnded()) return;
    // It may be broken already, and then has nothing to write.
    await this.ask('close').catch(() => undefined);
    await this.#ended.promise;
  }

  #take(answer: AuditAnswer): void {
    const waiting = this.#waiting.get(answer.place);
    this.#waiting.delete(answer.place);
    if (answer.ok) waiting?.resolve(answer.answer);
    else waiting?.reject(new Error(answer.message));
  }

  #end(reason: unknown): void {
    this.#reason ??= reason instanceof Error ? reason : new Error(String(reason));
    for (const waiting of this.#waiting.values()) waiting.reject(this.#reason);
    this.#waiting.clear();
  }
}
