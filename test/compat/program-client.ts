import { copyFile, mkdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import type { Check, ClientWorld, CompatClient } from './client.ts';
import { isolatedEnv } from './coding-agent.ts';
import { thinkerIdOf } from './compat-gateway.ts';
import { runProgram } from './run-program.ts';

/** A library, used by a short program of ours in `programs/` as its users use it. */
interface LibraryProgram extends Omit<CompatClient, 'run' | 'group'> {
  /** Ends in `.py` or `.mjs`. */
  program: string;
  group?: CompatClient['group'];
}

const PROGRAMS = join(import.meta.dirname, 'programs');
const TIMEOUT_MS = 300_000;

/** A program prints one such line for each thing that it tried. */
const line = z.object({
  name: z.string(),
  outcome: z.enum(['passed', 'failed', 'skipped']),
  detail: z.string().default(''),
});

export const libraryProgram = (library: LibraryProgram): CompatClient => ({
  group: 'SDKs and frameworks',
  ...library,
  async run(world) {
    const { output, errors, code } = await runProgram({
      command: await commandFor(library.program, world),
      cwd: world.folder,
      timeoutMs: TIMEOUT_MS,
      env: { ...isolatedEnv(world.home), ...environment(world) },
    });
    world.transcript.add(library.program, `${output}\n${errors}`.trim());
    const checks = readChecks(output);
    if (code !== 0 || checks.length === 0)
      return [
        ...checks,
        { name: 'runs', outcome: 'failed', detail: `It ended with ${code}. ${errors.slice(-500)}` },
      ];
    return checks;
  },
});

/** Everything that a program needs to know. */
export const environment = ({ origin, accounts, modelId, kind }: ClientWorld): Record<string, string> => ({
  FAREGATE_ORIGIN: origin,
  FAREGATE_KEY: accounts.paid,
  FAREGATE_EMPTY_KEY: accounts.empty,
  FAREGATE_WRONG_KEY: accounts.wrongKey,
  FAREGATE_MODEL: modelId,
  FAREGATE_THINKER: thinkerIdOf(kind),
  FAREGATE_KIND: kind,
});

async function commandFor(program: string, { installed }: ClientWorld): Promise<readonly string[]> {
  if (program.endsWith('.py')) return [join(installed, 'bin/python'), join(PROGRAMS, program)];
  // Node finds packages beside the file that imports them, or above it.
  const folder = installed === resolve('.') ? resolve('.cache/compat/program') : join(installed, 'program');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const file of ['checks.mjs', program]) await copyFile(join(PROGRAMS, file), join(folder, file));
  return [process.execPath, join(folder, program)];
}

export const readChecks = (output: string): Check[] =>
  output.split('\n').flatMap((text) => {
    if (!text.startsWith('{"name"')) return [];
    return [line.parse(JSON.parse(text))];
  });
