import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Service } from '../services/service.ts';
import { startCassandra } from '../services/start-cassandra.ts';
import { startKafka } from '../services/start-kafka.ts';
import { startRedis } from '../services/start-redis.ts';
import { startMigratedCassandra } from './migrated-cassandra.ts';

/** All that a cluster needs, empty, and the configuration that names it. */
export interface ClusterStores {
  redis: Service;
  kafka: Service;
  cassandra: Service;
  /** The blocks `storage` and `admin` of a configuration. */
  yaml: string;
  /** The same with another address of Redis. */
  yamlWith(redisAddress: string): string;
  adminToken: string;
  stop(): Promise<void>;
}

/** Below this folder, which is not removed. `migrated`: Cassandra has the product's tables. */
export async function startClusterStores(
  folder: string,
  options: { redisEnv?: Record<string, string>; kafkaEnv?: Record<string, string>; migrated?: boolean } = {},
): Promise<ClusterStores> {
  const { redisEnv = {}, kafkaEnv = {}, migrated = false } = options;
  const cassandraDir = join(folder, 'cassandra');
  const starting = await Promise.allSettled([
    startRedis({ dir: join(folder, 'redis'), env: redisEnv }),
    startKafka({ dir: join(folder, 'kafka'), env: kafkaEnv }),
    migrated ? startMigratedCassandra(cassandraDir) : startCassandra({ dir: cassandraDir }),
  ]);
  const [redis, kafka, cassandra] = starting.map((each) => (each.status === 'fulfilled' ? each.value : null));
  if (!redis || !kafka || !cassandra) {
    // None of them may outlive a start that failed.
    for (const service of [redis, kafka, cassandra]) await service?.stop('SIGKILL');
    throw starting.find((each) => each.status === 'rejected')?.reason;
  }
  const adminToken = 'test-admin-token-of-a-whole-cluster';
  await writeFile(join(folder, 'pepper'), `${'p'.repeat(43)}\n`);
  await writeFile(join(folder, 'admin-token'), `${adminToken}\n`);
  const yamlWith = (redisAddress: string) => `
storage:
  mode: cluster
  redis: { urls: ["redis://${redisAddress}"] }
  kafka: { brokers: ["${kafka.address}"], replicationFactor: 1 }
  cassandra: { contactPoints: ["${cassandra.address}"], replicationFactor: 1 }
  keyPepper: { id: t, secretFile: ${join(folder, 'pepper')} }
  allowUnsafe: true # one copy of everything
admin: { tokenFile: ${join(folder, 'admin-token')} }
`;
  return {
    redis,
    kafka,
    cassandra,
    yaml: yamlWith(redis.address),
    yamlWith,
    adminToken,
    async stop() {
      await Promise.all([redis, kafka, cassandra].map((service) => service.stop('SIGKILL')));
    },
  };
}
