import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { type Config, loadConfig } from './config.ts';
import type { Environment } from './resolve-secrets.ts';

/** What the environment tells the `faregate` command: where the gateway of this machine keeps its data and listens. */
export interface CliEnvironment {
  dataDir: string;
  internalPort: string;
  /** Who runs the command, for the audit log; `null` where the system has no name for it. */
  user: string | null;
  /** For the commands that need no gateway. Throws a `ConfigError`. */
  loadConfig(): Promise<Config>;
}

export const cliEnvironment = (env: Environment = process.env): CliEnvironment => ({
  dataDir: resolve(env.FAREGATE_DATA || '.faregate'),
  internalPort: env.INTERNAL_PORT || '9090',
  user: userName(),
  loadConfig: () => loadConfig(env),
});

/** A container may run as a number that no file names. */
function userName(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}
