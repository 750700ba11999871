import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { schemaVersion } from '#core/drivers/cassandra-schema.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import { migrateStores } from '../../api/admin/migrate-stores.ts';
import { loadConfig } from '../../api/config/config.ts';
import { roles } from '../../api/start/workers/roles.ts';
import { freePort } from '../services/free-port.ts';
import { cassandraAt } from '../support/cassandra-at.ts';
import { type ClusterStores, startClusterStores } from '../support/cluster-stores.ts';
import { testDataDir } from '../support/data-dir.ts';
import { until } from '../support/gateway.ts';
import { type NodeProcess, startNodeProcess } from '../support/node-process.ts';
import { describeWith } from '../support/with-services.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

const LATE_MS = 180_000;
const READY = 'everything holds';

describeWith(['redis', 'kafka', 'cassandra'], 'a cluster that is made in any order', () => {
  let folder: Awaited<ReturnType<typeof testDataDir>>;
  let stores: ClusterStores;
  let configFile: string;
  const stops: (() => unknown)[] = [];
  beforeAll(async () => {
    folder = await testDataDir();
    stores = await startClusterStores(folder.path);
    configFile = await configured('faregate', stores.yaml);
  });
  afterAll(async () => {
    for (const stop of stops.toReversed()) await stop();
    await stores?.stop();
    await folder[Symbol.asyncDispose]();
  });

  async function configured(name: string, yaml: string): Promise<string> {
    const file = join(folder.path, `${name}.yaml`);
    await writeFile(file, yaml);
    return file;
  }

  async function startApi(name: string, ofConfig = configFile) {
    const output = join(folder.path, `${name}.log`);
    const process = await startNodeProcess({
      ...{ command: ['api/main.ts'], internalPort: await freePort(), output, ready: false },
      env: { FAREGATE_CONFIG: ofConfig, FAREGATE_DATA: folder.path, PORT: String(await freePort()) },
    });
    stops.push(() => process.stop('SIGKILL'));
    return { process, said: () => readFile(output, 'utf8') };
  }

  const reasonOf = async ({ internalUrl }: NodeProcess): Promise<string> => {
    const ready = await fetch(`${internalUrl}/readyz`).catch(() => null);
    if (ready === null) return 'not there';
    return ready.status === 200 ? READY : JSON.stringify(await ready.json());
  };
  const untilIs = (process: NodeProcess, what: string) =>
    until(async () => (await reasonOf(process)).includes(what), LATE_MS);

  async function migrate(): Promise<number[]> {
    const { storage } = await loadConfig({ FAREGATE_CONFIG: configFile, FAREGATE_DATA: folder.path });
    if (storage.mode !== 'cluster') throw new Error('no cluster');
    return (await migrateStores(storage, systemClock)).versions;
  }

  test('processes that start before the migration wait for it, say so, and go on by themselves', async () => {
    const api = await startApi('early-api');
    const worker = await startWorkerProcess({ configFile, folder: folder.path, roles, ready: false });
    stops.push(() => worker.stop('SIGKILL'));
    await untilIs(
      api.process,
      `it has no schema of ours, and this release needs ${schemaVersion()}: run faregate migrate`,
    );
    await untilIs(worker, 'it waits for Kafka: it has no topic ledger.v1');

    // By two at once, as two Jobs would.
    const [first, second] = await Promise.all([migrate(), migrate()]);
    expect([...first, ...second].sort()).toEqual(Array.from({ length: schemaVersion() }, (_, at) => at + 1));
    await untilIs(worker, READY);
    await untilIs(api.process, READY);
    await until(async () => (await api.process.metric('faregate_shards_open')) === SHARDS, LATE_MS);
    expect(await api.process.metric('faregate_store_awaited')).toBe(0);

    const admin = connectKafka({
      brokers: [stores.kafka.address],
      clientId: 'test',
      tls: false,
      sasl: null,
    }).admin();
    await admin.connect();
    const { topics } = await admin.fetchTopicMetadata({ topics: ['ledger.v1'] });
    await admin.disconnect();
    expect(topics[0]?.partitions).toHaveLength(SHARDS);
    expect(await migrate()).toEqual([]);
  });

  test('a release goes on beside a schema of its successor, and says so; an older one it waits for', async () => {
    const client = connectCassandra(cassandraAt(stores.cassandra, 'faregate'));
    stops.push(() => client.shutdown());
    const next = schemaVersion() + 1;
    const insert =
      "INSERT INTO schema_versions (name, version, file, applied_at_ms) VALUES ('faregate', ?, 'x', 0)";
    await client.execute(insert, [next]);
    const beside = await startApi('beside-api');
    await untilIs(beside.process, READY);
    expect(await beside.said()).toContain('the schema of Cassandra is of a newer release');
    await expect(migrate()).rejects.toThrow(
      `has schema version ${next}, and this release knows ${schemaVersion()}`,
    );

    const drop = "DELETE FROM schema_versions WHERE name = 'faregate' AND version = ?";
    for (const version of [next, schemaVersion()]) await client.execute(drop, [version]);
    const ahead = await startApi('ahead-api');
    await untilIs(
      ahead.process,
      `it has schema version ${schemaVersion() - 1}, and this release needs ${schemaVersion()}`,
    );
    await migrate();
    await untilIs(ahead.process, READY);
  });

  test('money needs no Cassandra: an API process starts without, says so, and is done waiting when it comes', async () => {
    await stores.cassandra.stop('SIGKILL');
    const api = await startApi('without-cassandra');
    await untilIs(api.process, READY);
    expect(await api.said()).toContain('the start waits for Cassandra');
    expect(await api.process.metric('faregate_store_awaited')).toBe(1);
    const back = await stores.cassandra.restart();
    stops.push(() => back.stop('SIGKILL'));
    await until(async () => (await api.process.metric('faregate_store_awaited')) === 0, LATE_MS);
  });

  test('a wrong password ends the start by a sentence: no waiting mends it', async () => {
    const password = await configured('password', 'wrong');
    const wrong = await configured(
      'wrong',
      stores.yaml.replace('"] }', `"], username: somebody, passwordFile: ${password} }`),
    );
    const api = await startApi('wrong-password', wrong);
    await until(async () => /Redis cannot be used: WRONGPASS/.test(await api.said()), LATE_MS);
    await until(async () => (await reasonOf(api.process)) === 'not there');
  });
});
