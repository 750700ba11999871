import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

/** One of the product's own processes, as an operator runs it. */
export interface NodeProcess {
  pid: number;
  internalUrl: string;
  signal(signal: NodeJS.Signals): void;
  /** Resolves with the exit code once the process has ended. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
  metric(name: string): Promise<number>;
}

export interface NodeProcessOptions {
  /** With its arguments. */
  command: readonly string[];
  internalPort: number;
  /** Where its output goes. */
  output: string;
  env: Record<string, string>;
  /** Wait until it is. */
  ready: boolean;
}

const READY_MS = 60_000;
const STOP_MS = 20_000;
const POLL_MS = 20;

export async function startNodeProcess(options: NodeProcessOptions): Promise<NodeProcess> {
  const { command, internalPort, output, env, ready } = options;
  const log = openSync(output, 'a');
  const child = spawn(process.execPath, command, {
    stdio: ['ignore', log, log],
    env: { ...process.env, ...env, INTERNAL_PORT: String(internalPort) },
  });
  closeSync(log);
  const internalUrl = `http://127.0.0.1:${internalPort}`;
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
  while (child.exitCode === null && child.signalCode === null && performance.now() < giveUpAt) {
    const res = await fetch(`${internalUrl}/readyz`).catch(() => null);
    if (res?.status === 200) return;
    await sleep(POLL_MS);
  }
  child.kill('SIGKILL');
  throw new Error(`The process was not ready: ${readFileSync(output, 'utf8').slice(-3_000)}`);
}
