import { hash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { findCommand, runCommand } from '../../services/run-command.ts';
import { inServicesCache } from '../../services/services-cache.ts';

/** The Python that has the pinned packages, installed once for each list of them; or why this machine has none. */
export async function installPython(): Promise<{ python: string } | { missing: string }> {
  const python = findCommand('python3');
  if (python === null) return { missing: 'The Python packages need `python3` on the PATH.' };
  try {
    return { python: await install(python) };
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) };
  }
}

async function install(python: string): Promise<string> {
  const requirements = join(import.meta.dirname, 'requirements.txt');
  const release = hash('sha256', python + readFileSync(requirements, 'utf8')).slice(0, 16);
  const folder = inServicesCache(`python-clients-${release}`);
  if (existsSync(folder)) return join(folder, 'bin', 'python');
  const made = mkdtempSync(inServicesCache('python-clients-new-'));
  try {
    await runCommand(python, ['-m', 'venv', made]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps'];
    await runCommand(join(made, 'bin', 'python'), [...pip, '--requirement', requirements]);
    // Another process may have been first.
    if (!existsSync(folder)) renameSync(made, folder);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
  return join(folder, 'bin', 'python');
}
