import type { Redis } from 'ioredis';
import type { Clock } from '#core/clock.ts';
import { DAY_MS, systemClock } from '#core/clock.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { openKafkaLedgerLog } from '#core/ledger/cluster/kafka-ledger-log.ts';
import { ensureLedgerTopic } from '#core/ledger/cluster/kafka-ledger-topic.ts';
import type { LedgerLog } from '#core/ledger/cluster/ledger-log.ts';
import { type ClusterLedger, openClusterLedger } from '#core/ledger/cluster/open-cluster-ledger.ts';
import type { RedisLedger } from '#core/ledger/cluster/redis-ledger.ts';
import { type Publisher, startPublisher } from '#core/ledger/cluster/redis-publisher.ts';
import { createRedisScripts } from '#core/ledger/cluster/redis-scripts.ts';
import type { Log } from '#core/log.ts';
import type { Service } from '../services/service.ts';
import { startKafka } from '../services/start-kafka.ts';
import { startRedis } from '../services/start-redis.ts';
import { connectTo } from './connect-to.ts';
import { testDataDir } from './data-dir.ts';
import { createMemoryAgentStates } from './memory-agent-states.ts';

/** Real Redis and Kafka with empty shards, and clients of each for as many processes as a test wants. */
export interface TestCluster extends AsyncDisposable {
  redis: Service;
  kafka: Service;
  shards: number;
  log: LedgerLog;
  client(): Promise<Redis>;
  /** What one API process has. */
  ledger(): Promise<RedisLedger>;
  /** What one settlement worker has. */
  publisher(): Promise<Publisher>;
  restartRedis(): Promise<void>;
  /** Each answers what brings it back, with the same data under the same address. */
  killRedis(): Promise<() => Promise<void>>;
  killKafka(): Promise<() => Promise<void>>;
  pauseKafka(): () => Promise<void>;
  logged: string[];
}

export async function startTestCluster({ shards = 4 } = {}): Promise<TestCluster> {
  const folder = await testDataDir();
  const [redis, kafka] = await Promise.all([
    startRedis({ dir: `${folder.path}/redis` }),
    startKafka({ dir: `${folder.path}/kafka` }),
  ]);
  const client = connectKafka({
    brokers: [kafka.address],
    clientId: 'faregate-test',
    tls: false,
    sasl: null,
  });
  await ensureLedgerTopic(client, systemClock, {
    shards,
    replicationFactor: 1,
    minInsyncReplicas: 1,
    retentionMs: DAY_MS,
  });
  const clock: Clock = systemClock;
  const logged: string[] = [];
  const logger: Log = {
    info: () => {},
    warn: () => {},
    error: (event, fields) => void logged.push(`${event}: ${String(fields?.error)}`),
  };
  const log = await openKafkaLedgerLog(client, { shards, clock, logger });
  const clients: Redis[] = [];
  const ledgers: ClusterLedger[] = [];
  const publishers: Publisher[] = [];
  let service = redis;
  let broker = kafka;

  async function connect(): Promise<Redis> {
    const made = await connectTo(redis);
    clients.push(made);
    return made;
  }

  return {
    redis,
    kafka,
    shards,
    log,
    logged,
    client: connect,
    async ledger() {
      const address = { urls: [`redis://${redis.address}`], cluster: false };
      const opened = await openClusterLedger({ address, shards, clock, log: logger, allowUnsafe: false });
      ledgers.push(opened);
      return opened.ledger;
    },
    async publisher() {
      const made = await connect();
      const publisher = await startPublisher({
        redis: made,
        scripts: createRedisScripts(made),
        log,
        states: createMemoryAgentStates(),
        shards,
        clock,
        logger,
      });
      publishers.push(publisher);
      return publisher;
    },
    async restartRedis() {
      await service.stop('SIGKILL');
      service = await service.restart();
    },
    async killRedis() {
      await service.stop('SIGKILL');
      return async () => {
        service = await service.restart();
      };
    },
    async killKafka() {
      await broker.stop('SIGKILL');
      return async () => {
        broker = await broker.restart();
      };
    },
    pauseKafka() {
      broker.signal('SIGSTOP');
      return async () => broker.signal('SIGCONT');
    },
    async [Symbol.asyncDispose]() {
      for (const publisher of publishers) await publisher.stop();
      for (const opened of ledgers) await opened.close();
      for (const made of clients) made.disconnect();
      await log.close();
      await Promise.all([service.stop('SIGKILL'), broker.stop('SIGKILL')]);
      await folder[Symbol.asyncDispose]();
    },
  };
}
