import { openSync, writeFileSync, writeSync } from 'node:fs';
import { buildShim } from './build-shim.ts';

/** The clocks of one process that a test starts with this environment. */
export interface MovingClock {
  env: Record<string, string>;
  /** False: there is no C compiler for Linux here, and the clock stays what it is. */
  moves: boolean;
  /** Of the wall clock. */
  aheadBy(seconds: number): void;
  /** Of the monotonic clock, by which its timers run. */
  timersAheadBy(seconds: number): void;
}

export function createMovingClock(file: string): MovingClock {
  const shim = buildShim('clock-shim');
  writeFileSync(file, Buffer.alloc(2 * BYTES));
  if (shim === null)
    return { env: {}, moves: false, aheadBy: () => undefined, timersAheadBy: () => undefined };
  // Not replaced: the process has this very file mapped.
  const fd = openSync(file, 'r+');
  const write = (seconds: number, position: number) => {
    const bytes = Buffer.alloc(BYTES);
    bytes.writeBigInt64LE(BigInt(seconds));
    writeSync(fd, bytes, 0, BYTES, position);
  };
  return {
    env: { LD_PRELOAD: shim, CLOCK_SHIM_FILE: file },
    moves: true,
    aheadBy: (seconds) => write(seconds, 0),
    timersAheadBy: (seconds) => write(seconds, BYTES),
  };
}

/** Of each of the two numbers. */
const BYTES = 8;
