import { execFile } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const OUTPUT_BYTES = 64 * 1024 * 1024;
const TAIL_CHARS = 2_000;

/** Rejects with the end of what the command wrote. */
export function runCommand(
  file: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { maxBuffer: OUTPUT_BYTES, env: { ...process.env, ...env } };
    execFile(file, args, options, (error, stdout, stderr) => {
      if (error === null) resolve();
      else reject(new Error(`${file} failed: ${`${stdout}${stderr}`.slice(-TAIL_CHARS)}`, { cause: error }));
    });
  });
}

/** The command's path, or `null` when the machine does not have it. */
export function findCommand(name: string): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    const file = join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // The next folder may have it.
    }
  }
  return null;
}
