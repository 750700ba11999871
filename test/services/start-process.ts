import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isReady } from './is-ready.ts';
import type { Service, ServiceName } from './service.ts';

export interface ProcessPlan {
  name: ServiceName;
  /** The process's working folder, with its data and its output. */
  dir: string;
  port: number;
  command: string;
  args: readonly string[];
  env?: Record<string, string>;
  /** Lives on when this process ends: for `make services`. */
  detached: boolean;
}

const START_MS = 120_000;
const STOP_MS = 20_000;
const PROBE_EVERY_MS = 15;
const TAIL_CHARS = 2_000;
const STOPPED_MS = 1_000;

/** Resolves once the service answers; rejects with the end of its output when it ends or never does. */
export async function startProcess(plan: ProcessPlan): Promise<Service> {
  const { name, dir, port, command, args, env = {}, detached } = plan;
  mkdirSync(dir, { recursive: true });
  const output = join(dir, `${name}.log`);
  const log = openSync(output, 'a');
  const startedAt = performance.now();
  const child = spawn(command, args, {
    cwd: dir,
    stdio: ['ignore', log, log],
    env: { ...process.env, ...env },
    detached,
  });
  closeSync(log);
  let ended = false;
  const exit = new Promise<void>((resolve) => {
    const end = () => {
      ended = true;
      resolve();
    };
    child.once('exit', end);
    child.once('error', end);
  });
  const giveUpAt = startedAt + START_MS;
  // One that lives on would else be left behind by whoever interrupts its start.
  const leaveNothing = () => void child.kill('SIGKILL');
  process.once('exit', leaveNothing);
  while (!(await isReady(name, { host: '127.0.0.1', port, tls: false }))) {
    if (ended || performance.now() > giveUpAt) {
      process.off('exit', leaveNothing);
      child.kill('SIGKILL');
      throw new Error(`${name} did not start: ${readFileSync(output, 'utf8').slice(-TAIL_CHARS)}`);
    }
    await sleep(PROBE_EVERY_MS);
  }
  process.off('exit', leaveNothing);
  const { pid } = child;
  if (pid === undefined) throw new Error(`${name} has no process`);
  if (detached) child.unref();
  return {
    name,
    address: name === 's3' ? `http://127.0.0.1:${port}` : `127.0.0.1:${port}`,
    port,
    pid,
    startMs: Math.round(performance.now() - startedAt),
    signal(signal) {
      child.kill(signal);
      if (signal === 'SIGSTOP') untilStopped(pid);
    },
    async stop(signal = 'SIGTERM') {
      if (!ended) child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await exit;
      clearTimeout(timer);
    },
    restart: () => startProcess(plan),
  };
}

/** A thread on another core stops a moment after the signal was sent, and would answer until then. */
function untilStopped(pid: number): void {
  const folder = `/proc/${pid}/task`;
  const runs = (thread: string) => {
    try {
      return !/\) T /.test(readFileSync(`${folder}/${thread}/stat`, 'utf8'));
    } catch {
      // It has ended since it was listed.
      return false;
    }
  };
  const giveUpAt = performance.now() + STOPPED_MS;
  while (readdirSync(folder).some(runs) && performance.now() < giveUpAt);
}
