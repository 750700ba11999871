import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';

/** What this user may still write to the disk of a folder, or of the nearest one above it that is there; `null`: nobody says. */
export function freeBytes(folder: string): number | null {
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize;
  } catch {
    const above = dirname(folder);
    return above === folder ? null : freeBytes(above);
  }
}
