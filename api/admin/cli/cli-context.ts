import { createInterface } from 'node:readline/promises';
import { type Command, InvalidArgumentError } from 'commander';
import { SECOND_MS, systemClock } from '#core/clock.ts';
import { type Progress, showProgress } from '#core/show-progress.ts';
import type { CliEnvironment } from '../../config/cli-environment.ts';
import type { ClusterStorage, StorageConfig } from '../../config/storage-settings.ts';
import { CliError, exitCodes, usageError } from './cli-error.ts';
import { findGateway } from './find-gateway.ts';
import { type Answer, createGatewayClient, type GatewayClient } from './gateway-client.ts';
import { type Paint, paintFor, printable, type Terminal } from './terminal.ts';

export interface CliIo extends Terminal {
  environment: CliEnvironment;
}

export interface GlobalOptions {
  json?: true;
  url?: string;
  tokenFile?: string;
}

/** What a command works with. */
export interface CliContext {
  /** Looked for when it is taken: the commands that work on the stores themselves need no gateway. */
  readonly client: GatewayClient;
  loadConfig: CliEnvironment['loadConfig'];
  loadStorage(): Promise<StorageConfig>;
  /** Tells a terminal what takes so long, once it does, and makes room for a question; a pipe gets nothing of it. */
  telling<T>(what: string, work: (say: Progress['say']) => Promise<T>): Promise<T>;
  /** Who runs the command. */
  user: string | null;
  paint: Paint;
  /** The record with `--json`, else the lines. */
  show(record: unknown, lines: () => readonly string[]): void;
  /** The same of an answer of the gateway, as it came. */
  showAnswer<T>(answer: Answer<T>, lines: (value: T, paint: Paint) => readonly string[]): void;
  /** The command ends with this code all the same: an audit that found something. */
  fail(): void;
  confirm(question: string): Promise<void>;
}

export function createContext(program: Command, io: CliIo, fail: () => void): CliContext {
  const options = program.opts<GlobalOptions>();
  const paint = paintFor(io.stdout);
  const show: CliContext['show'] = (record, lines) =>
    void io.stdout.write(options.json ? `${JSON.stringify(record, null, 2)}\n` : `${lines().join('\n')}\n`);
  const tell = (what: string) => ({ what, line: showProgress(io.stderr, systemClock, what) });
  let told: ReturnType<typeof tell> | null = null;
  return {
    get client() {
      return createGatewayClient(findGateway(options, io.environment), io.environment.user);
    },
    loadConfig: () => io.environment.loadConfig(),
    loadStorage: async () => (await io.environment.loadConfig()).storage,
    async telling(what, work) {
      told = tell(what);
      try {
        return await work((next) => told?.line.say(next));
      } finally {
        told.line.end();
        told = null;
      }
    },
    user: io.environment.user,
    paint,
    show,
    showAnswer: ({ raw, value }, lines) => show(raw, () => lines(value, paint)),
    fail,
    async confirm(question) {
      told?.line.end();
      await confirm(question, io);
      if (told !== null) told = tell(told.what);
    },
  };
}

export type OpenContext = () => CliContext;

/** An id as an argument. */
export function parseId(text: string): string {
  if (/^[1-9]\d{0,15}$/.test(text)) return text;
  throw new InvalidArgumentError('It has to be a number.');
}

export const dollars = (usd: string): string => `$${usd}`;
/** `2026-11-21 10:00`, UTC. */
export const shortTime = (iso: string | null): string => iso?.slice(0, 16).replace('T', ' ') ?? 'never';

/** Before something that hurts when it was a mistake. A script has to say `--yes`. */
async function confirm(question: string, { stdin, stderr }: Terminal): Promise<void> {
  if (stdin.isTTY !== true) throw usageError(`${printable(question)} Nobody is there to ask: add --yes.`);
  const prompt = createInterface({ input: stdin, output: stderr });
  // Ctrl-C and Ctrl-D close the prompt, and the question would stay open for ever.
  const left = new Promise<string>((resolve) => prompt.once('close', () => resolve('')));
  const answer = await Promise.race([prompt.question(`${printable(question)} [y/N] `), left]);
  prompt.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError(exitCodes.refused, 'Nothing was done.');
}

/** The stores of the configuration, for what only a cluster has. Throws a `ConfigError`, see `explaining`. */
export async function loadCluster({ loadStorage }: CliContext): Promise<ClusterStorage> {
  const storage = await loadStorage();
  if (storage.mode === 'cluster') return storage;
  throw usageError(
    'This is for a cluster: name its configuration with FAREGATE_CONFIG, with storage.mode: cluster in it.',
  );
}

/** The milliseconds of `--wait <seconds>`. Throws a usage error for anything but a whole number of seconds. */
export function parseWaitMs(text: string): number {
  if (/^\d{1,6}$/.test(text)) return Number(text) * SECOND_MS;
  throw usageError(`${text} is no number of seconds to wait.`);
}

/** Lines to paste, each with what it is for, under a command's help. */
export function addExamples(command: Command, examples: Readonly<Record<string, string>>): void {
  const lines = Object.entries(examples).map(([line, what]) => [`  $ faregate ${line}`, what] as const);
  const width = Math.max(...lines.map(([line]) => line.length));
  const text = lines.map(([line, what]) => `${line.padEnd(width)}  # ${what}`);
  command.addHelpText('after', ['', 'Examples:', ...text].join('\n'));
}
