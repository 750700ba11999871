import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { compileCache } from '../support/compile-cache.ts';

const cliFile = fileURLToPath(new URL('../../api/admin/cli.ts', import.meta.url));

export interface CliRun {
  /** `null`: it was killed. */
  code: number | null;
  out: string;
  err: string;
}

interface CliOptions {
  dataDir: string;
  env?: Record<string, string>;
  /** Of Node. */
  flags?: readonly string[];
  /** Real time, so that a kill may fall anywhere. */
  killAfterMs?: number;
}

/** The real command in a process of its own, as a script runs it. */
export function runFaregate(args: readonly string[], options: CliOptions): Promise<CliRun> {
  const { dataDir, env = {}, flags = [], killAfterMs } = options;
  const { promise, resolve, reject } = Promise.withResolvers<CliRun>();
  const child = spawn(process.execPath, [...flags, cliFile, ...args], {
    env: { ...compileCache, PATH: process.env.PATH, FAREGATE_DATA: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const timer = killAfterMs === undefined ? null : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
  const run: CliRun = { code: null, out: '', err: '' };
  child.stdout.on('data', (chunk) => {
    run.out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    run.err += chunk;
  });
  child.on('error', reject);
  child.on('close', (code) => {
    if (timer !== null) clearTimeout(timer);
    resolve({ ...run, code });
  });
  return promise;
}
