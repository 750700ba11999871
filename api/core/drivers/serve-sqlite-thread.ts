import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadAnswer, ThreadFile, ThreadRequest } from './sqlite-thread.ts';

/** In a thread that `SqliteThread` has started: answers each question with what the file's method of that name says. */
export function serveSqliteThread(open: (path: string) => ThreadFile): void {
  const port = parentPort;
  if (port === null) throw new Error('to be started as a thread');
  // What this throws ends the thread, and is told to all who wait.
  const file = open(String(workerData));

  port.on('message', (request: ThreadRequest) => {
    port.postMessage(answerTo(file, request));
    if (request.operation === 'close') port.close();
  });
}

function answerTo(file: ThreadFile, { place, operation, args }: ThreadRequest): ThreadAnswer {
  try {
    const method: unknown = Reflect.get(file, operation);
    if (typeof method !== 'function') throw new Error(`there is no ${operation}`);
    return { place, ok: true, answer: method.apply(file, args) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return { place, ok: false, message, code };
  }
}
