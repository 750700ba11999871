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
  const started = new AsyncDisposableStack();
  beforeAll(async () => {
    const folder = started.use(await testDataDir());
    node.service = await startCassandra({ dir: folder.path });
    // As it is then: a test may have started it anew.
    started.defer(() => node.service.stop('SIGKILL'));
    node.options = cassandraAt(node.service);
    await migrateCassandra({ ...node.options, replicas: { datacenter1: 1 }, clock: systemClock });
    node.client = connectCassandra(node.options);
    started.defer(() => node.client.shutdown());
  });
  // Also where the tables could not be made.
  afterAll(() => started.disposeAsync());
  return node;
}

export const cassandraAt = (service: Service, keyspace = 'faregate') => ({
  contactPoints: [service.address],
  localDataCentre: 'datacenter1',
  keyspace,
  tls: false,
});
