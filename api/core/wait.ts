import type { Clock } from './clock.ts';

/** The promise's value, or `late` when it has none after `waitMs`. */
export function atMost<T, L>(clock: Clock, promise: Promise<T>, waitMs: number, late: L): Promise<T | L> {
  const { promise: waited, resolve, reject } = Promise.withResolvers<T | L>();
  const timer = clock.setTimer(waitMs, () => resolve(late));
  void promise.then(resolve, reject).finally(() => timer.cancel());
  return waited;
}

/** Lets everything else that waits for this thread go first. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
