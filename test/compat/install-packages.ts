import { hash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { findCommand, runCommand } from '../services/run-command.ts';

const PINS = join(import.meta.dirname, 'packages');
const CACHE = resolve(import.meta.dirname, '../../.cache/compat');

/** Packages are installed in this folder. Other pins have another one. */
export function packagesFolder(name: string): string {
  const folder = join(PINS, name);
  const pins = readdirSync(folder)
    .toSorted()
    .map((file) => readFileSync(join(folder, file), 'utf8'));
  return join(CACHE, `${name}-${hash('sha256', pins.join('\n')).slice(0, 12)}`);
}

/** Installs what `packages/<name>` pins, once: from npm with a lock, or from PyPI with every version written down. */
export async function installPackages(name: string): Promise<void> {
  const to = packagesFolder(name);
  if (existsSync(to)) return;
  mkdirSync(dirname(to), { recursive: true });
  const pins = join(PINS, name);
  // An environment of Python knows its own path, so it is made where it stays.
  if (existsSync(join(pins, 'requirements.txt'))) await makeEnvironment(pins, to);
  else await installFromLock(pins, to);
}

async function installFromLock(pins: string, to: string): Promise<void> {
  const made = mkdtempSync(`${to}-new-`);
  try {
    for (const file of ['package.json', 'package-lock.json'])
      copyFileSync(join(pins, file), join(made, file));
    // No package runs a script of its own: what these would fetch is not pinned.
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-progress', '--loglevel=error'];
    await runCommand('npm', ['ci', '--prefix', made, ...options]);
    renameSync(made, to);
  } finally {
    rmSync(made, { recursive: true, force: true });
  }
}

async function makeEnvironment(pins: string, to: string): Promise<void> {
  const python = findCommand('python3');
  if (python === null) throw new Error('It needs `python3` on the PATH.');
  try {
    await runCommand(python, ['-m', 'venv', to]);
    const options = ['--quiet', '--disable-pip-version-check', '--no-deps'];
    await runCommand(join(to, 'bin/python'), [
      '-m',
      'pip',
      'install',
      ...options,
      '-r',
      join(pins, 'requirements.txt'),
    ]);
  } catch (error) {
    rmSync(to, { recursive: true, force: true });
    throw error;
  }
}

/** The version that the pins name. */
export function pinnedVersion(packages: string | null, name: string): string {
  if (packages !== null && existsSync(join(PINS, packages, 'requirements.txt'))) {
    const lines = readFileSync(join(PINS, packages, 'requirements.txt'), 'utf8').split('\n');
    return lines.find((line) => line.startsWith(`${name}==`))?.slice(name.length + 2) ?? missing(name);
  }
  const file =
    packages === null ? resolve(PINS, '../../../package.json') : join(PINS, packages, 'package.json');
  const { dependencies = {}, devDependencies = {} } = JSON.parse(readFileSync(file, 'utf8'));
  return { ...dependencies, ...devDependencies }[name] ?? missing(name);
}

function missing(name: string): never {
  throw new Error(`No version is pinned of ${name}.`);
}
