import type { Clock, Timer } from '../clock.ts';

/** How late this process's only thread is with what it has to do. */
export interface LoopDelay {
  /** What came at any moment since this was asked last waited so long for its turn, on the average. */
  takeMs(): number;
  stop(): void;
}

/** Fifty timers a second cost nothing that can be measured, and a delay that callers feel is many of them. */
const TICK_MS = 20;

export function watchLoopDelay(clock: Clock): LoopDelay {
  let timer: Timer | null = null;
  let takenAtMs = clock.monotonicMs();
  let tickedAtMs = takenAtMs;
  /** Of a stretch that the thread was away, what comes into it waits for half, and as much comes into it as it is long. */
  let waitedSquareMs = 0;

  function note(nowMs: number): void {
    const lateMs = Math.max(0, nowMs - tickedAtMs - TICK_MS);
    waitedSquareMs += (lateMs * lateMs) / 2;
    tickedAtMs = nowMs;
  }

  function tick(): void {
    note(clock.monotonicMs());
    timer = clock.setTimer(TICK_MS, tick);
  }

  timer = clock.setTimer(TICK_MS, tick);
  return {
    takeMs() {
      const nowMs = clock.monotonicMs();
      note(nowMs);
      const delayMs = nowMs > takenAtMs ? waitedSquareMs / (nowMs - takenAtMs) : 0;
      waitedSquareMs = 0;
      takenAtMs = nowMs;
      return delayMs;
    },
    stop: () => timer?.cancel(),
  };
}
