import type { Client } from 'cassandra-driver';
import { afterAll, beforeAll } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { type CassandraOptions, connectCassandra } from '#core/drivers/cassandra.ts';
import { migrateCassandra } from '#core/drivers/cassandra-migrations.ts';
import type { Service } from '../services/service.ts';
import { startCassandra } from '../services/start-cassandra.ts';
import { testDataDir } from './data-dir.ts';

export interface TestCassandra {
  service: Service;
  options: CassandraOptions & { keyspace: string };
  /** Of the keyspace, which has the product's tables. */
  client: Client;
}

/** A node for the tests of one group, started before them and ended after them. */
export function useCassandra(): TestCassandra {
  const node = {} as TestCassandra;
  let folder: Awaited<ReturnType<typeof testDataDir>>;
  beforeAll(async () => {
    folder = await testDataDir();
    node.service = await startCassandra({ dir: folder.path });
    node.options = cassandraAt(node.service);
    await migrateCassandra({ ...node.options, replicas: { datacenter1: 1 }, clock: systemClock });
    node.client = connectCassandra(node.options);
  });
  afterAll(async () => {
    await node.client.shutdown();
    await node.service.stop('SIGKILL');
    await folder[Symbol.asyncDispose]();
  });
  return node;
}

export const cassandraAt = (service: Service, keyspace = 'faregate') => ({
  contactPoints: [service.address],
  localDataCentre: 'datacenter1',
  keyspace,
  tls: false,
});
