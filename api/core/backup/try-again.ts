import { type Clock, SECOND_MS, wait } from '../clock.ts';

const TRIES = 6;
const WAIT_MS = SECOND_MS / 4;

/** For what a store may fail at for a moment and what may be done twice; the last failure comes out. */
export async function tryAgain<T>(clock: Clock, task: () => Promise<T>): Promise<T> {
  for (let tries = 1, waitMs = WAIT_MS; ; tries++, waitMs *= 2) {
    try {
      return await task();
    } catch (error) {
      if (tries === TRIES) throw error;
      await wait(clock, waitMs);
    }
  }
}
