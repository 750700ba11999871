import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { compileCache } from '../support/compile-cache.ts';

export interface Child {
  pid: number;
  /** Resolves with the first line of standard output. */
  firstLine: Promise<string>;
  stop(): Promise<void>;
}

const STOP_MS = 10_000;

/**
 * Another process with this Node and nothing of this one's environment. Bound to `core` where one is given.
 * What it writes to standard error goes to ours.
 */
export function startChild(
  args: readonly string[],
  { core, env = {} }: { core: number | null; env?: Record<string, string> },
): Child {
  const command = [process.execPath, ...args];
  const [file = process.execPath, ...rest] =
    core === null ? command : ['taskset', '-c', String(core), ...command];
  const child = spawn(file, rest, {
    env: { ...compileCache, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`Could not start ${command.join(' ')}`);
  const firstLine = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`${args[0]} ended with ${code} before it was ready`)));
  });
  // Its failure is seen where somebody waits for the line.
  firstLine.catch(() => {});
  return { pid, firstLine, stop: () => stop(child) };
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await ended;
  clearTimeout(timer);
}
