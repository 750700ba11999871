import { setTimeout as sleep } from 'node:timers/promises';
import { changeKey } from '#core/accounts/change-key.ts';
import { DAY_MS, MINUTE_MS, SECOND_MS } from '#core/clock.ts';
import { type Draw, pick } from '../ledger/history/random.ts';
import { until } from '../support/gateway.ts';
import { readUsageSums } from '../support/read-cassandra-history.ts';
import type { CallLoad } from './call-load.ts';
import type { FaultCluster } from './fault-cluster.ts';
import { sides } from './redis-pair.ts';

/** One thing that goes wrong under load. Answers, after a while of it, what ends it. */
export type Fault = (scene: Scene) => Promise<() => Promise<void>>;

export interface Scene {
  cluster: FaultCluster;
  load: CallLoad;
  draw: Draw;
  /** How long Redis is away with streams running. */
  redisAwayMs: number;
}

const A_WHILE_MS = 1_000;
/** Longer than a publisher's lease, a gate and a command's time, and shorter than a consumer's session. */
const PAUSE_MS = 3_000;
/** Longer than a connection is believed that answers nothing, and than a release of a start waits at first. */
const LATE_MS = 8_000;
const NEWER_WITHIN_MS = 30_000;
const STREAMS = 8;
const STREAM_MS = 3_000;

export const faults: Record<string, Fault> = {
  'kill -9 of an API process': async ({ cluster, draw }) => {
    const api = draw(cluster.apis.length);
    await cluster.killApi(api);
    await sleep(A_WHILE_MS);
    return async () => cluster.apis[api]?.start();
  },
  'SIGSTOP of an API process': async ({ cluster, draw }) => {
    const api = pick(draw, cluster.apis);
    api.signal('SIGSTOP');
    await sleep(PAUSE_MS);
    return async () => api.signal('SIGCONT');
  },
  'SIGTERM of an API process with 8 streams of an agent': async ({ cluster, load, draw }) => {
    const api = draw(cluster.apis.length);
    const streams = load.startLong(STREAMS, api, STREAM_MS);
    await streams.begun;
    const code = await cluster.apis[api]?.stop('SIGTERM');
    if (code !== 0) throw new Error(`The drained process ended with ${code}`);
    const endings = await streams.ended;
    if (endings.some((ending) => ending !== 'shown')) throw new Error(`The streams ended as ${endings}`);
    return async () => cluster.apis[api]?.start();
  },
  'kill -9 of the worker that leads': async ({ cluster }) => {
    const worker = await cluster.leader();
    await cluster.workers[worker]?.stop('SIGKILL');
    await sleep(A_WHILE_MS);
    return () => cluster.startWorker(worker);
  },
  'SIGSTOP of the worker that leads, which wakes beside its successor': async ({ cluster }) => {
    const worker = cluster.workers[await cluster.leader()];
    worker?.signal('SIGSTOP');
    await sleep(PAUSE_MS);
    return async () => worker?.signal('SIGCONT');
  },
  'kill -9 of all projectors between their rows and their checkpoint': async ({ cluster }) => {
    await Promise.all(cluster.workers.map((worker) => worker.stop('SIGKILL')));
    if (!(await hasRowsPastCheckpoint(cluster))) throw new Error('No shard had rows past its checkpoint');
    return async () => {
      await Promise.all(sides.map((worker) => cluster.startWorker(worker)));
    };
  },
  'kill -9 of Redis': async ({ cluster }) => {
    await cluster.redis.kill();
    await sleep(A_WHILE_MS);
    return () => cluster.redis.restart();
  },
  'SIGSTOP of Redis': async ({ cluster }) => {
    const { main } = cluster.redis;
    main.signal('SIGSTOP');
    await sleep(PAUSE_MS);
    return async () => main.signal('SIGCONT');
  },
  'Redis away for longer with streams running': async ({ cluster, load, redisAwayMs }) => {
    // Some end while it is away, some after.
    const lastMs = (api: number) => (api === 0 ? redisAwayMs + STREAM_MS : redisAwayMs / 2);
    const streams = cluster.apis.map((_, api) => load.startLong(STREAMS, api, lastMs(api)));
    await Promise.all(streams.map(({ begun }) => begun));
    await cluster.redis.kill();
    await sleep(redisAwayMs);
    return async () => {
      await cluster.redis.restart();
      const endings = (await Promise.all(streams.map(({ ended }) => ended))).flat();
      if (endings.some((ending) => ending !== 'shown')) throw new Error(`The streams ended as ${endings}`);
    };
  },
  'what processes have sent to Redis arrives after they gave it up': async ({ cluster }) => {
    const arrive = cluster.redis.stall(0);
    await sleep(LATE_MS);
    return async () => arrive();
  },
  'a change of a key arrives after a newer one': async ({ cluster }) => {
    const { agentId, keys } = await cluster.newAgent(1n);
    const change = { agentId, keyId: keys[0]?.keyId ?? 0, label: null, actingKeyId: null };
    const { ledger } = cluster;
    let arrive = () => {};
    const first = await changeKey(
      {
        // The change rests on what was read before its connection got stuck.
        async readAgent(agent) {
          const read = await ledger.readAgent(agent);
          arrive = cluster.redis.stall(1);
          return read;
        },
        execute: (command) => ledger.execute(command),
      },
      { ...change, limit: limitOf(5n) },
    );
    if (first.ok) throw new Error('The first change was answered');
    await until(async () => (await changeKey(ledger, { ...change, limit: limitOf(1n) })).ok, NEWER_WITHIN_MS);
    return async () => {
      arrive();
      await sleep(A_WHILE_MS);
      const limit = await limitOfKey(cluster, change);
      if (limit !== limitOf(1n).limitNanoUsd) throw new Error(`The key has a limit of ${limit}`);
    };
  },
  FLUSHALL: async ({ cluster }) => {
    await cluster.redis.ask('main', (client) => client.flushall());
    return async () => undefined;
  },
  'Redis out of memory': async ({ cluster }) => {
    const allow = (memory: string) =>
      cluster.redis.ask('main', (client) => client.config('SET', 'maxmemory', memory));
    await allow('1mb');
    await sleep(A_WHILE_MS);
    return async () => void (await allow('0'));
  },
  'a replica promoted behind, the old primary dead': async ({ cluster }) => {
    const { redis } = cluster;
    await redis.follow('second');
    redis.cutOff();
    await sleep(A_WHILE_MS);
    await redis.kill();
    await redis.promote('second');
    for (const side of sides) redis.send(side, 'second');
    return async () => {
      await redis.restart();
      await failBack(cluster);
    };
  },
  'a replica promoted behind, processes on both sides, and back without a restart': async ({ cluster }) => {
    const { redis } = cluster;
    await redis.follow('second');
    redis.cutOff();
    await sleep(A_WHILE_MS);
    await redis.promote('second');
    redis.send(1, 'second');
    await sleep(PAUSE_MS);
    redis.send(0, 'second');
    await sleep(A_WHILE_MS);
    return () => failBack(cluster);
  },
  'kill -9 of Kafka': async ({ cluster }) => {
    await cluster.kafka.stop('SIGKILL');
    await sleep(A_WHILE_MS);
    return () => cluster.restartKafka();
  },
  'SIGSTOP of Kafka': async ({ cluster }) => {
    cluster.kafka.signal('SIGSTOP');
    await sleep(PAUSE_MS);
    return async () => cluster.kafka.signal('SIGCONT');
  },
  'a slow Kafka': async ({ cluster, draw }) => {
    const endsAtMs = performance.now() + PAUSE_MS;
    while (performance.now() < endsAtMs) {
      cluster.kafka.signal('SIGSTOP');
      await sleep(100 + draw(500));
      cluster.kafka.signal('SIGCONT');
      await sleep(50 + draw(100));
    }
    return async () => undefined;
  },
  'kill -9 of Cassandra': async ({ cluster }) => {
    await cluster.cassandra.stop('SIGKILL');
    await sleep(A_WHILE_MS);
    return () => cluster.restartCassandra();
  },
  'SIGSTOP of Cassandra': async ({ cluster }) => {
    cluster.cassandra.signal('SIGSTOP');
    await sleep(PAUSE_MS);
    return async () => cluster.cassandra.signal('SIGCONT');
  },
  'the clock of an API process 10 minutes behind': async ({ cluster, draw }) => {
    const { clock } = pick(draw, cluster.apis);
    clock.aheadBy((-10 * MINUTE_MS) / SECOND_MS);
    await sleep(A_WHILE_MS);
    return async () => clock.aheadBy(0);
  },
  // Ids never step back, so a process that has just started stays ahead until it is started again.
  'the clock of an API process 10 minutes ahead, until it is started again': async ({ cluster, draw }) => {
    const api = pick(draw, cluster.apis);
    api.clock.aheadBy((10 * MINUTE_MS) / SECOND_MS);
    await sleep(A_WHILE_MS);
    return async () => {
      api.clock.aheadBy(0);
      await api.stop('SIGTERM');
      await api.start();
    };
  },
  'the clock of Redis a day ahead': async ({ cluster }) => {
    cluster.redisClock.aheadBy(DAY_MS / SECOND_MS);
    await sleep(A_WHILE_MS);
    return async () => cluster.redisClock.aheadBy(0);
  },
};

const limitOf = (usd: bigint) => ({ limitNanoUsd: usd * 1_000_000_000n, reset: 'daily' }) as const;

async function limitOfKey(
  { ledger }: FaultCluster,
  { agentId, keyId }: { agentId: number; keyId: number },
): Promise<bigint | null | undefined> {
  const agent = await ledger.readAgent(agentId);
  if (agent === null || agent === 'unavailable') throw new Error(`agent ${agentId} cannot be read`);
  return agent.keys.find((key) => key.keyId === keyId)?.limit?.limitNanoUsd;
}

/** The first Redis, which may have been decided on meanwhile, takes the other one's data and follows it in office. */
async function failBack({ redis }: FaultCluster): Promise<void> {
  await redis.follow('main');
  await redis.promote('main');
  for (const side of sides) redis.send(side, 'main');
}

/** Nobody writes any more: then rows that are newer than what a successor begins from are there to be written twice. */
async function hasRowsPastCheckpoint({ cassandraClient }: FaultCluster): Promise<boolean> {
  const ofRows = (await readUsageSums(cassandraClient)).reduce((sum, { seq }) => sum + seq, 0);
  const { rows: checkpoints } = await cassandraClient.execute('SELECT seq FROM shard_ckpt');
  return ofRows > checkpoints.reduce((sum, row) => sum + Number(row.get('seq')), 0);
}
