export interface EndSignals {
  /** From now on the first signal calls it. */
  endBy(end: () => void): void;
}

/**
 * SIGTERM and SIGINT of this process, which has nothing to lose until there is a way to end it; a second one cuts that. To
 * be taken before all else is loaded: the first process of a container does not hear a signal that nobody takes, and would
 * be killed only at the end of its grace.
 */
export function takeEndSignals(): EndSignals {
  let end: (() => void) | null = null;
  let ending = false;
  const onSignal = () => {
    if (end === null) process.exit(0);
    if (ending) process.exit(1);
    ending = true;
    end();
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return {
    endBy(by) {
      end = by;
    },
  };
}
