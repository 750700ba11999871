import { resolve } from 'node:path';
import type { Environment } from './resolve-secrets.ts';

/** What the environment tells the `faregate` command: where the gateway of this machine keeps its data and listens. */
export interface CliEnvironment {
  dataDir: string;
  internalPort: string;
}

export const cliEnvironment = (env: Environment = process.env): CliEnvironment => ({
  dataDir: resolve(env.FAREGATE_DATA || '.faregate'),
  internalPort: env.INTERNAL_PORT || '9090',
});
