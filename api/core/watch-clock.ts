import { every, MINUTE_MS } from './clock.ts';
import { CLOCK_JUMP_MIN_MS } from './limits.ts';
import type { Log } from './log.ts';
import type { ClockReading, TrustedClock } from './trusted-clock.ts';

/**
 * How often a process checks its clock when nothing else does, and stores what the next process must know
 * of it.
 */
const CLOCK_LOOKED_AT_MS = MINUTE_MS;

/** What the operator of a cluster is told of a jump. */
export const CONFIRMED_BY_REDIS = "It is believed once Redis' clock has agreed with it for five minutes.";

export interface WatchClockOptions {
  clock: TrustedClock;
  log: Log;
  /** What the operator can do about a jump that needs a confirmation. */
  remedy: string;
  /** Keeps the reading for the next process on this machine; `null` where other machines' clocks confirm a jump. */
  save: ((reading: ClockReading) => Promise<void>) | null;
}

/** Looks at the clock even where nothing happens, tells the operator of each jump, and keeps what the next process needs. */
export function watchClock({ clock, log, remedy, save }: WatchClockOptions): { stop(): Promise<void> } {
  let toldAheadMs: number | null = null;
  let writing: Promise<void> | null = null;

  function tell(): void {
    const doubt = clock.doubt();
    if (doubt === null) {
      if (toldAheadMs !== null) log.info('the clock of this machine is believed again');
      toldAheadMs = null;
      return;
    }
    const aheadMs = Math.round(doubt.aheadMs);
    if (toldAheadMs !== null && Math.abs(aheadMs - toldAheadMs) <= CLOCK_JUMP_MIN_MS) return;
    toldAheadMs = aheadMs;
    log.error('the clock of this machine jumped ahead and is not believed, so time goes on without it', {
      durationMs: aheadMs,
      cause: doubt.needsConfirmation ? remedy : 'It is believed once it has stood for five minutes.',
    });
  }

  /** One write at a time: behind a disk that hangs there would else be one for each minute. */
  function keep(): void {
    if (save === null || writing !== null) return;
    writing = save(clock.reading())
      .catch((error: unknown) => log.error('the clock file cannot be written', { error }))
      .then(() => {
        writing = null;
      });
  }

  function look(): void {
    tell();
    keep();
  }

  const timer = every(clock, CLOCK_LOOKED_AT_MS, look);
  look();
  return {
    async stop() {
      timer.cancel();
      await writing;
      keep();
      await writing;
    },
  };
}
