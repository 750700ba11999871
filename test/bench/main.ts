import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { GATEWAY_FLAGS } from './gateway.ts';

/** Each in a process of its own, so that none inherits the heap or the cores of the one before. */
const files = new Map([
  ['embedded', 'embedded.ts'],
  ['formats', 'formats.ts'],
  ['account', 'account.ts'],
  ['hostile', 'hostile.ts'],
  ['media', 'media.ts'],
  ['cluster', 'cluster.ts'],
  ['publisher', 'publisher.ts'],
  ['projector', 'projector.ts'],
  ['recovery', 'recovery.ts'],
  ['history', 'history.ts'],
  ['market', 'market.ts'],
  ['capacity', 'capacity.ts'],
  ['before', 'before.ts'],
  ['peers', 'peers.ts'],
]);
/** Needs a second tree, or installs programs of others, so it runs only where it is named. */
const onlyWhereNamed = new Set(['before', 'peers']);
/** Run the gateway's code themselves, and so as the gateway is run. */
const asTheGateway = new Set(['history', 'hostile', 'market']);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { self: { type: 'boolean', default: false }, quick: { type: 'boolean', default: false } },
});
const flags = Object.entries(values).flatMap(([name, isSet]) => (isSet ? [`--${name}`] : []));
const unknown = positionals.filter((part) => !files.has(part));
if (unknown.length > 0) {
  console.error(
    `No such part of the bench: ${unknown.join(', ')}. There are ${[...files.keys()].join(', ')}.`,
  );
  process.exitCode = 1;
} else {
  for (const [part, file] of files) {
    const wanted = positionals.length > 0 ? positionals.includes(part) : !onlyWhereNamed.has(part);
    if (!wanted) continue;
    const script = fileURLToPath(new URL(file, import.meta.url));
    const nodeFlags = asTheGateway.has(part) ? GATEWAY_FLAGS : [];
    const child = spawn(process.execPath, [...nodeFlags, script, ...flags], { stdio: 'inherit' });
    const code = await new Promise<number | null>((resolve) => child.once('exit', resolve));
    if (code !== 0) process.exitCode = 1;
  }
}
