import type { Redis } from 'ioredis';
import type { Clock } from '#core/clock.ts';
import { DAY_MS, systemClock } from '#core/clock.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { Acknowledgements } from '#core/ledger/cluster/acknowledgements.ts';
import { ensureLedgerTopic, openKafkaLedgerLog } from '#core/ledger/cluster/kafka-ledger-log.ts';
import type { LedgerLog } from '#core/ledger/cluster/ledger-log.ts';
import { ShardKeys } from '#core/ledger/cluster/redis-keys.ts';
import { createRedisLedger } from '#core/ledger/cluster/redis-ledger.ts';
import { type Publisher, startPublisher } from '#core/ledger/cluster/redis-publisher.ts';
import { createRedisScripts } from '#core/ledger/cluster/redis-scripts.ts';
import type { Ledger } from '#core/ledger/ledger.ts';
import type { Log } from '#core/log.ts';
import type { Service } from '../services/service.ts';
import { startKafka } from '../services/start-kafka.ts';
import { startRedis } from '../services/start-redis.ts';
import { connectTo } from './connect-to.ts';
import { testDataDir } from './data-dir.ts';

/** Real Redis and Kafka with empty shards, and clients of each for as many processes as a test wants. */
export interface TestCluster extends AsyncDisposable {
  redis: Service;
  kafka: Service;
  shards: number;
  log: LedgerLog;
  client(): Promise<Redis>;
  /** What one API process has. */
  ledger(): Promise<Ledger>;
  /** What one settlement worker has. */
  publisher(): Promise<Publisher>;
  restartRedis(): Promise<void>;
  logged: string[];
}

export async function startTestCluster({ shards = 4 } = {}): Promise<TestCluster> {
  const folder = await testDataDir();
  const [redis, kafka] = await Promise.all([
    startRedis({ dir: `${folder.path}/redis` }),
    startKafka({ dir: `${folder.path}/kafka` }),
  ]);
  const client = connectKafka([kafka.address], 'faregate-test');
  await ensureLedgerTopic(client, {
    shards,
    replicationFactor: 1,
    minInsyncReplicas: 1,
    retentionMs: DAY_MS,
  });
  const log = await openKafkaLedgerLog(client);
  const clock: Clock = systemClock;
  const logged: string[] = [];
  const logger: Log = {
    info: () => {},
    warn: () => {},
    error: (event, fields) => void logged.push(`${event}: ${String(fields?.error)}`),
  };
  const clients: Redis[] = [];
  const publishers: Publisher[] = [];
  let service = redis;

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
      const scripts = createRedisScripts(await connect());
      const keys = Array.from({ length: shards }, (_, shard) => new ShardKeys(shard));
      const acknowledgements = new Acknowledgements({
        clock,
        async ask(shard) {
          const of = keys[shard];
          if (of === undefined) return null;
          const [word, epoch, acked] = await scripts.run('position', [of.meta, of.outbox], []);
          return word === 'OK' ? `${epoch}-${acked}` : null;
        },
      });
      const subscriber = await connect();
      const shardOf = new Map(keys.map((of, shard) => [`${of.meta}:acked`, shard]));
      subscriber.on('message', (channel: string, place: string) => {
        const shard = shardOf.get(channel);
        if (shard !== undefined) acknowledgements.note(shard, place);
      });
      await subscriber.subscribe(...shardOf.keys());
      return createRedisLedger({
        scripts,
        shards,
        clock,
        log: logger,
        acknowledged: (shard, place) => acknowledgements.wait(shard, place),
      });
    },
    async publisher() {
      const made = await connect();
      const publisher = await startPublisher({
        redis: made,
        scripts: createRedisScripts(made),
        log,
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
    async [Symbol.asyncDispose]() {
      for (const publisher of publishers) await publisher.stop();
      for (const made of clients) made.disconnect();
      await log.close();
      await Promise.all([service.stop('SIGKILL'), kafka.stop('SIGKILL')]);
      await folder[Symbol.asyncDispose]();
    },
  };
}
