import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { systemClock } from '#core/clock.ts';
import { migrateStores } from '../../api/admin/migrate-stores.ts';
import { loadConfig } from '../../api/config/config.ts';
import { roles } from '../../api/start/workers/roles.ts';
import { s3Block } from '../files/s3-block.ts';
import { startS3Home } from '../files/s3-home.ts';
import { startClusterStores } from '../support/cluster-stores.ts';
import { freePort } from './free-port.ts';
import { ServiceMissingError } from './service.ts';
import '../support/shared-cluster.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

/** One cluster for all tests of the API on it, with a worker of every role. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'faregate-cluster-'));
  const stops: (() => Promise<unknown>)[] = [() => rm(folder, { recursive: true })];
  const stop = async () => {
    for (const each of stops.toReversed()) await each();
  };
  try {
    const stores = await startClusterStores(folder, { migrated: true });
    stops.push(stores.stop);
    const s3 = await startS3Home();
    stops.push(async () => s3[Symbol.asyncDispose]());
    const filesYaml = await s3Block(s3.settings, folder);
    const configFile = join(folder, 'worker.yaml');
    const providerPort = await freePort();
    // The provider of most tests, under the names that they know it by: the worker asks it for prices and videos.
    const providers = ['sim', 'all', 'random-sim'].map(
      (id) =>
        `{ id: ${id}, kind: simulator, catalog: none, baseUrl: "http://127.0.0.1:${providerPort}/api/v1" }`,
    );
    await writeFile(configFile, `${stores.yaml}${filesYaml}providers: [${providers.join(', ')}]\n`);
    const { storage } = await loadConfig({ FAREGATE_CONFIG: configFile });
    if (storage.mode !== 'cluster') throw new Error('no cluster');
    await migrateStores(storage, systemClock);
    const worker = await startWorkerProcess({ configFile, folder, roles });
    stops.push(worker.stop);
    project.provide('cluster', {
      yaml: stores.yaml,
      filesYaml,
      redisUrl: `redis://${stores.redis.address}`,
      workerUrl: worker.internalUrl,
      providerPort,
    });
    return stop;
  } catch (error) {
    await stop();
    if (!(error instanceof ServiceMissingError)) throw error;
    console.warn(`\nSKIPPED: the API's tests on a cluster. ${error.message}\n`);
    return async () => undefined;
  }
}
