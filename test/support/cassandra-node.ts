import type { Client } from 'cassandra-driver';
import { afterAll, beforeAll } from 'vitest';
import { type CassandraOptions, connectCassandra } from '#core/drivers/cassandra.ts';
import type { Service } from '../services/service.ts';
import { cassandraAt } from './cassandra-at.ts';
import { testDataDir } from './data-dir.ts';
import { startMigratedCassandra } from './migrated-cassandra.ts';

export interface TestCassandra {
  service: Service;
  options: CassandraOptions & { keyspace: string };
  /** Of the keyspace, which has the product's tables. */
  client: Client;
}

/** On a busy machine a node may need seconds for a statement, which is no failure of what is tested. */
const PATIENT_MS = 15_000;

/** A node for the tests of one group, started before them and ended after them. */
export function useCassandra(): TestCassandra {
  const node = {} as TestCassandra;
  const started = new AsyncDisposableStack();
  beforeAll(async () => {
    const folder = started.use(await testDataDir());
    node.service = await startMigratedCassandra(folder.path);
    // As it is then: a test may have started it anew.
    started.defer(() => node.service.stop('SIGKILL'));
    node.options = cassandraAt(node.service);
    node.client = connectCassandra(node.options, PATIENT_MS);
    started.defer(() => node.client.shutdown());
  });
  // Also where it could not be reached.
  afterAll(() => started.disposeAsync());
  return node;
}
