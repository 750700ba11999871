import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { vi } from 'vitest';

/** What `start` opens, and the thread that owns its journal's file. */
export async function withJournalThread<T>(start: () => Promise<T>): Promise<[T, Worker]> {
  const starting = once(process, 'worker');
  const started = await start();
  const [thread] = await starting;
  return [started, thread];
}

/** What the ledger asks of the thread waits, as behind a slow disk, until the test lets it go. */
export function holdJournal(thread: Worker): () => void {
  const asked: unknown[] = [];
  const held = vi.spyOn(thread, 'postMessage').mockImplementation((message) => void asked.push(message));
  return () => {
    held.mockRestore();
    for (const message of asked) thread.postMessage(message);
  };
}
