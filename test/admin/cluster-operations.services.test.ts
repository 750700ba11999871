import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createCassandraAuditLog } from '#core/audit-log/cassandra-audit-log.ts';
import { systemClock } from '#core/clock.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { openRedis, type RedisClient } from '#core/drivers/redis.ts';
import { openClusterLedger } from '#core/ledger/cluster/open-cluster-ledger.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { SHARDS, shardOfAgent } from '#core/ledger/cluster/shards.ts';
import { createCassandraMarketStore } from '#core/market/cassandra-market-store.ts';
import { emptyCursor } from '#core/market/trade-cursor.ts';
import { runCli } from '../../api/admin/cli/run-cli.ts';
import { cliEnvironment } from '../../api/config/cli-environment.ts';
import { ClusterCaller } from '../ledger/cluster/cluster-caller.ts';
import { allCandlesOf, allFolded, MARKET, tradeOf } from '../market/market-trades.ts';
import { cassandraAt } from '../support/cassandra-at.ts';
import { type ClusterStores, startClusterStores } from '../support/cluster-stores.ts';
import { testDataDir } from '../support/data-dir.ts';
import { until } from '../support/gateway.ts';
import type { NodeProcess } from '../support/node-process.ts';
import { startTcpForwarder } from '../support/tcp-forwarder.ts';
import { describeWith } from '../support/with-services.ts';
import { startWorkerProcess } from '../support/worker-process.ts';

describeWith(['redis', 'kafka', 'cassandra'], 'the operator of a cluster', () => {
  let folder: Awaited<ReturnType<typeof testDataDir>>;
  let stores: ClusterStores;
  let configFile: string;
  let worker: NodeProcess;
  let redis: RedisClient;
  beforeAll(async () => {
    folder = await testDataDir();
    stores = await startClusterStores(folder.path);
    configFile = join(folder.path, 'faregate.yaml');
    await writeFile(configFile, stores.yaml);
    redis = await openRedis({ urls: [`redis://${stores.redis.address}`], cluster: false });
  });
  afterAll(async () => {
    redis.disconnect();
    await worker?.stop();
    await stores.stop();
    await folder[Symbol.asyncDispose]();
  });

  const faregate = (...args: string[]) => faregateWith(configFile, ...args);

  const faregateWith = (config: string, ...args: string[]) => runFaregate(args, { config });

  async function runFaregate(args: string[], { config, isTTY = false }: { config: string; isTTY?: boolean }) {
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const stderr = Object.assign(new PassThrough(), { isTTY });
    stdin.end();
    const environment = cliEnvironment({ FAREGATE_CONFIG: config, FAREGATE_DATA: folder.path });
    const code = await runCli(args, { environment, stdin, stdout, stderr });
    stdout.end();
    stderr.end();
    return { code, out: stripVTControlCharacters(await text(stdout)), err: await text(stderr) };
  }

  const start = () =>
    startWorkerProcess({ configFile, folder: folder.path, roles: ['settlement', 'projector'] });

  test('makes the stores with one command, which may be repeated', async () => {
    const made = await faregate('migrate');
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).toContain('Brought the tables to schema version');
    expect(made.out).toContain('ledger.v1 has 1 replica:');
    const again = await faregate('migrate');
    expect(again.code).toBe(0);
    expect(again.out).toContain('The tables are up to date.');
  });

  test('is told what differs from the log, and has the shard rebuilt from it', async () => {
    worker = await start();
    // Ready is who has begun; a shard that it has not opened yet cannot be compared.
    await until(async () => (await worker.metric('faregate_shards_published')) === SHARDS, 60_000);
    const log = { info() {}, warn() {}, error() {} };
    const address = { urls: [`redis://${stores.redis.address}`], cluster: false };
    const options = { address, shards: SHARDS, clock: systemClock, log, allowUnsafe: true };
    const cluster = await openClusterLedger(options);
    const caller = new ClusterCaller(cluster.ledger, SHARDS);
    for (const agentId of [1, 2, 65]) {
      await caller.makeAgent(agentId, 1_000n);
      await caller.call(agentId, 100n, 7n);
    }
    await cluster.close();
    const clean = await faregate('ledger', 'audit', '--stores');
    // What it found stands in the first line of a failure, which is all that CI's summary shows.
    const said = ({ out, err }: typeof clean) => `${out}${err}`.replaceAll(/\s+/g, ' ');
    const out = expect.stringMatching(/Agents +3.*Redis and Cassandra are as the log has it\./s);
    expect(clean, said(clean)).toEqual({ code: 0, err: '', out });

    const shard = shardOfAgent(65, SHARDS);
    await redis.hincrby(new ShardKeys(shard).agent(65), 'charged', 3);
    const off = await faregate('ledger', 'audit', '--stores');
    expect(off.code, said(off)).toBe(1);
    expect(off.out, said(off)).toMatch(/1 +65 +The log and Redis: chargedNanoUsd is 7 and 10\./);

    const recovered = await faregate('ledger', 'recover', String(shard), '--yes');
    const rebuilt = { code: 0, out: '1 of 1 shards were rebuilt from the log.\n' };
    expect(recovered, said(recovered)).toMatchObject(rebuilt);
    const again = await faregate('ledger', 'audit', '--stores');
    expect(again.code, said(again)).toBe(0);
    const client = connectCassandra(cassandraAt(stores.cassandra));
    expect(await createCassandraAuditLog(client, systemClock).list({ limit: 1 })).toMatchObject([
      { action: 'ledger.recover', subject: { shards: String(shard) }, ended: { result: 'ok' } },
    ]);
    await client.shutdown();
  });

  test("makes a market's candles anew of its trades", async () => {
    const client = connectCassandra(cassandraAt(stores.cassandra));
    const store = createCassandraMarketStore(client);
    const cursor = { ...emptyCursor, throughSeq: 1 };
    await store.writeTrades({ market: MARKET, trades: [tradeOf(1)], candles: [], cursor });
    expect(await faregate('market', 'rebuild', MARKET, '--check')).toMatchObject({
      ...{ code: 1, out: '1 trades make 6 candles. 6 are not as they should be.\n' },
    });
    expect(await faregate('market', 'rebuild', MARKET)).toMatchObject({ code: 0, err: '' });
    expect(await allCandlesOf(store)).toEqual(allFolded([tradeOf(1)]));
    expect(await createCassandraAuditLog(client, systemClock).list({ limit: 1 })).toMatchObject([
      { action: 'market.rebuild', subject: { market: MARKET }, ended: { result: 'ok' } },
    ]);
    expect(await faregate('market', 'rebuild', `no-${MARKET}`)).toMatchObject({ code: 1, out: '' });
    await client.shutdown();
  });

  test('is asked before shards are closed, and told where no worker opens them again', async () => {
    const unasked = await faregate('ledger', 'recover');
    expect(unasked.code).not.toBe(0);
    expect(await redis.hget(new ShardKeys(5).meta, 'fence')).not.toBeNull();
    await worker.stop();
    const closed = await faregate('ledger', 'recover', '5', '6', '--yes', '--wait', '1');
    expect(closed.code).toBe(1);
    expect(closed.out).toContain('Still closed: 5, 6. Look at the logs of the settlement workers.');
    expect(await faregate('ledger', 'recover', '64', '--yes')).toMatchObject({ code: 2 });
    expect(await faregate('ledger', 'recover', '5', '--yes', '--wait', 'soon')).toMatchObject({
      code: 2,
      err: expect.stringContaining('soon is no number of seconds to wait.'),
    });
    worker = await start();
    expect((await faregate('ledger', 'recover', '--yes')).out).toBe(
      '64 of 64 shards were rebuilt from the log.\n',
    );
  });

  test('who has a shard rebuilt goes on waiting while Redis is away, and is told where it stays so', async () => {
    await worker.stop();
    const port = Number(stores.redis.address.split(':')[1]);
    const forwarder = await startTcpForwarder(port);
    try {
      const detour = join(folder.path, 'detour.yaml');
      await writeFile(detour, stores.yaml.replaceAll(stores.redis.address, forwarder.address));
      const fence = (shard: number) => redis.hget(new ShardKeys(shard).meta, 'fence');
      const inVain = runFaregate(['ledger', 'recover', '7', '--yes', '--wait', '3'], {
        config: detour,
        isTTY: true,
      });
      const recovering = faregateWith(detour, 'ledger', 'recover', '5', '--yes', '--wait', '60');
      await until(async () => (await fence(5)) === null && (await fence(7)) === null);
      forwarder.to(null);
      expect(await inVain).toMatchObject({
        code: 1,
        out: expect.stringContaining(
          'Still closed: 7. Redis does not answer: nobody knows whether they are open.',
        ),
        err: expect.stringMatching(/Waiting for a worker to rebuild them … 2 s[^\n]*\r\S*$/),
      });
      worker = await start();
      await until(async () => (await fence(5)) !== null);
      forwarder.to(port);
      expect(await recovering).toMatchObject({ code: 0, out: '1 of 1 shards were rebuilt from the log.\n' });
    } finally {
      forwarder.close();
    }
  });

  test('a shard is rebuilt even where the answer to its closing is lost', async () => {
    await worker.stop();
    const forwarder = await startTcpForwarder(Number(stores.redis.address.split(':')[1]));
    try {
      const detour = join(folder.path, 'detour.yaml');
      await writeFile(detour, stores.yaml.replaceAll(stores.redis.address, forwarder.address));
      const { meta, outbox } = new ShardKeys(5);
      const lost = forwarder.loseAnswerTo((request) => request.includes(meta) && !request.includes(outbox));
      const recovering = faregateWith(detour, 'ledger', 'recover', '5', '--yes', '--wait', '60');
      await lost;
      expect(await redis.hget(meta, 'fence')).toBeNull();
      worker = await start();
      expect(await recovering).toMatchObject({ code: 0, out: '1 of 1 shards were rebuilt from the log.\n' });
    } finally {
      forwarder.close();
    }
  });

  test('a configuration with mistakes is refused with a line for each', async () => {
    const faulty = join(folder.path, 'faulty.yaml');
    await writeFile(faulty, 'limits:\n  burst: many\n  callsPerMinute: few\n');
    const { code, err } = await faregateWith(faulty, 'migrate');
    expect(code).toBe(2);
    expect(err.split('\n').slice(1, 3)).toEqual([
      expect.stringMatching(/^ +.*faulty\.yaml:2:10 limits\.burst: has to be a number/),
      expect.stringMatching(/^ +.*faulty\.yaml:3:19 limits\.callsPerMinute: has to be a number/),
    ]);
  });
});
