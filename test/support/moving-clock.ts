import { openSync, writeFileSync, writeSync } from 'node:fs';
import { buildShim } from './build-shim.ts';

/** The wall clock of one process that a test starts with this environment. */
export interface MovingClock {
  env: Record<string, string>;
  /** False: there is no C compiler for Linux here, and the clock stays what it is. */
  moves: boolean;
  aheadBy(seconds: number): void;
}

export function createMovingClock(file: string): MovingClock {
  const shim = buildShim('clock-shim');
  writeFileSync(file, Buffer.alloc(8));
  if (shim === null) return { env: {}, moves: false, aheadBy: () => undefined };
  // Not replaced: the process has this very file mapped.
  const fd = openSync(file, 'r+');
  return {
    env: { LD_PRELOAD: shim, CLOCK_SHIM_FILE: file },
    moves: true,
    aheadBy(seconds) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(seconds));
      writeSync(fd, bytes, 0, bytes.length, 0);
    },
  };
}
