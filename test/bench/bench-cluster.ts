import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '#core/clock.ts';
import { openRedis } from '#core/drivers/redis.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import { migrateStores } from '../../api/admin/migrate-stores.ts';
import { loadConfig } from '../../api/config/config.ts';
import type { ClusterStorage } from '../../api/config/storage-settings.ts';
import type { Role } from '../../api/start/workers/roles.ts';
import { type ClusterStores, startClusterStores } from '../support/cluster-stores.ts';
import { until } from '../support/gateway.ts';
import type { NodeProcess } from '../support/node-process.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import type { Bench } from './run-part.ts';

/** Real stores on the cores of this process, with the product's topics and tables. */
export interface BenchCluster {
  stores: ClusterStores;
  storage: ClusterStorage;
  redisUrl: string;
  /** Of the stores' data, a folder each. */
  folder: string;
  /** By default it only settles and publishes; the projector is measured by itself. Resolves once all shards are open. */
  startWorker(roles?: readonly Role[]): Promise<NodeProcess>;
}

const OPEN_MS = 120_000;
const CACHE = join(import.meta.dirname, '../../.cache');

export async function startBenchCluster(bench: Bench): Promise<BenchCluster> {
  // In the checkout, not in a temporary folder that may be memory: a commit has to meet a real disk.
  await mkdir(CACHE, { recursive: true });
  const folder = await mkdtemp(join(CACHE, 'bench-cluster-'));
  bench.later(() => rm(folder, { recursive: true, force: true }));
  const stores = await startClusterStores(folder);
  bench.later(stores.stop);
  const configFile = join(folder, 'worker.yaml');
  await writeFile(configFile, stores.yaml);
  const { storage } = await loadConfig({ FAREGATE_CONFIG: configFile });
  if (storage.mode !== 'cluster') throw new Error('no cluster');
  await migrateStores(storage, systemClock);
  const redisUrl = `redis://${stores.redis.address}`;
  // As README advises it, where the tests have every write on the disk.
  const redis = await openRedis({ urls: [redisUrl], cluster: false });
  await redis.config('SET', 'appendfsync', 'everysec');
  redis.disconnect();
  return {
    stores,
    storage,
    redisUrl,
    folder,
    async startWorker(roles = ['settlement']) {
      const worker = await startWorkerProcess({ configFile, folder, roles });
      bench.later(() => worker.stop());
      await until(async () => (await worker.metric('faregate_shards_published')) === SHARDS, OPEN_MS);
      return worker;
    },
  };
}
