import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished, test } from 'vitest';
import { FolderInUseError } from '#core/ledger/embedded/journal-errors.ts';
import { agentWith } from './commands.ts';
import { newFolder, openWorld, restart, run } from './embedded-harness.ts';

const HOLDER = new URL('./sqlite-lock-holder.ts', import.meta.url).pathname;

/** Resolves once the other process has the folder; `refused` when it ends without it. */
async function otherProcess(dataDir: string): Promise<ChildProcess | 'refused'> {
  const child = spawn(process.execPath, [HOLDER, dataDir], { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const opened = once(createInterface(child.stdout), 'line').then(() => child);
  return Promise.race([opened, once(child, 'exit').then(() => 'refused' as const)]);
}

async function holder(dataDir: string): Promise<ChildProcess> {
  const child = await otherProcess(dataDir);
  if (child === 'refused') throw new Error('the other process could not open the folder');
  return child;
}

test('a second process is refused, and told which folder and which process', async () => {
  const dataDir = newFolder();
  const other = await holder(dataDir);
  const opening = openWorld({ dataDir });
  await expect(opening).rejects.toBeInstanceOf(FolderInUseError);
  await expect(opening).rejects.toThrow(`${dataDir} is in use by process ${other.pid}`);
  await expect(opening).rejects.toThrow('FAREGATE_DATA');
});

test('a process that is killed gives the folder back at once', async () => {
  const dataDir = newFolder();
  const other = await holder(dataDir);
  other.kill('SIGKILL');
  await once(other, 'exit');
  await run(await openWorld({ dataDir }), ...agentWith(1n));
});

test('one process cannot open a folder twice, and the refusal costs the first nothing', async () => {
  const world = await openWorld();
  await run(world, ...agentWith(1n));
  for (let attempt = 0; attempt < 2; attempt++) {
    await expect(openWorld({ dataDir: world.dataDir })).rejects.toThrow(
      `is in use by process ${process.pid}`,
    );
  }
  // A lock that the refusal had broken would let this process in.
  expect(await otherProcess(world.dataDir)).toBe('refused');
});

test('only its owner can read the folder and what is in it', async () => {
  const dataDir = join(newFolder(), 'new');
  const world = await openWorld({ dataDir });
  await run(world, ...agentWith(1n));
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8);
  expect(mode(dataDir)).toBe('700');
  for (const name of [
    'ledger.sqlite',
    'ledger.sqlite-wal',
    'ledger.sqlite-shm',
    'ledger.lock',
    'ledger.pid',
  ]) {
    expect([name, mode(join(dataDir, name))]).toEqual([name, '600']);
  }
  await restart(world);
  expect(existsSync(join(dataDir, 'ledger.pid'))).toBe(true);
});
