import { type Clock, HOUR_MS, type Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import type { FileStore } from './file-store.ts';

/** How often expired files are deleted. */
export const FILES_SWEEP_MS = HOUR_MS;

export interface SweepOptions {
  files: Pick<FileStore, 'deleteEnded'>;
  clock: Clock;
  log: Log;
}

export interface FileSweep {
  /** Resolves once nothing is being deleted, which is soon: the rest is found by the next sweep. */
  stop(): Promise<void>;
}

/**
 * Deletes what no link leads to any more: at the start and each hour. Every process does so; where they share a store,
 * the first finds what there is and the others find nothing, so that nobody has to be chosen for it.
 */
export function sweepFiles({ files, clock, log }: SweepOptions): FileSweep {
  let timer: Timer | null = null;
  let sweeping = Promise.resolve();
  const stop = new AbortController();

  async function sweep(): Promise<void> {
    try {
      await files.deleteEnded(clock.now(), stop.signal);
    } catch (error) {
      if (!stop.signal.aborted) log.error('files not deleted', { error });
    }
    if (!stop.signal.aborted) timer = clock.setTimer(FILES_SWEEP_MS, start);
  }

  function start(): void {
    sweeping = sweep();
  }

  start();
  return {
    async stop() {
      stop.abort();
      timer?.cancel();
      await sweeping;
    },
  };
}
