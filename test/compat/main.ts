import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { findCommand } from '../services/run-command.ts';
import { clients } from './clients.ts';
import { installPackages } from './install-packages.ts';

/*
 * `node test/compat/main.ts codex pi`: installs the named clients, or all of them, and runs them against a gateway in a network
 * that has nothing but loopback, so that no client reaches its maker.
 */
const names = process.argv.slice(2);
for (const name of names)
  if (!clients.some(({ id }) => id === name))
    throw new Error(`There is no client ${name}: ${clients.map(({ id }) => id).join(', ')}.`);

const chosen = clients.filter(({ id }) => names.length === 0 || names.includes(id));
for (const { title, packages } of chosen) {
  if (packages === null) continue;
  console.log(`Installing ${title}…`);
  await installPackages(packages);
}

const run = [process.execPath, join(import.meta.dirname, 'run-clients.ts'), ...chosen.map(({ id }) => id)];
const onLoopback = ['--net', '--map-root-user', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', ...run];
const canIsolate = findCommand('unshare') !== null && findCommand('ip') !== null;
if (!canIsolate)
  throw new Error('Clients run in a network of their own, which needs Linux with `unshare` and `ip`.');
const [code] = await once(spawn('unshare', onLoopback, { stdio: 'inherit' }), 'exit');
process.exitCode = code ?? 1;
