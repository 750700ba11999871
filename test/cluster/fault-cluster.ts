import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'cassandra-driver';
import { createKey } from '#core/accounts/create-key.ts';
import { executeDurably } from '#core/accounts/execute-durably.ts';
import { createCassandraCallHistory } from '#core/calls/cassandra-call-history.ts';
import { DAY_MS, startOfDayMs, systemClock } from '#core/clock.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { createIdSource } from '#core/ids.ts';
import { openKafkaLedgerLog } from '#core/ledger/cluster/kafka-ledger-log.ts';
import { openClusterLedger } from '#core/ledger/cluster/open-cluster-ledger.ts';
import type { RedisLedger } from '#core/ledger/cluster/redis-ledger.ts';
import { SHARDS } from '#core/ledger/cluster/shards.ts';
import type { Command } from '#core/ledger/command.ts';
import { defaultLimits } from '#core/limits.ts';
import type { Log } from '#core/log.ts';
import { migrateStores } from '../../api/admin/migrate-stores.ts';
import { loadConfig } from '../../api/config/config.ts';
import type { ClusterStorage } from '../../api/config/storage-settings.ts';
import { toCassandraOptions, toKafkaOptions, toRedisAddress } from '../../api/config/store-options.ts';
import type { Service } from '../services/service.ts';
import { startClusterStores } from '../support/cluster-stores.ts';
import { testDataDir } from '../support/data-dir.ts';
import { until } from '../support/gateway.ts';
import { createMovingClock, type MovingClock } from '../support/moving-clock.ts';
import type { NodeProcess } from '../support/node-process.ts';
import { startTestProvider, type TestProvider } from '../support/provider.ts';
import { startWorkerProcess } from '../support/worker-process.ts';
import { ApiProcess } from './api-process.ts';
import type { LoadAgent } from './call-load.ts';
import { LogBook } from './log-book.ts';
import { RedisPair, type Side, sides } from './redis-pair.ts';

/** On which side each process stands; the workers and the API processes alike. */
const API_SIDES: readonly Side[] = [0, 1, 1];
const START_MS = 60_000;
const silent: Log = { info: () => undefined, warn: () => undefined, error: () => undefined };

export interface FaultClusterOptions {
  streamMs: number;
  /** The file that an API process starts with; default: the product's own. */
  apiEntry?: string;
}

/** Real stores, three API processes, two workers of every role, and a provider that does what it is told. */
export class FaultCluster implements AsyncDisposable {
  readonly #stops: (() => unknown)[] = [];
  readonly #workerFiles: string[] = [];
  #folder = '';
  #storage: ClusterStorage | null = null;
  #agents = 0;
  #kafka: Service | null = null;
  #cassandra: Service | null = null;
  #parts: Parts | null = null;
  /** Of processes that were killed with calls running: their holds wait for the orphan rule. */
  readonly #killed: { api: number; atMs: number }[] = [];
  readonly workers: NodeProcess[] = [];
  /** One for each worker, whichever process has its place. */
  readonly workerClocks: MovingClock[] = [];
  #operatorClock: MovingClock | null = null;
  readonly apis: ApiProcess[] = [];

  static async start(options: FaultClusterOptions): Promise<FaultCluster> {
    const cluster = new FaultCluster();
    try {
      await cluster.#start(options);
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #start({ streamMs, apiEntry: entry }: FaultClusterOptions): Promise<void> {
    const dir = await testDataDir();
    this.#stops.push(() => dir[Symbol.asyncDispose]());
    this.#folder = dir.path;
    const redisClock = createMovingClock(join(dir.path, 'redis-clock'));
    const kafkaClock = createMovingClock(join(dir.path, 'kafka-clock'));
    const stores = await startClusterStores(dir.path, {
      redisEnv: redisClock.env,
      kafkaEnv: kafkaClock.env,
      migrated: true,
    });
    this.#kafka = stores.kafka;
    this.#cassandra = stores.cassandra;
    this.#stops.push(() => this.kafka.stop('SIGKILL'));
    this.#stops.push(() => this.cassandra.stop('SIGKILL'));
    this.#stops.push(() => stores.redis.stop('SIGKILL'));
    const redis = await RedisPair.open(stores.redis, join(dir.path, 'redis-2'));
    this.#stops.push(() => redis.close());
    const provider = await startTestProvider();
    this.#stops.push(() => provider.close());

    const files = sides.map((side) => join(dir.path, `side-${side}.yaml`));
    for (const side of sides) {
      await writeFile(
        files[side] ?? '',
        `${stores.yamlWith(redis.addressFor(side))}
limits: { callsPerMinute: 60000, burst: 10000, runningCalls: 1000, callMs: ${CALL_MS}, streamMs: ${streamMs} }
capacity: { dailySharePerAgentUsd: null, eventLoopLagMs: 60000 }
providers: [{ id: sim, kind: simulator, baseUrl: "${provider.baseUrl}" }]
`,
      );
    }
    const configFile = files[1] ?? '';
    const { storage } = await loadConfig({ FAREGATE_CONFIG: configFile });
    if (storage.mode !== 'cluster') throw new Error('no cluster');
    this.#storage = storage;
    await migrateStores(storage, systemClock);
    this.#workerFiles.push(...files);
    this.#stops.push(() => Promise.all(this.workers.map((worker) => worker.stop('SIGKILL'))));
    this.#operatorClock = createMovingClock(join(dir.path, 'operator-clock'));
    for (const worker of sides) {
      this.workerClocks.push(createMovingClock(join(dir.path, `worker-clock-${worker}`)));
      await this.startWorker(worker);
    }

    const opened = await openClusterLedger({
      address: toRedisAddress(storage.redis),
      shards: SHARDS,
      clock: systemClock,
      log: silent,
      allowUnsafe: true,
    });
    this.#stops.push(() => opened.close());
    const log = await openKafkaLedgerLog(connectKafka(toKafkaOptions(storage.kafka, 'faregate-test')), {
      shards: SHARDS,
      clock: systemClock,
      logger: silent,
    });
    this.#stops.push(() => log.close());
    const cassandra = connectCassandra(toCassandraOptions(storage.cassandra));
    this.#stops.push(() => cassandra.shutdown());
    this.#parts = {
      redis,
      redisClock,
      kafkaClock,
      provider,
      ledger: opened.ledger,
      history: cassandra,
      book: new LogBook(log, SHARDS),
    };
    await until(() => opened.ledger.stats().openShards === SHARDS, START_MS);

    for (const [i, side] of API_SIDES.entries()) {
      const file = files[side] ?? '';
      this.apis.push(await ApiProcess.open({ configFile: file, folder: dir.path, name: `api-${i}`, entry }));
    }
    this.#stops.push(() => Promise.all(this.apis.map((api) => api.stop('SIGKILL'))));
    await Promise.all(this.apis.map((api) => api.start()));
  }

  get kafka(): Service {
    return found(this.#kafka);
  }

  get cassandra(): Service {
    return found(this.#cassandra);
  }

  get redis(): RedisPair {
    return found(this.#parts).redis;
  }

  get redisClock(): MovingClock {
    return found(this.#parts).redisClock;
  }

  /** By which the log dates its records. */
  get kafkaClock(): MovingClock {
    return found(this.#parts).kafkaClock;
  }

  /** Of the machine on which the operator runs commands. */
  get operatorClock(): MovingClock {
    return found(this.#operatorClock);
  }

  /** Of the configuration that the processes of one side have. */
  get configFile(): string {
    return this.#workerFiles[1] ?? '';
  }

  get folder(): string {
    return this.#folder;
  }

  get provider(): TestProvider {
    return found(this.#parts).provider;
  }

  get ledger(): RedisLedger {
    return found(this.#parts).ledger;
  }

  get book(): LogBook {
    return found(this.#parts).book;
  }

  /** What the projectors write into. */
  get cassandraClient(): Client {
    return found(this.#parts).history;
  }

  get history() {
    return createCassandraCallHistory(this.cassandraClient, systemClock);
  }

  get baseUrls(): string[] {
    return this.apis.map(({ baseUrl }) => baseUrl);
  }

  /** With credit, and a key for each API process. */
  async newAgent(nanoUsd: bigint, { endsInDays = 2 } = {}): Promise<LoadAgent> {
    const { peppers } = found(this.#storage);
    const { ledger } = this;
    const agentId = 100 + this.#agents++;
    await this.told({
      type: 'set_agent',
      agentId,
      mode: 'create',
      source: 'test',
      sourceVersion: 1,
      status: 'active',
      name: `agent ${agentId}`,
      token: null,
    });
    // By default of tomorrow's end: a clock that is a day ahead must not take it.
    const expiresAtMs = startOfDayMs(Date.now()) + endsInDays * DAY_MS;
    await this.told({ type: 'grant', agentId, grantId: `test-${agentId}`, expiresAtMs, nanoUsd });
    const ids = createIdSource(systemClock);
    const keys = [];
    for (const api of this.apis.keys()) {
      const made = await createKey(
        { ledger, ids, pepper: peppers[0] },
        { agentId, label: `api ${api}`, limit: null, actingKeyId: null, limits: defaultLimits },
      );
      if (!made.ok) throw new Error(`key refused: ${made.reason}`);
      keys.push({ keyId: made.keyId, key: made.key });
    }
    return { agentId, keys };
  }

  async told(command: Command): Promise<void> {
    await until(async () => (await executeDurably(this.ledger, command)).ok, START_MS);
  }

  async startWorker(worker: number): Promise<void> {
    const configFile = this.#workerFiles[worker] ?? '';
    this.workers[worker] = await startWorkerProcess({
      configFile,
      folder: this.#folder,
      roles: ['settlement', 'projector'],
      env: this.workerClocks[worker]?.env ?? {},
    });
  }

  /** The worker that takes most shards to the log. */
  async leader(): Promise<number> {
    const led = await Promise.all(this.workers.map((worker) => worker.metric('faregate_shards_led')));
    return led.indexOf(Math.max(...led));
  }

  /** As when its node dies: nobody ends its calls. */
  async killApi(api: number): Promise<void> {
    await this.apis[api]?.stop('SIGKILL');
    this.#killed.push({ api, atMs: Date.now() });
  }

  /** Whether this call's process was killed after it had begun. */
  isOrphan(agent: LoadAgent, hold: { keyId: number; startedAtMs: number }): boolean {
    const api = agent.keys.findIndex(({ keyId }) => keyId === hold.keyId);
    return this.#killed.some((each) => each.api === api && hold.startedAtMs <= each.atMs);
  }

  /** Whether the process was killed so soon after this that a settle may have gone with it. */
  diedAfter(api: number, fromMs: number): boolean {
    return this.#killed.some(
      ({ api: of, atMs }) => of === api && atMs >= fromMs && atMs - fromMs < UNSAFE_MS,
    );
  }

  async restartKafka(): Promise<void> {
    this.#kafka = await this.kafka.restart();
  }

  async restartCassandra(): Promise<void> {
    this.#cassandra = await this.cassandra.restart();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = [];
    for (const stop of this.#stops.splice(0).toReversed()) {
      try {
        await stop();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  }
}

interface Parts {
  redis: RedisPair;
  redisClock: MovingClock;
  kafkaClock: MovingClock;
  provider: TestProvider;
  ledger: RedisLedger;
  history: Client;
  book: LogBook;
}

const CALL_MS = 10_000;
/** Longer than any fault here keeps a settle from the log. */
const UNSAFE_MS = 120_000;

function found<T>(part: T | null): T {
  if (part === null) throw new Error('the cluster has not started');
  return part;
}
