import { hash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findCommand, runCommand } from '../services/run-command.ts';

export type Installation = { kind: 'installed'; entry: string } | { kind: 'refused'; reason: string };

const SETUP = fileURLToPath(new URL('peers', import.meta.url));
const CACHE = fileURLToPath(new URL('../../.cache/peers', import.meta.url));
const ENTRY = 'node_modules/@portkey-ai/gateway/build/start-server.js';
const NAME_CHARS = 12;

/** Beside the gateway's own packages, from a lock file of its own; another lock file is another folder. */
export async function installPortkey(): Promise<Installation> {
  const locked = hash('sha256', readFileSync(join(SETUP, 'package-lock.json'))).slice(0, NAME_CHARS);
  const folder = join(CACHE, `portkey-${locked}`);
  if (existsSync(folder)) return { kind: 'installed', entry: join(folder, ENTRY) };
  const npm = findCommand('npm');
  if (npm === null) return { kind: 'refused', reason: 'Portkey comes by npm, and there is none on the PATH' };
  mkdirSync(CACHE, { recursive: true });
  const made = mkdtempSync(`${folder}-new-`);
  try {
    for (const file of ['package.json', 'package-lock.json', '.npmrc'])
      cpSync(join(SETUP, file), join(made, file));
    await runCommand(npm, ['ci', '--prefix', made, '--no-progress', '--loglevel=error']);
    // Another process may have been first.
    if (!existsSync(folder)) renameSync(made, folder);
    return { kind: 'installed', entry: join(folder, ENTRY) };
  } catch (error) {
    const [reason] = String(error instanceof Error ? error.message : error).split('\n');
    return { kind: 'refused', reason: `Portkey could not be installed here: ${reason}` };
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}
