import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { makeSdk } from '../../openapi/sdk/make-sdk.ts';
import { generatorOf, type SdkLanguage } from '../../openapi/sdk/sdk-language.ts';
import { findCommand, runCommand } from '../services/run-command.ts';
import { compileCache } from '../support/compile-cache.ts';
import { hasTool, toolPath } from '../tools/tool.ts';

/** The tour of a generated SDK, as a program that runs. */
export interface PreparedTour {
  run(account: Account, ...operations: string[]): Promise<Toured>;
  /** What a program of a user's own prints, beside the SDK. */
  runProgram(account: Account, source: string): Promise<string>;
}

interface Account {
  baseUrl: string;
  key: string;
}

export interface Toured {
  code: number;
  lines: TourLine[];
  /** What it tells of what failed. */
  errors: string;
}

const tourLine = z.looseObject({ operation: z.string(), cost: z.number().nullish() });
export type TourLine = z.infer<typeof tourLine>;

/** Generated and compiled, as strictly as the language can. Rejects with what its compiler says. */
export async function prepareTour(language: SdkLanguage, folder: string): Promise<PreparedTour> {
  makeSdk(language, folder);
  await compile[language](folder);
  const [file, ...args] = program[language](folder);
  return {
    async runProgram({ baseUrl, key }, source) {
      const own = ownProgram[language];
      const path = join(folder, own.path);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, source.replaceAll('http://127.0.0.1:8080/v1', baseUrl));
      // Go keeps what it has compiled below the home folder.
      const env = { PATH: process.env.PATH, HOME: process.env.HOME, FAREGATE_KEY: key, ...GO };
      const { stdout } = await promisify(execFile)(own.command, own.args, { cwd: folder, env });
      return stdout;
    },
    run: ({ baseUrl, key }, ...operations) => {
      // Neither a proxy nor a key of this machine's.
      const env = { ...compileCache, PATH: process.env.PATH, FAREGATE_URL: baseUrl, FAREGATE_KEY: key };
      const options = { cwd: folder, env, maxBuffer: PRINTED_BYTES_MAX, timeout: TIMEOUT_MS };
      return new Promise((resolve, reject) => {
        execFile(file, [...args, ...operations], options, (error, stdout, stderr) => {
          // Ended by this test: what it printed may end in the middle of a line.
          if (error !== null && typeof error.code !== 'number') return reject(error);
          const lines = stdout.split('\n').filter((line) => line !== '');
          resolve({
            code: Number(error?.code ?? 0),
            lines: lines.map((line) => tourLine.parse(JSON.parse(line))),
            errors: stderr,
          });
        });
      });
    },
  };
}

/** Why this machine cannot make and run it; `null`: it can. */
export function missingForSdk(language: SdkLanguage): string | null {
  if (language === 'go' && findCommand('go') === null) return 'There is no `go` on the PATH.';
  const tool = generatorOf[language];
  return hasTool(tool) ? null : `There is no ${tool}: \`make test\` installs it where it can.`;
}

const PRINTED_BYTES_MAX = 20_000_000;
const TIMEOUT_MS = 60_000;

const TSC = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc');
const GO = { CGO_ENABLED: '0', GOFLAGS: '-buildvcs=false', GOTOOLCHAIN: 'local' };

const compile: Readonly<Record<SdkLanguage, (folder: string) => Promise<void>>> = {
  typescript: (folder) => runCommand(process.execPath, [TSC, '--project', folder]),
  python: (folder) => runCommand(toolPath('openapi-python-client'), ['-m', 'compileall', '-q', folder]),
  async go(folder) {
    await runCommand('go', ['vet', '-C', folder, './...'], GO);
    await runCommand('go', ['build', '-C', folder, '-o', join(folder, 'tour'), './cmd/tour'], GO);
  },
};

const program: Readonly<Record<SdkLanguage, (folder: string) => readonly [string, ...string[]]>> = {
  typescript: (folder) => [process.execPath, join(folder, 'tour.ts')],
  python: (folder) => [toolPath('openapi-python-client'), join(folder, 'tour.py')],
  go: (folder) => [join(folder, 'tour')],
};

const ownProgram: Readonly<Record<SdkLanguage, { path: string; command: string; args: string[] }>> = {
  typescript: { path: 'own.ts', command: process.execPath, args: ['own.ts'] },
  python: { path: 'own.py', command: toolPath('openapi-python-client'), args: ['own.py'] },
  go: { path: 'cmd/own/main.go', command: 'go', args: ['run', './cmd/own'] },
};
