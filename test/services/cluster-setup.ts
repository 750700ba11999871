import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { systemClock } from '#core/clock.ts';
import { migrateStores } from '../../api/admin/migrate-stores.ts';
import { loadConfig } from '../../api/config.ts';
import { startClusterStores } from '../support/cluster-stores.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The blocks of a configuration that make a gateway part of the tests' cluster; absent in the embedded shape. */
    clusterYaml: string;
  }
}

/** One cluster for all tests of the API on it, with a worker of every role. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'faregate-cluster-'));
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true })];
  const stop = async () => {
    for (const each of stops.toReversed()) await each();
  };
  try {
    const stores = await startClusterStores(folder);
    stops.push(stores.stop);
    const configFile = join(folder, 'worker.yaml');
    await writeFile(configFile, stores.yaml);
    const { storage } = await loadConfig({ FAREGATE_CONFIG: configFile });
    if (storage.mode !== 'cluster') throw new Error('no cluster');
    await migrateStores(storage, systemClock);
    const worker = await startWorkerProcess({ configFile, folder, roles: ['settlement', 'projector'] });
    stops.push(worker.stop);
    project.provide('clusterYaml', stores.yaml);
    return stop;
  } catch (error) {
    await stop();
    throw error;
  }
}
