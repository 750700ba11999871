import type { ServerResponse } from 'node:http';
import type { Clock } from '#core/clock.ts';
import type { ScriptBook } from './script-book.ts';

export type Stage = ReturnType<typeof createStage>;

/** The waits of one answer. Each ends at once when its reader goes away, so that no answer outlives its call. */
export function createStage(res: ServerResponse, clock: Clock, book: ScriptBook, changed: () => void) {
  let gone = res.destroyed;
  const endings = new Set<() => void>();
  res.once('close', () => {
    gone = true;
    for (const end of endings) end();
  });

  function wait(begin: (end: () => void) => () => void): Promise<void> {
    if (gone) return Promise.resolve();
    return new Promise((resolve) => {
      let cleanUp = (): void => {};
      const end = (): void => {
        endings.delete(end);
        cleanUp();
        resolve();
      };
      endings.add(end);
      cleanUp = begin(end);
    });
  }

  return {
    gone: () => gone,
    forMs: (delayMs: number) =>
      wait((end) => {
        const timer = clock.setTimer(delayMs, end);
        return () => timer.cancel();
      }),
    /** Until sockets were read once more, so that a reader in this process sees two writes as two. */
    forTurn: () =>
      wait((end) => {
        // The first may come before the loop reads again, the second never does.
        let handle = setImmediate(() => {
          handle = setImmediate(end);
        });
        return () => clearImmediate(handle);
      }),
    forGate(gate: string) {
      if (book.isOpen(gate)) return Promise.resolve();
      return wait((end) => {
        book.opened(gate, end);
        changed();
        return () => book.leave(gate, end);
      });
    },
    forDrain: () =>
      wait((end) => {
        res.once('drain', end);
        return () => res.off('drain', end);
      }),
    forever: () => wait(() => () => {}),
  };
}
