import { type Clock, SECOND_MS, systemClock } from './clock.ts';

export interface EndSignals {
  /** From now on the first signal calls it. */
  endBy(end: () => void): void;
}

/**
 * Signals within this time of the first are the same one: a terminal or a supervisor sends it to the whole process group, and
 * `make` passes its own copy on to us.
 */
export const SAME_SIGNAL_MS = 2 * SECOND_MS;

/**
 * Takes SIGTERM and SIGINT of this process. Until there is a way to end it, the process has nothing to lose and exits; a later
 * second signal cuts short what the first one began. Must be called before all else is loaded: the first process of a container
 * does not hear a signal that nobody takes, and would be killed only at the end of its grace.
 */
export function takeEndSignals(): EndSignals {
  const { onSignal, endBy } = createEndSignals({
    clock: systemClock,
    exit: (code) => process.exit(code),
  });
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return { endBy };
}

/** The rule of `takeEndSignals`, without the process. */
export function createEndSignals({
  clock,
  exit,
}: {
  clock: Pick<Clock, 'monotonicMs'>;
  exit: (code: number) => void;
}): EndSignals & { onSignal(): void } {
  let end: (() => void) | null = null;
  let firstAtMs: number | null = null;
  return {
    endBy(by) {
      end = by;
    },
    onSignal() {
      if (end === null) {
        exit(0);
      } else if (firstAtMs === null) {
        firstAtMs = clock.monotonicMs();
        end();
      } else if (clock.monotonicMs() - firstAtMs > SAME_SIGNAL_MS) {
        exit(1);
      }
    },
  };
}
