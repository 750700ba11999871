import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kafka } from 'kafkajs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '#core/clock.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { openRedis, type RedisClient } from '#core/drivers/redis.ts';
import { BOOK_REQUESTS_TOPIC, BOOK_TOPIC } from '#core/events/book-record.ts';
import { MARKETS_TOPIC } from '#core/events/market-listing.ts';
import { TRADES_TOPIC } from '#core/events/market-trade.ts';
import { openClusterLedger } from '#core/ledger/cluster/open-cluster-ledger.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import { BOOK_REQUEST_MS } from '#core/limits.ts';
import { createCassandraMarketStore } from '#core/market/cassandra-market-store.ts';
import type { MarketStore } from '#core/market/market-store.ts';
import { createRedisLiveMarkets } from '#core/market/redis-live-markets.ts';
import { migrateStores } from '../../api/admin/migrate-stores.ts';
import { loadConfig } from '../../api/config/config.ts';
import type { Role } from '../../api/start/workers/roles.ts';
import { ClusterCaller } from '../ledger/cluster/cluster-caller.ts';
import { describeMetrics, describeTable } from '../metrics/describe-metrics.ts';
import { cassandraAt } from '../support/cassandra-at.ts';
import { type ClusterStores, startClusterStores } from '../support/cluster-stores.ts';
import { testDataDir } from '../support/data-dir.ts';
import { sendTo, untilLed } from '../support/feed-broker.ts';
import { until } from '../support/gateway.ts';
import type { NodeProcess } from '../support/node-process.ts';
import { describeWith } from '../support/with-services.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import { bookChange, listing, marketOf, snapshot, trade } from './market-records.ts';

const LATE_MS = 180_000;

describeWith(['redis', 'kafka', 'cassandra'], 'the workers of markets', () => {
  let folder: Awaited<ReturnType<typeof testDataDir>>;
  let stores: ClusterStores;
  let kafka: Kafka;
  let redis: RedisClient;
  let store: MarketStore;
  let ledger: Ledger;
  const ending: (() => Promise<unknown> | unknown)[] = [];
  beforeAll(async () => {
    folder = await testDataDir();
    stores = await startClusterStores(folder.path, { migrated: true });
    const configFile = await configured('');
    const { storage } = await loadConfig({ FAREGATE_CONFIG: configFile, FAREGATE_DATA: folder.path });
    if (storage.mode !== 'cluster') throw new Error('no cluster');
    await migrateStores(storage, systemClock);
    kafka = connectKafka({ brokers: [stores.kafka.address], clientId: 'test', tls: false, sasl: null });
    await untilLed(kafka);
    const address = { urls: [`redis://${stores.redis.address}`], cluster: false };
    redis = await openRedis(address);
    const cassandra = connectCassandra(cassandraAt(stores.cassandra));
    store = createCassandraMarketStore(cassandra);
    const log = { info() {}, warn() {}, error() {} };
    const cluster = await openClusterLedger({
      ...{ address, shards: SHARDS, clock: systemClock, log, allowUnsafe: true },
    });
    ledger = cluster.ledger;
    ending.push(
      () => redis.disconnect(),
      () => cassandra.shutdown(),
      () => cluster.close(),
    );
  });
  afterAll(async () => {
    for (const end of ending.reverse()) await end();
    await stores.stop();
    await folder[Symbol.asyncDispose]();
  });

  async function configured(more: string): Promise<string> {
    const file = join(folder.path, `faregate${more === '' ? '' : '-off'}.yaml`);
    await writeFile(file, stores.yaml + more);
    return file;
  }

  async function start(roles: readonly Role[], more = ''): Promise<NodeProcess> {
    const configFile = await configured(more);
    const worker = await startWorkerProcess({ configFile, folder: folder.path, roles });
    ending.push(() => worker.stop());
    return worker;
  }

  const send = (topic: string, records: readonly { market: string }[]): Promise<void> =>
    sendTo(
      kafka,
      topic,
      records.map((record) => ({ key: record.market, value: JSON.stringify(record) })),
    );

  const startTwo = () => Promise.all([start(['market']), start(['market'])]);

  async function marketGroups(): Promise<string[]> {
    const admin = kafka.admin();
    await admin.connect();
    const { groups } = await admin.listGroups();
    await admin.disconnect();
    return groups.map(({ groupId }) => groupId).filter((id) => id.startsWith('faregate-market'));
  }

  async function credit(agentId: number): Promise<bigint> {
    const view = await ledger.readAgent(agentId);
    if (view === null || view === 'unavailable') return -1n;
    return view.lots.reduce((sum, lot) => sum + lot.freeNanoUsd, 0n);
  }

  test('do nothing where the configuration says that there are no markets', async () => {
    const worker = await start(['market'], '\nmarket: off\n');
    expect(await marketGroups()).toEqual([]);
    expect(await worker.metric('faregate_feed_records_total')).toBe(0);
    expect(await worker.stop()).toBe(0);
  });

  test('keep every trade and move its credit once, though one of them is killed among them', async () => {
    const TRADES = 600;
    await start(['settlement', 'projector']);
    const caller = new ClusterCaller(ledger, SHARDS);
    await caller.makeAgent(1, BigInt(TRADES) * 1_000_000_000n);
    await caller.makeAgent(2, 1_000_000_000n);
    const market = marketOf(systemClock.now(), 8);
    const killed = await start(['market']);
    await send(MARKETS_TOPIC, [listing(market)]);
    await send(BOOK_TOPIC, [snapshot(market, 5), bookChange(market, 6)]);
    const live = createRedisLiveMarkets(redis);
    const bookSeq = async () => {
      const book = await live.readBook(market);
      return book === null || book === 'unavailable' ? null : book.seq;
    };
    await until(async () => (await bookSeq()) === 6, LATE_MS);
    expect(await store.readListings()).toMatchObject([{ market }]);
    const trades = Array.from({ length: TRADES }, (_, i) => trade(market, i + 1));
    await send(TRADES_TOPIC, trades.slice(0, TRADES / 2));
    await until(async () => (await credit(2)) > 1_000_000_000n, LATE_MS);
    killed.signal('SIGKILL');
    const heir = await start(['market']);
    await send(TRADES_TOPIC, trades.slice(TRADES / 2));
    await until(
      async () => (await credit(1)) === 0n && (await credit(2)) === BigInt(TRADES + 1) * 1_000_000_000n,
      LATE_MS,
    );
    const counted = async () => {
      const rows = await store.readCandles(market, '1d', 0, systemClock.now());
      return rows.reduce((sum, row) => sum + row.trades, 0);
    };
    await until(async () => (await counted()) === TRADES, LATE_MS);
    await until(async () => (await heir.metric('faregate_credit_in_transit_usd')) === 0, LATE_MS);
    // The book is there again, from the last snapshot on.
    await send(BOOK_TOPIC, [bookChange(market, 7)]);
    await until(async () => (await bookSeq()) === 7, LATE_MS);
    expect(await heir.metric('faregate_books_stopped')).toBe(0);
    expect(await heir.metric('faregate_dead_letters_total')).toBe(0);
    await until(async () => (await heir.metric('faregate_feed_lag_ms')) === 0, LATE_MS);
    const metrics = await (await fetch(`${heir.internalUrl}/metrics`)).text();
    expect(metrics.match(/^faregate_feed_lag_ms\{topic="dex\.\w+\.v1",reader="\w+"\} \d+$/gm)).toHaveLength(
      4,
    );
    expect(await heir.metric('faregate_feed_records_total')).toBeGreaterThan(0);
    expect((await marketGroups()).sort()).toEqual(
      ['books', 'candles', 'listings', 'moves'].map((name) => `faregate-market-${name}`),
    );
    // No row of the table is missing, nor one too many.
    expect(await describeMetrics(heir.internalUrl)).toEqual(describeTable('market'));
    expect(await heir.stop()).toBe(0);
  });

  test('ask for the book of a market that is open and quiet, one of them for both', async () => {
    const [market, workers] = [`quiet-${marketOf(systemClock.now(), 8)}`, await startTwo()];
    const reader = kafka.consumer({ groupId: 'the exchange' });
    await reader.connect();
    ending.push(() => reader.disconnect());
    await reader.subscribe({ topics: [BOOK_REQUESTS_TOPIC], fromBeginning: true });
    const askedAtMs: number[] = [];
    await reader.run({
      async eachMessage({ message: { key, value } }) {
        if (String(key) === market) askedAtMs.push(Date.parse(JSON.parse(String(value)).at));
      },
    });
    await send(MARKETS_TOPIC, [listing(market)]);
    await until(() => askedAtMs.length >= 3, LATE_MS);
    const gapsMs = askedAtMs.slice(1).map((atMs, i) => atMs - (askedAtMs[i] ?? 0));
    expect(Math.min(...gapsMs)).toBeGreaterThan(BOOK_REQUEST_MS / 2);
    await send(BOOK_TOPIC, [snapshot(market, 1)]);
    const live = createRedisLiveMarkets(redis);
    await until(async () => (await live.readBook(market)) !== null, LATE_MS);
    for (const worker of workers) expect(await worker.stop()).toBe(0);
  });
});
