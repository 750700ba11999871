import { closeSync, existsSync, fsyncSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';

export const OWNER_ONLY_FOLDER = 0o700;

/**
 * Makes what is missing of the path, for its owner alone. Not by Node's `recursive`: where the file system answers
 * ENOENT below a folder that is there, as `/proc` does, that never returns.
 */
export function makePrivateFolder(path: string): void {
  if (existsSync(path)) return;
  makePrivateFolder(dirname(path));
  try {
    mkdirSync(path, { mode: OWNER_ONLY_FOLDER });
  } catch (error) {
    // Another process that starts may have made it just now.
    if (!existsSync(path)) throw error;
  }
}

/** Makes a new name itself survive a power cut. */
export function syncFolder(folder: string): void {
  const handle = openSync(folder, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
