import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface Program {
  command: readonly string[];
  /** Its folder, and its whole environment but for the path. */
  cwd: string;
  env: Readonly<Record<string, string>>;
  timeoutMs: number;
}

export interface Ended {
  /** `null`: it was stopped, by its time limit or a signal. */
  code: number | null;
  /** Standard output, without the colors of terminals. */
  output: string;
  errors: string;
}

/** Runs a program with no standard input, in a process group of its own, so that its children end with it. */
export async function runProgram({ command, cwd, env, timeoutMs }: Program): Promise<Ended> {
  const [file = '', ...args] = command;
  const child = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const limit = setTimeout(() => endGroup(child.pid), timeoutMs);
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('exit', resolve);
    child.once('error', reject);
  });
  const printed = Promise.all([text(child.stdout), text(child.stderr)]);
  try {
    const code = await exited;
    // A server that the program left behind would keep its pipes open for ever.
    endGroup(child.pid);
    const [output, errors] = await printed;
    return { code, output: withoutColors(output), errors: withoutColors(errors) };
  } finally {
    clearTimeout(limit);
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The whole group has ended.
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the colors of terminals begin with one.
const COLORS = /\u001b\[[0-9;?]*[a-zA-Z]/g;
const withoutColors = (printed: string): string => printed.replace(COLORS, '');
