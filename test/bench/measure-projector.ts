import type { Kafka } from 'kafkajs';
import { createCassandraHistoryStore } from '#core/calls/cassandra-history-store.ts';
import { DAY_MS, startOfDayMs, systemClock } from '#core/clock.ts';
import { connectCassandra } from '#core/drivers/cassandra.ts';
import { migrateCassandra } from '#core/drivers/cassandra-migrations.ts';
import { connectKafka } from '#core/drivers/kafka.ts';
import { createCassandraAgentStates } from '#core/ledger/cluster/cassandra-agent-states.ts';
import { inAppends } from '#core/ledger/cluster/in-appends.ts';
import { openKafkaLedgerLog } from '#core/ledger/cluster/kafka-ledger-log.ts';
import { ensureLedgerTopic } from '#core/ledger/cluster/kafka-ledger-topic.ts';
import { joinKafkaShardGroup } from '#core/ledger/cluster/kafka-shard-group.ts';
import type { LedgerLog } from '#core/ledger/cluster/ledger-log.ts';
import { eventRecordText, markRecordText } from '#core/ledger/cluster/log-record.ts';
import type { Command } from '#core/ledger/command.ts';
import { createLog } from '#core/log.ts';
import { startProjector } from '../../workers/projector/projector.ts';
import { callIdAt } from '../ledger/case.ts';
import { callEnd, callFacts, keyLimits, MINUTES_13, savedPrice } from '../ledger/commands.ts';
import { startCassandra } from '../services/start-cassandra.ts';
import { startKafka } from '../services/start-kafka.ts';
import { cassandraAt } from '../support/cassandra-node.ts';
import { testDataDir } from '../support/data-dir.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { until } from '../support/gateway.ts';
import { createMemoryLedger } from '../support/memory-ledger.ts';

export interface ProjectorFigures {
  /** A log that is there already, read as fast as it goes. */
  backlogCallsPerSecond: number;
  /** CPU of the projector's process for one of those calls. */
  cpuMsPerCall: number;
  /** While calls come at the rate that is wanted: how far it is behind, at the median and at the worst moment. */
  liveLagMs: { p50: number; max: number };
}

interface Load {
  shards: number;
  agents: number;
  calls: number;
  liveCallsPerSecond: number;
  liveSeconds: number;
}

/** The projector in this process, with real Kafka and Cassandra on the same machine. */
export async function measureProjector(load: Load): Promise<ProjectorFigures> {
  await using folder = await testDataDir();
  const [broker, node] = await Promise.all([
    startKafka({ dir: `${folder.path}/kafka` }),
    startCassandra({ dir: `${folder.path}/cassandra` }),
  ]);
  const kafka: Kafka = connectKafka({ brokers: [broker.address], clientId: 'bench', tls: false, sasl: null });
  await ensureLedgerTopic(kafka, systemClock, {
    ...{ shards: load.shards, replicationFactor: 1, minInsyncReplicas: 1, retentionMs: DAY_MS },
  });
  await migrateCassandra({ ...cassandraAt(node), replicas: { datacenter1: 1 }, clock: systemClock });
  const client = connectCassandra(cassandraAt(node));
  const logger = createLog();
  const log = await openKafkaLedgerLog(kafka, { shards: load.shards, clock: systemClock, logger });
  const shards = Array.from({ length: load.shards }, (_, shard) => new BenchShard(shard, load, log));
  const each = <T>(task: (shard: BenchShard) => Promise<T>) => Promise.all(shards.map(task));
  await each((shard) => shard.open());
  await each((shard) => shard.call(Math.ceil(load.calls / load.shards)));

  const startedAtMs = performance.now();
  const cpu = process.cpuUsage();
  const projector = await startProjector({
    join: (openReader) =>
      joinKafkaShardGroup({ kafka, groupId: 'bench', openReader, clock: systemClock, log: logger }),
    states: createCassandraAgentStates(client),
    history: createCassandraHistoryStore(client),
    clock: systemClock,
    log: logger,
  });
  await until(() => projector.stats().calls >= load.calls, 600_000);
  const seconds = (performance.now() - startedAtMs) / 1_000;
  const { user, system } = process.cpuUsage(cpu);

  const lags: number[] = [];
  const liveStartMs = performance.now();
  for (let done = 0; done < load.liveCallsPerSecond * load.liveSeconds; ) {
    const due = ((performance.now() - liveStartMs) / 1_000) * load.liveCallsPerSecond - done;
    // One call in each shard, in turn.
    const some = shards.filter((_, i) => (i + done) % load.shards < due);
    await Promise.all(some.map((shard) => shard.call(1)));
    done += some.length;
    lags.push(projector.stats().lagMs);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  const wanted = shards.reduce((sum, { calls }) => sum + calls, 0);
  await until(() => projector.stats().calls >= wanted, 60_000);
  lags.sort((a, b) => a - b);
  await projector.stop();
  await log.close();
  await client.shutdown();
  await Promise.all([broker.stop('SIGKILL'), node.stop('SIGKILL')]);
  return {
    backlogCallsPerSecond: load.calls / seconds,
    cpuMsPerCall: (user + system) / 1_000 / load.calls,
    liveLagMs: { p50: lags[Math.floor(lags.length / 2)] ?? 0, max: lags.at(-1) ?? 0 },
  };
}

const MODELS = 3;

/** Agents of one shard that call in turn, and their log. */
class BenchShard {
  calls = 0;
  readonly #shard: number;
  readonly #log: LedgerLog;
  readonly #agentIds: number[];
  readonly #clock = createFakeClock(Date.now());
  readonly #ledger = createMemoryLedger({ clock: this.#clock });
  #logged = 0;

  constructor(shard: number, { agents, shards }: Load, log: LedgerLog) {
    this.#shard = shard;
    this.#log = log;
    this.#agentIds = Array.from({ length: Math.ceil(agents / shards) }, (_, i) => (i + 1) * shards + shard);
  }

  async open(): Promise<void> {
    const expiresAtMs = startOfDayMs(this.#clock.now()) + 8 * DAY_MS;
    const base = { source: 'bench', sourceVersion: 1, name: 'Ada', token: null } as const;
    for (const agentId of this.#agentIds) {
      await this.#run({ type: 'set_agent', agentId, mode: 'create', status: 'active', ...base });
      await this.#run({
        ...{
          type: 'put_key',
          agentId,
          keyId: agentId,
          label: 'k',
          prefix: 'fg_prefix000',
          hash: `hash ${agentId}`,
        },
        ...{ limit: null, actingKeyId: null, madeOverMcp: false, limits: keyLimits },
      });
      await this.#run({ type: 'grant', agentId, grantId: `g${agentId}`, expiresAtMs, nanoUsd: 10n ** 15n });
    }
    await this.#log.append(this.#shard, [markRecordText(1, 'bench')]);
  }

  async call(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      const n = ++this.calls;
      const agentId = this.#agentIds[n % this.#agentIds.length] ?? 0;
      this.#clock.advance(1);
      const callId = callIdAt(this.#clock.now(), n % 4096);
      const call = { ...callFacts, model: `acme/${n % MODELS}` };
      await this.#run({
        ...{ type: 'reserve', agentId, keyId: agentId, callId, nonce: 'bench', kind: 'text', nanoUsd: 100n },
        ...{ timeLimitMs: MINUTES_13, callerNowMs: this.#clock.now(), call, price: savedPrice },
        limits: { callsPerMinute: 600_000, burst: 100_000, runningCalls: 8, dailyShareNanoUsd: null },
      });
      await this.#run({ type: 'settle', agentId, callId, costNanoUsd: 7n, end: callEnd, cause: 'end' });
    }
    const events = this.#ledger.journal.slice(this.#logged);
    const texts = events.map((event, i) => eventRecordText(1, this.#logged + i + 1, JSON.stringify(event)));
    this.#logged += events.length;
    for (const some of inAppends(texts)) await this.#log.append(this.#shard, some);
  }

  async #run(command: Command): Promise<void> {
    const { result } = await this.#ledger.execute(command);
    if (!result.ok) throw new Error(`${command.type}: ${result.reason}`);
  }
}
