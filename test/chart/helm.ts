import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { toolPath } from '../tools/tool.ts';

export const CHART = resolve(import.meta.dirname, '../../charts/faregate');

// Nobody's plugins, repositories or clusters.
const home = mkdtempSync(join(tmpdir(), 'faregate-helm-'));
process.once('exit', () => rmSync(home, { recursive: true, force: true }));
const ownEnv = {
  PATH: process.env.PATH,
  HOME: home,
  HELM_CACHE_HOME: home,
  HELM_CONFIG_HOME: home,
  HELM_DATA_HOME: home,
};

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Ends without a rejection: what a command refuses is what the tests are about. */
export function run(
  file: string,
  args: readonly string[],
  { stdin = '', env = {} }: { stdin?: string; env?: Record<string, string> } = {},
): Promise<Ran> {
  return new Promise((done) => {
    const options = { maxBuffer: 64 * 1024 * 1024, env: { ...ownEnv, ...env } };
    const child = execFile(file, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1;
      done({ code, stdout, stderr: stderr || (error?.code === 'ENOENT' ? `There is no ${file}.` : '') });
    });
    child.stdin?.on('error', () => undefined).end(stdin);
  });
}

export const helm = (...args: string[]): Promise<Ran> => run(toolPath('helm'), args);
