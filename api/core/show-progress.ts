import type { Writable } from 'node:stream';
import { type Clock, SECOND_MS, type Timer } from './clock.ts';

/** A command that takes longer shows its progress. */
const PROGRESS_AFTER_MS = 2 * SECOND_MS;

export interface Progress {
  /** What goes on from now on. */
  say(what: string): void;
  /** Nothing of it is left to see. */
  end(): void;
}

/** For whoever sits at a terminal: a line that tells what takes so long, once it does. Logs and pipes get nothing of it. */
export function showProgress(
  terminal: Writable & { isTTY?: boolean },
  clock: Clock,
  first: string,
  afterMs = PROGRESS_AFTER_MS,
): Progress {
  if (terminal.isTTY !== true) return { say() {}, end() {} };
  const sinceMs = clock.monotonicMs();
  let what = first;
  let isShown = false;
  let timer: Timer | null = null;
  // A start that loads its code would let no timer fire.
  if (afterMs === 0) show();
  else timer = clock.setTimer(afterMs, show);

  function show(): void {
    const seconds = Math.round((clock.monotonicMs() - sinceMs) / SECOND_MS);
    terminal.write(`${CLEAR_LINE}${what} … ${seconds} s`);
    isShown = true;
    timer = clock.setTimer(SECOND_MS, show);
  }

  return {
    say(next) {
      what = next;
    },
    end() {
      timer?.cancel();
      if (isShown) terminal.write(CLEAR_LINE);
      isShown = false;
    },
  };
}

const CLEAR_LINE = '\r\u001b[K';
