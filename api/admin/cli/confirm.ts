import { createInterface } from 'node:readline/promises';
import { CliError, exitCodes, usageError } from './cli-error.ts';
import { printable, type Terminal } from './terminal.ts';

/** Before something that hurts when it was a mistake. A script has to say `--yes`. */
export async function confirm(question: string, { stdin, stderr }: Terminal): Promise<void> {
  if (stdin.isTTY !== true) throw usageError(`${printable(question)} Nobody is there to ask: add --yes.`);
  const prompt = createInterface({ input: stdin, output: stderr });
  // Ctrl-C and Ctrl-D close the prompt, and the question would stay open for ever.
  const left = new Promise<string>((resolve) => prompt.once('close', () => resolve('')));
  const answer = await Promise.race([prompt.question(`${printable(question)} [y/N] `), left]);
  prompt.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(exitCodes.refused, 'Nothing was done.');
}
