import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Role } from '../../workers/roles.ts';
import { freePort } from '../services/free-port.ts';

/** `node workers/main.ts …`, as an operator runs it. */
export interface WorkerProcess {
  pid: number;
  internalUrl: string;
  signal(signal: NodeJS.Signals): void;
  /** Resolves with the exit code once the process has ended. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  metric(name: string): Promise<number>;
}

const READY_MS = 60_000;
const STOP_MS = 20_000;
const POLL_MS = 20;

export async function startWorkerProcess(options: {
  configFile: string;
  /** For its output and its data. */
  folder: string;
  roles: readonly Role[];
  ready?: boolean;
}): Promise<WorkerProcess> {
  const { configFile, folder, roles, ready = true } = options;
  const port = await freePort();
  const output = join(folder, `worker-${port}.log`);
  const log = openSync(output, 'a');
  const child = spawn(process.execPath, ['workers/main.ts', ...roles], {
    stdio: ['ignore', log, log],
    env: { ...process.env, FAREGATE_CONFIG: configFile, FAREGATE_DATA: folder, INTERNAL_PORT: String(port) },
  });
  closeSync(log);
  const internalUrl = `http://127.0.0.1:${port}`;
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  if (ready) await untilReady(child, internalUrl, output);
  return {
    pid: child.pid ?? 0,
    internalUrl,
    signal: (signal) => void child.kill(signal),
    async stop(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal);
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      const code = await exit;
      clearTimeout(timer);
      return code;
    },
    metric: (name) => readMetric(internalUrl, name),
  };
}

/** The sum over all labels. */
export async function readMetric(internalUrl: string, name: string): Promise<number> {
  const text = await (await fetch(`${internalUrl}/metrics`)).text();
  const values = text
    .split('\n')
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  return values.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
}

async function untilReady(child: ChildProcess, internalUrl: string, output: string): Promise<void> {
  const giveUpAt = performance.now() + READY_MS;
  while (child.exitCode === null && performance.now() < giveUpAt) {
    const res = await fetch(`${internalUrl}/readyz`).catch(() => null);
    if (res?.status === 200) return;
    await sleep(POLL_MS);
  }
  child.kill('SIGKILL');
  throw new Error(`The worker was not ready: ${readFileSync(output, 'utf8').slice(-3_000)}`);
}
