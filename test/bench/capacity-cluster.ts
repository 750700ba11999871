import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { openRedis } from '#core/drivers/redis.ts';
import { LEDGER_TOPIC } from '#core/ledger/cluster/kafka-ledger-topic.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import { until } from '../support/gateway.ts';
import { startBenchCluster } from './bench-cluster.ts';
import type { Bench } from './run-part.ts';

export interface CapacityCluster {
  redisUrl: string;
  redisBytes(): Promise<number>;
  /** Of the log's records, without the indexes beside them. */
  kafkaBytes(): Promise<number>;
  /** Stops Cassandra and starts it anew, so that everything stands in its files. */
  cassandraBytes(): Promise<{ perTable: [table: string, bytes: number][]; rest: number }>;
  /** Resolves once every event has left Redis for the log. */
  settled(): Promise<void>;
  projectedCalls(): Promise<number>;
  projected(calls: number): Promise<void>;
}

const PROJECTED_MS = 300_000;

/** Real stores with workers that publish and project. */
export async function startCapacityCluster(bench: Bench): Promise<CapacityCluster> {
  const { stores, storage, redisUrl, folder, startWorker } = await startBenchCluster(bench);
  const worker = await startWorker(['settlement', 'projector']);
  await until(async () => (await worker.metric('faregate_projector_shards')) === SHARDS, PROJECTED_MS);
  const redis = await openRedis({ urls: [redisUrl], cluster: false });
  bench.later(async () => redis.disconnect());
  const outboxes = Array.from({ length: SHARDS }, (_, shard) => new ShardKeys(shard).outbox);
  const projectedCalls = () => worker.metric('faregate_projected_calls_total');
  return {
    redisUrl,
    async redisBytes() {
      const info = await redis.info('memory');
      return Number(/^used_memory:(\d+)/m.exec(info)?.[1]);
    },
    kafkaBytes: () =>
      sizeOf(join(folder, 'kafka'), (path) => path.includes(`/${LEDGER_TOPIC}-`) && path.endsWith('.log')),
    async cassandraBytes() {
      await worker.stop();
      await stores.cassandra.stop('SIGTERM');
      const again = await stores.cassandra.restart();
      await again.stop('SIGTERM');
      const data = join(folder, 'cassandra/data', storage.cassandra.keyspace);
      const tables = await readdir(data);
      const sizes = await Promise.all(
        tables.map(
          async (table): Promise<[string, number]> => [
            table.replace(/-[0-9a-f]+$/, ''),
            await sizeOf(join(data, table), (path) => path.endsWith('.db')),
          ],
        ),
      );
      const isLarge = ([, bytes]: [string, number]) => bytes > SMALL_BYTES;
      return {
        perTable: sizes.filter(isLarge).sort(([, a], [, b]) => b - a),
        rest: sizes.filter((each) => !isLarge(each)).reduce((sum, [, bytes]) => sum + bytes, 0),
      };
    },
    settled: () =>
      until(async () => {
        const lengths = await Promise.all(outboxes.map((outbox) => redis.xlen(outbox)));
        return lengths.every((length) => length === 0);
      }, PROJECTED_MS),
    projectedCalls,
    projected: (calls) => until(async () => (await projectedCalls()) >= calls, PROJECTED_MS),
  };
}

const SMALL_BYTES = 100_000;

async function sizeOf(folder: string, counts: (path: string) => boolean): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter(counts);
  const sizes = await Promise.all(files.map(async (file) => (await stat(file)).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
