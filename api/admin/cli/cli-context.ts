import { type Command, InvalidArgumentError } from 'commander';
import { systemClock } from '#core/clock.ts';
import { type Progress, showProgress } from '#core/show-progress.ts';
import type { CliEnvironment } from '../../config/cli-environment.ts';
import type { StorageConfig } from '../../config/storage-settings.ts';
import { confirm } from './confirm.ts';
import { findGateway } from './find-gateway.ts';
import { createGatewayClient, type GatewayClient } from './gateway-client.ts';
import { type Paint, paintFor, type Terminal } from './terminal.ts';

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
  /** The answer as it came with `--json`, else the lines. */
  show(raw: unknown, lines: () => readonly string[]): void;
  /** The command ends with this code all the same: an audit that found something. */
  fail(): void;
  confirm(question: string): Promise<void>;
}

export function createContext(program: Command, io: CliIo, fail: () => void): CliContext {
  const options = program.opts<GlobalOptions>();
  const paint = paintFor(io.stdout);
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
    show(raw, lines) {
      io.stdout.write(options.json ? `${JSON.stringify(raw, null, 2)}\n` : `${lines().join('\n')}\n`);
    },
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
