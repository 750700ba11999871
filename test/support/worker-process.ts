import { join } from 'node:path';
import type { Role } from '../../api/start/workers/roles.ts';
import { freePort } from '../services/free-port.ts';
import { type NodeProcess, startNodeProcess } from './node-process.ts';

/** `node workers/main.ts …`, as an operator runs it. */
export async function startWorkerProcess(options: {
  configFile: string;
  /** For its output and its data. */
  folder: string;
  roles: readonly Role[];
  ready?: boolean;
  env?: Record<string, string>;
}): Promise<NodeProcess> {
  const { configFile, folder, roles, ready = true, env = {} } = options;
  const internalPort = await freePort();
  return startNodeProcess({
    command: ['workers/main.ts', ...roles],
    internalPort,
    output: join(folder, `worker-${internalPort}.log`),
    env: { ...env, FAREGATE_CONFIG: configFile, FAREGATE_DATA: folder },
    ready,
  });
}
