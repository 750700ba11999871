/** What a script can branch on. */
export const exitCodes = { ok: 0, refused: 1, usage: 2, unreachable: 3 } as const;

/** Ends the command with a sentence and an exit code. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exitCode: number;
  /** As programs get it, with `--json`. */
  readonly body: object;

  constructor(exitCode: number, message: string, body: object = { error: { message } }) {
    super(message);
    this.exitCode = exitCode;
    this.body = body;
  }
}

export const usageError = (message: string): CliError => new CliError(exitCodes.usage, message);
export const unreachable = (message: string): CliError => new CliError(exitCodes.unreachable, message);
