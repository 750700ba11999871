import { readFileSync, rmSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { MachineClock } from './clock.ts';
import { CLOCK_APART_MAX_MS } from './limits.ts';
import type { ClockReading } from './trusted-clock.ts';

export const CLOCK_FILE = 'clock.json';

const stored = z.strictObject({
  bootId: z.string().nullable(),
  uptimeMs: z.number().nonnegative(),
  atMs: z.int().positive(),
  doubtedAheadMs: z.number().nonnegative(),
  furthestAheadMs: z.number().nonnegative(),
  isProven: z.boolean(),
});

/**
 * Reads the time as the last process of this data folder knew it. `null` where none has written it, or where it cannot be read:
 * a power cut may have emptied it, and then the machine has started anew, so that it says little.
 */
export function readClockFile(dataDir: string): ClockReading | null {
  try {
    return stored.parse(JSON.parse(readFileSync(join(dataDir, CLOCK_FILE), 'utf8')));
  } catch {
    return null;
  }
}

/** Whole or not at all for a reader. It need not survive a power cut, so nothing waits for the disk. */
export async function writeClockFile(dataDir: string, reading: ClockReading): Promise<void> {
  const path = join(dataDir, CLOCK_FILE);
  const temporary = `${path}.new`;
  try {
    await writeFile(temporary, `${JSON.stringify(reading)}\n`, { mode: 0o600 });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/**
 * Deletes what the last process knew of the time if that is ahead of the machine's clock. The next process would go on from it
 * for five minutes, and write a time that is ahead into a ledger whose time is right.
 */
export function dropClockFileAhead(
  dataDir: string,
  machine: Pick<MachineClock, 'now' | 'uptimeMs' | 'bootId'>,
): void {
  const last = readClockFile(dataDir);
  if (last === null) return;
  const isSameBoot = machine.bootId !== null && machine.bootId === last.bootId;
  const sinceMs = isSameBoot ? machine.uptimeMs() - last.uptimeMs : 0;
  if (last.atMs + sinceMs > machine.now() + CLOCK_APART_MAX_MS) rmSync(join(dataDir, CLOCK_FILE));
}
