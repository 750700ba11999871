import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, utimes } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { readBlocks } from '../clients/pasted-blocks.ts';

const [clone = '', run = ''] = (
  readBlocks(await readFile('README.md', 'utf8')).find(({ title }) => title === 'Start')?.source ?? ''
).split('\n');

let folder = '';
let gateway: ChildProcess | undefined;
afterAll(async () => {
  if (gateway !== undefined) {
    const ended = once(gateway, 'exit');
    // make, which passes it on and waits.
    gateway.kill('SIGTERM');
    await ended;
  }
  await rm(folder, { recursive: true });
});

test('two lines of the README and one that they print are a paid call', async () => {
  await mkdir('.cache', { recursive: true });
  folder = await mkdtemp(join(process.cwd(), '.cache', 'newcomer-'));
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    PORT: '0',
    INTERNAL_PORT: '0',
  };
  const paste = (source: string) =>
    execFileSync('sh', ['-e', '-c', source], {
      cwd: folder,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });

  paste(clone.replace('<this repository>', process.cwd()));
  // What npm would install comes over the network, in a minute. It lies beside, newer than these, and is linked piece by
  // piece: an install that began after all would remove links.
  const installed = join(folder, 'faregate', 'node_modules');
  await mkdir(installed);
  for (const name of await readdir('node_modules'))
    await symlink(resolve('node_modules', name), join(installed, name));
  for (const file of ['package.json', 'package-lock.json'])
    await utimes(join(folder, 'faregate', file), new Date(0), new Date(0));
  gateway = spawn('sh', ['-c', `exec ${run}`], {
    cwd: join(folder, 'faregate'),
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  for await (const chunk of gateway.stdout ?? []) {
    printed += chunk;
    if (printed.includes('Operate it:')) break;
  }
  gateway.stdout?.resume();

  const [, tryIt = ''] = /Try it:\n([\s\S]*)\nOperate it:/.exec(printed) ?? [];
  const answer = JSON.parse(paste(tryIt));
  expect(answer.usage.cost).toBeGreaterThan(0);
});
